# Fitting: a formula, a data frame and a number of components.

tvb_mix <- function(formula, data, k = 2, bootstraps = 500, seed = 1, method = c("recommended", "vb"), start = NULL,
                    prior = "default", na.action = NULL, control = list(), threads = getOption("trustvb.threads"),
                    progress = interactive()) {
  frame <- one_sided_columns(formula, data, "tvb_mix", "~ eruptions + waiting")
  terms <- stats::terms(frame)
  frame <- keep_rows(frame, na.action)
  remedy <- "leave it out, or use tvb_lca(), which takes columns of any kind"
  columns <- Map(as_numbers, as.list(frame), names(frame), remedy)
  fit_model("gmm", match.call(), formula, terms, frame, columns, options = list(k = k), bootstraps, seed, method, start,
            prior, control, threads, progress)
}

tvb_reg <- function(formula, data, k = 2, noise = "estimate", bootstraps = 500, seed = 1,
                    method = c("recommended", "vb"), start = NULL, prior = "default", na.action = NULL,
                    control = list(), threads = getOption("trustvb.threads"), progress = interactive()) {
  frame <- two_sided_columns(formula, data, "tvb_reg", "y ~ x | group")
  frame <- keep_rows(frame, na.action)
  columns <- regression_columns(formula, frame)
  noise <- if (is.numeric(noise)) paste0("known=", number_text(noise)) else noise
  fit_model("bmlr", match.call(), formula, NULL, frame, columns,
            options = list(k = k, formula = formula_text(formula), noise = noise), bootstraps, seed, method, start,
            prior, control, threads, progress)
}

tvb_lca <- function(formula, data, k = 2, types = NULL, bootstraps = 500, seed = 1, method = c("recommended", "vb"),
                    prior = "default", na.action = NULL, control = list(), threads = getOption("trustvb.threads"),
                    progress = interactive()) {
  frame <- one_sided_columns(formula, data, "tvb_lca", "~ item1 + item2")
  terms <- stats::terms(frame)
  frame <- keep_rows(frame, na.action)
  types <- column_types(types, frame)
  fit_model("mixture", match.call(), formula, terms, frame, mixed_columns(frame),
            options = list(k = k, types = unname(types), type_names = names(types)), bootstraps, seed, method, NULL,
            prior, control, threads, progress)
}

# The column after the bar of a formula, and the response.
regression_roles <- function(formula) {
  right <- formula[[3]]
  grouped <- is.call(right) && identical(right[[1]], as.name("|"))
  list(group = if (grouped) all.vars(right[[3]]), response = all.vars(formula[[2]]))
}

regression_columns <- function(formula, frame) {
  roles <- regression_roles(formula)
  column <- function(values, name) {
    if (name %in% roles$group) {
      if (anyNA(values)) {
        trustvb_stop("data", "the group `", name, "` is missing in row ", which(is.na(values))[1],
                     "; fill it in, or leave such rows out with `na.action = na.omit`")
      }
      return(if (is.numeric(values)) as.double(values) else as_texts(values))
    }
    # What `.` stands for may be taken out again by name, text and all.
    if ("." %in% all.vars(formula) && is_text(values) && !name %in% roles$response) return(as_texts(values))
    remedy <- if (name %in% roles$response) {
      "a response is a number; code it as one, or use tvb_lca(), which takes columns of any kind"
    } else {
      "code it as numbers, as model.matrix() does, or leave it out"
    }
    as_numbers(values, name, remedy)
  }
  Map(column, as.list(frame), names(frame))
}

# Numbers stay numbers, all else is text; what is text in R is a category, whatever its levels look like.
mixed_columns <- function(frame) {
  Map(function(values, name) {
    if (is_text(values) || is.logical(values)) as_texts(values) else as_numbers(values, name, "make it a factor")
  }, as.list(frame), names(frame))
}

column_types <- function(types, frame) {
  types <- unlist(types)
  if (length(types) > 0 && is.null(names(types))) {
    trustvb_stop("options", "`types` needs names, as in types = c(visits = \"count\")")
  }
  texts <- names(frame)[vapply(frame, function(one) is_text(one) || is.logical(one), NA)]
  texts <- setdiff(texts, names(types))
  c(types, stats::setNames(rep("category", length(texts)), texts))
}

number_text <- function(x) format(x, digits = 17, scientific = NA, trim = TRUE)

# A prior by name, or a list of its numbers as the TOML that a prior's file has.
prior_text <- function(prior) {
  if (is.character(prior) && length(prior) == 1) {
    if (prior %in% c("default", "paper")) return(prior)
    trustvb_stop("options", "`prior` is \"default\", \"paper\" or a list, not \"", prior, "\"")
  }
  if (!is.list(prior) || is.null(names(prior))) {
    trustvb_stop("options", "`prior` is \"default\", \"paper\" or a list with names, such as list(alpha = 2)")
  }
  line <- function(name, value) {
    text <- if (is.character(value)) paste0("\"", value, "\"") else number_text(as.double(value))
    paste0(name, " = ", if (length(text) > 1) paste0("[", paste(text, collapse = ", "), "]") else text)
  }
  paste0(paste(Map(line, names(prior), prior), collapse = "\n"), "\n")
}

check_whole <- function(x, name, least = 0) {
  if (!is.numeric(x) || length(x) != 1 || is.na(x) || x != round(x) || x < least) {
    trustvb_stop("options", "`", name, "` must be a whole number, ", least, " or more")
  }
  as.double(x)
}

check_control <- function(control) {
  known <- c("grid", "omega_min", "starts", "tolerance", "max_sweeps")
  unknown <- setdiff(names(control), known)
  if (!is.list(control) || (length(control) > 0 && is.null(names(control))) || length(unknown) > 0) {
    trustvb_stop("options", "`control` is a list that may have ", listed(known),
                 if (length(unknown) > 0) paste0("; `", unknown[1], "` is none of them"))
  }
  control
}

fit_model <- function(model, call, formula, terms, frame, columns, options, bootstraps, seed, method, start, prior, control,
                      threads, progress) {
  options$k <- check_whole(options$k, "k", 1)
  bootstraps <- check_whole(bootstraps, "bootstraps")
  # Without resamples there is VB alone; with them there is an interval to use.
  methods <- if (bootstraps == 0) "vb" else unique(needs(c("recommended", "vb", method))$methods)
  fit <- structure(class = c(paste0("tvb_", model), "tvb"), list(
    call = call, formula = formula, terms = terms, model = model, frame = frame, columns = columns,
    options = c(options, list(prior = prior_text(prior))),
    settings = c(list(bootstraps = bootstraps, seed = check_whole(seed, "seed")), check_control(control)),
    methods = methods,
    threads = if (!is.null(threads)) check_whole(threads, "threads", 1),
    progress = progress, state = new_state()
  ))
  fit$settings$centres <- start_centres(start, fit)
  fit$about <- native(engine_of(fit)$about())
  fit
}
