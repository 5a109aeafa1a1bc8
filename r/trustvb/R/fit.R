# Fitting: a formula, a data frame and a number of components.

tvb_mix <- function(formula, data, k = 2, covariance = c("full", "tied", "diagonal", "spherical"), bootstraps = 500,
                    seed = 1, method = c("recommended", "vb"), start = NULL, prior = "default", na.action = NULL,
                    control = list(), threads = getOption("trustvb.threads"), progress = interactive(), tvb = FALSE,
                    types = NULL) {
  parts <- mixture_parts(formula, data, na.action, types)
  parts$options <- c(parts$options, list(covariance = check_shapes(if (missing(covariance)) "full" else covariance, 1)))
  fit_model(parts, match.call(), k, bootstraps, seed, with_tvb(method, tvb), start, prior, control, threads, progress)
}

tvb_reg <- function(formula, data, k = 2, noise = "estimate", bootstraps = 500, seed = 1,
                    method = c("recommended", "vb"), start = NULL, prior = "default", na.action = NULL,
                    control = list(), threads = getOption("trustvb.threads"), progress = interactive(), tvb = FALSE) {
  parts <- regression_parts(formula, data, noise, na.action)
  fit_model(parts, match.call(), k, bootstraps, seed, with_tvb(method, tvb), start, prior, control, threads, progress)
}

tvb_lca <- function(formula, data, k = 2, types = NULL, bootstraps = 500, seed = 1, method = c("recommended", "vb"),
                    prior = "default", na.action = NULL, control = list(), threads = getOption("trustvb.threads"),
                    progress = interactive(), tvb = FALSE) {
  parts <- class_parts(formula, data, types, na.action)
  fit_model(parts, match.call(), k, bootstraps, seed, with_tvb(method, tvb), NULL, prior, control, threads, progress)
}

# What each model makes of a formula and data: columns for the library, and what is needed for other rows later.
mixture_parts <- function(formula, data, na.action, types = NULL) {
  frame <- one_sided_columns(formula, data, "tvb_mix", "~ eruptions + waiting")
  terms <- stats::terms(frame)
  frame <- keep_rows(frame, na.action)
  remedy <- "leave it out, or use tvb_lca(), which takes columns of any kind"
  columns <- Map(as_numbers, as.list(frame), names(frame), remedy)
  types <- said_types(types)
  list(model = "gmm", formula = formula, terms = terms, frame = frame, columns = columns,
       options = if (length(types) > 0) list(types = unname(types), type_names = names(types)))
}

class_parts <- function(formula, data, types, na.action) {
  frame <- one_sided_columns(formula, data, "tvb_lca", "~ item1 + item2")
  terms <- stats::terms(frame)
  frame <- keep_rows(frame, na.action)
  types <- column_types(types, frame)
  list(model = "mixture", formula = formula, terms = terms, frame = frame, columns = mixed_columns(frame),
       options = c(list(types = unname(types), type_names = names(types)), level_orders(frame)))
}

check_shapes <- function(covariance, most = Inf) {
  shapes <- c("full", "tied", "diagonal", "spherical")
  unknown <- setdiff(covariance, shapes)
  if (!is.character(covariance) || length(covariance) == 0 || length(covariance) > most || length(unknown) > 0) {
    trustvb_stop("options", "`covariance` is ", if (most == 1) "one" else "some", " of \"full\", \"tied\", ",
                 "\"diagonal\" and \"spherical\"", if (length(unknown) > 0) paste0(", not \"", unknown[1], "\""))
  }
  unique(covariance)
}

# Numbers stay numbers, all else is text; what is text in R is a category, whatever its levels look like.
mixed_columns <- function(frame) {
  Map(function(values, name) {
    if (is_text(values) || is.logical(values)) as_texts(values) else as_numbers(values, name, "make it a factor")
  }, as.list(frame), names(frame))
}

# What columns are said to hold; one word without a name is for all that are not named.
said_types <- function(types) {
  types <- unlist(types)
  if (length(types) == 0) return(NULL)
  if (is.null(names(types))) names(types) <- rep("", length(types))
  unnamed <- names(types) == ""
  if (sum(unnamed) > 1) {
    trustvb_stop("options", "`types` needs names, as in types = c(visits = \"count\"), or is one word for all columns")
  }
  names(types)[unnamed] <- "*"
  types
}

# Levels of factors in their own order, which is that of the answer: a name for each level.
level_orders <- function(frame) {
  levels <- lapply(Filter(is.factor, as.list(frame)), levels)
  if (length(levels) == 0) return(NULL)
  list(ordered = rep(names(levels), lengths(levels)), order = enc2utf8(unlist(levels, use.names = FALSE)))
}

column_types <- function(types, frame) {
  types <- said_types(types)
  if ("*" %in% names(types)) return(types)
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

fit_model <- function(parts, call, k, bootstraps, seed, method, start, prior, control, threads, progress) {
  bootstraps <- check_whole(bootstraps, "bootstraps")
  # Without resamples there is VB alone; with them there is an interval to use.
  methods <- if (bootstraps == 0) "vb" else unique(needs(c("recommended", "vb", method))$methods)
  options <- c(list(k = check_whole(k, "k", 1)), parts$options, list(prior = prior_text(prior)))
  fit <- structure(class = c(paste0("tvb_", parts$model), "tvb"), list(
    call = call, formula = parts$formula, terms = parts$terms, design = parts$design, model = parts$model,
    frame = parts$frame, columns = parts$columns, options = options,
    settings = c(list(bootstraps = bootstraps, seed = check_whole(seed, "seed")), check_control(control)),
    methods = methods, threads = check_threads(threads), progress = progress, state = new_state()
  ))
  fit$settings$centres <- start_centres(start, fit)
  fit$about <- native(engine_of(fit)$about())
  fit
}

check_tvb <- function(tvb) {
  if (!is.logical(tvb) || length(tvb) != 1 || is.na(tvb)) trustvb_stop("options", "`tvb` is TRUE or FALSE")
  tvb
}

# Methods with the paper's, if it is asked for.
with_tvb <- function(method, tvb) c(method, if (check_tvb(tvb)) "tvb")

check_threads <- function(threads) if (!is.null(threads)) check_whole(threads, "threads", 1)
