# Formulas of regressions: those of the command as they are, all others through R's own model.matrix().

# The column after the bar of a formula, and the columns of the response.
regression_roles <- function(formula) {
  right <- formula[[3]]
  grouped <- is.call(right) && identical(right[[1]], as.name("|"))
  if (grouped && !is.name(right[[3]])) {
    trustvb_stop("formula", "after the bar stands one column, as in y ~ x | group, not `", formula_text(right[[3]]),
                 "`; compute it first")
  }
  list(group = if (grouped) all.vars(right[[3]]), response = all.vars(formula[[2]]))
}

# The formula without its bar and group.
plain_formula <- function(formula) {
  right <- formula[[3]]
  bar <- as.name("|")
  if (is.call(right) && identical(right[[1]], bar)) right <- right[[2]]
  if (is.call(right) && identical(right[[1]], bar)) {
    trustvb_stop("formula", "the formula has several bars; one column of groups follows one bar, as in y ~ x | group")
  }
  formula[[3]] <- right
  formula
}

# R's own complaints about a formula or its data as conditions of this package.
by_r <- function(expr, class, remedy = NULL) {
  tryCatch(expr, error = function(error) {
    if (inherits(error, "trustvb_error")) stop(error)
    trustvb_stop(class, conditionMessage(error), if (!is.null(remedy)) paste0("; ", remedy))
  })
}

regression_terms <- function(formula, frame) {
  group <- regression_roles(formula)$group
  by_r(stats::terms(plain_formula(formula), data = frame[setdiff(names(frame), group)]), "formula")
}

# The columns that the right side uses, whatever it makes of them.
predictor_names <- function(formula, frame) {
  labels <- attr(regression_terms(formula, frame), "term.labels")
  intersect(names(frame), unique(unlist(lapply(labels, function(label) all.vars(str2lang(label))))))
}

is_number <- function(column) is.numeric(column) && !is.factor(column) && !inherits(column, c("Date", "POSIXt"))

# Whether R must make the design: factors, texts, logicals, and what only R can compute.
needs_design <- function(formula, frame) {
  numbers <- vapply(frame[predictor_names(formula, frame)], function(one) is_number(one) && !is.matrix(one), NA)
  !all(numbers) || native(formula_is_known(formula_text(formula)))$known == 0
}

regression_parts <- function(formula, data, noise, na.action) {
  frame <- two_sided_columns(formula, data, "tvb_reg", "y ~ x | group")
  frame <- keep_rows(frame, na.action)
  roles <- regression_roles(formula)
  for (name in intersect(roles$response, names(frame))) response_numbers(frame[[name]], name)
  noise <- if (is.numeric(noise)) paste0("known=", number_text(noise)) else noise
  parts <- list(model = "bmlr", formula = formula, frame = frame)
  if (needs_design(formula, frame)) {
    parts$design <- new_design(formula, frame)
    parts$columns <- design_columns(parts$design, formula, frame)
    text <- design_formula(parts$design, formula)
  } else {
    parts$columns <- regression_columns(formula, frame)
    text <- formula_text(formula)
  }
  parts$options <- list(formula = text, noise = noise)
  parts
}

response_numbers <- function(values, name) {
  as_numbers(values, name, "a response is a number; code it as one, or use tvb_lca(), which takes columns of any kind")
}

group_labels <- function(values, name) {
  if (anyNA(values)) {
    trustvb_stop("data", "the group `", name, "` is missing in row ", which(is.na(values))[1],
                 "; fill it in, or leave such rows out with `na.action = na.omit`")
  }
  if (is.numeric(values) && !is.factor(values)) as.double(values) else as_texts(values)
}

# Columns as they are, for a formula of the command.
regression_columns <- function(formula, frame) {
  roles <- regression_roles(formula)
  column <- function(values, name) {
    if (name %in% roles$group) return(group_labels(values, name))
    if (name %in% roles$response) return(response_numbers(values, name))
    # What `.` stands for may be taken out again by name, text and all.
    if ("." %in% all.vars(formula) && is_text(values)) return(as_texts(values))
    as_numbers(values, name, "it was a number when the model was fitted")
  }
  Map(column, as.list(frame), names(frame))
}

# What is needed to make the design again for other rows: terms, levels and contrasts, as lm() keeps them.
new_design <- function(formula, frame) {
  terms <- regression_terms(formula, frame)
  if (!is.null(attr(terms, "offset"))) {
    trustvb_stop("formula", "there is no offset() here; subtract it from the response, as in I(y - x) ~ z")
  }
  used <- by_r(stats::model.frame(terms, frame, na.action = stats::na.pass, drop.unused.levels = TRUE), "formula")
  for (name in names(used)) {
    values <- used[[name]]
    if (!is.matrix(values) && !is.numeric(values) && anyNA(values)) {
      trustvb_stop("data", "`", name, "` is missing in row ", which(is.na(values))[1],
                   "; fill it in, or leave such rows out with `na.action = na.omit`")
    }
  }
  terms <- attr(used, "terms")
  matrix <- by_r(stats::model.matrix(terms, used), "data", "leave out a predictor that has one value only")
  list(terms = terms, xlevels = stats::.getXlevels(terms, used), contrasts = attr(matrix, "contrasts"),
       response = formula_text(formula[[2]]), names = colnames(matrix))
}

# Response (where it is there), the design without its intercept, and groups, as columns of the library.
design_columns <- function(design, formula, frame) {
  roles <- regression_roles(formula)
  has_response <- all(roles$response %in% names(frame))
  terms <- if (has_response) design$terms else stats::delete.response(design$terms)
  # Those of the fit are used, and R would warn that others are not.
  frame[] <- lapply(frame, function(column) {
    attr(column, "contrasts") <- NULL
    column
  })
  remedy <- "leave out such rows, or fit with them"
  used <- by_r(stats::model.frame(terms, frame, na.action = stats::na.pass, xlev = design$xlevels), "data", remedy)
  matrix <- stats::model.matrix(terms, used, contrasts.arg = design$contrasts)
  kept <- setdiff(design$names, "(Intercept)")
  columns <- lapply(kept, function(name) as.double(matrix[, name]))
  names(columns) <- kept
  if (has_response) {
    response <- response_numbers(stats::model.response(used), design$response)
    columns <- c(stats::setNames(list(response), design$response), columns)
  }
  if (length(kept) == 0 && !has_response) columns$.rows <- as.double(seq_len(nrow(frame)))
  if (!is.null(roles$group) && roles$group %in% names(frame)) {
    columns[[roles$group]] <- group_labels(frame[[roles$group]], roles$group)
  }
  columns
}

# The library's formula for these columns.
design_formula <- function(design, formula) {
  quoted <- function(names) paste0("`", gsub("`", "'", names, fixed = TRUE), "`")
  kept <- setdiff(design$names, "(Intercept)")
  intercept <- if ("(Intercept)" %in% design$names) "1" else "0"
  group <- regression_roles(formula)$group
  paste0(quoted(design$response), " ~ ", paste(c(intercept, if (length(kept) > 0) quoted(kept)), collapse = " + "),
         if (!is.null(group)) paste0(" | ", quoted(group)))
}
