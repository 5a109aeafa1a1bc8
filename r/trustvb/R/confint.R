# Intervals, and what R's habits make of them: confint(), coef(), vcov().

tvb_intervals <- function(object, parm = NULL, level = 0.95, method = NULL, draws = 500) {
  if (!is.numeric(level) || length(level) == 0 || anyNA(level)) {
    trustvb_stop("options", "`level` must be a number between 0 and 1, such as 0.95")
  }
  methods <- if (is.null(method)) object$methods else method
  if (!is.character(methods)) trustvb_stop("options", "`method` is a text such as \"recommended\"")
  engine <- engine_of(object, methods)
  options <- c(list(levels = as.double(level), draws = check_whole(draws, "draws", 1)), work_options(object))
  answers <- native(engine$answer(as_asked(parm, object), methods, options))
  is_warning <- Map(function(flags, remark) flags[remark == 0], answers$flags, answers$is_remark)
  out <- data.frame(
    quantity = if (is.null(parm)) answers$label else answers$functional, label = answers$label,
    method = answers$method, level = answers$level, estimate = answers$estimate, lower = answers$lower,
    upper = answers$upper, omega = answers$omega, coverage = answers$coverage, coverage_se = answers$coverage_se,
    recommended = answers$recommended > 0,
    flags = vapply(answers$flags, paste, "", collapse = ";"),
    warnings = vapply(is_warning, paste, "", collapse = ";"),
    verdict = ifelse(answers$verdict == "", NA, answers$verdict), stringsAsFactors = FALSE
  )
  # What is said of VB's own intervals, a sentence for each level.
  attr(out, "said") <- answers$said
  attr(out, "sentences") <- answers$sentences
  attr(out, "is_remark") <- answers$is_remark
  attr(out, "curves") <- answers$curve
  out
}

confint.tvb <- function(object, parm, level = 0.95, method = "recommended", ...) {
  if (length(level) != 1) trustvb_stop("options", "confint() takes one level; tvb_intervals() takes several")
  if (length(method) != 1) trustvb_stop("options", "confint() takes one method; tvb_intervals() takes several")
  answers <- tvb_intervals(object, if (missing(parm)) NULL else parm, level, method, ...)
  warn_once(object, answers)
  tail <- (1 - level) / 2
  percent <- paste(format(100 * c(tail, 1 - tail), trim = TRUE, digits = 3, scientific = FALSE), "%")
  matrix(c(answers$lower, answers$upper), ncol = 2, dimnames = list(answers$quantity, percent))
}

# Each warning once for each fit, with the quantities it is about.
warn_once <- function(object, answers) {
  said <- list()
  sentences <- attr(answers, "sentences")
  remarks <- attr(answers, "is_remark")
  for (row in seq_len(nrow(answers))) {
    for (sentence in sentences[[row]][remarks[[row]] == 0]) {
      key <- paste(answers$method[row], sentence)
      if (key %in% object$state$warned) next
      said[[key]] <- c(said[[key]], answers$quantity[row])
    }
  }
  object$state$warned <- c(object$state$warned, names(said))
  if (length(said) > 0) {
    lines <- vapply(names(said), function(key) {
      sentence <- sub("^[^ ]+ ", "", key)
      paste0(paste(utils::head(said[[key]], 4), collapse = ", "), if (length(said[[key]]) > 4) ", \u2026", ": ", sentence)
    }, "")
    trustvb_warn(paste(lines, collapse = "\n"))
  }
}

coef.tvb <- function(object, ...) {
  answers <- tvb_intervals(object, method = "vb")
  stats::setNames(answers$estimate, answers$label)
}

vcov.tvb <- function(object, parm = NULL, type = c("bootstrap", "vb"), draws = 10000, ...) {
  type <- match.arg(type)
  engine <- engine_of(object)
  asked <- as_asked(parm, object)
  if (type == "bootstrap") {
    if (object$settings$bootstraps < 2) {
      trustvb_stop("options", "vcov() needs resamples, and there are none; fit with `bootstraps = 500`, or ask for ",
                   "type = \"vb\"")
    }
    found <- native(engine$estimates(asked, work_options(object)))
  } else {
    found <- native(engine$sample(asked, c(list(n = check_whole(draws, "draws", 2)), work_options(object))))
  }
  values <- found$values
  colnames(values) <- found$names
  stats::cov(values)
}
