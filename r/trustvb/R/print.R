# Answers for people: a verdict on VB, a row for each quantity, each warning once.

# A level or a coverage in whole percent; what is neither nobody nor everybody says so.
whole_percent <- function(x) {
  percent <- round(100 * x)
  ifelse(is.na(x), "\u2013", ifelse(x < 1 & percent >= 100, ">99%", ifelse(x > 0 & percent <= 0, "<1%",
                                                                          paste0(percent, "%"))))
}

level_percent <- function(level) paste0(format(100 * level, digits = 6, trim = TRUE, drop0trailing = TRUE), "%")

# Decimals of numbers that are known to within an interval of this length: more would say nothing.
decimals_of <- function(length) ceiling(log10(30 / length))

number_shown <- function(x, decimals) {
  if (is.na(x)) return("\u2013")
  if (is.infinite(x)) return(if (x > 0) "\u221e" else "-\u221e")
  if (is.na(decimals)) return(format(x, digits = 4))
  if (abs(x) >= 1e9 || decimals > 9) return(formatC(x, digits = 3, format = "e"))
  formatC(x, digits = max(0, decimals), format = "f")
}

# Intervals as cells; where some limits are negative, the others leave room for the sign.
interval_cells <- function(lower, upper, decimals) {
  limits <- lapply(list(lower, upper), function(end) {
    texts <- mapply(number_shown, end, decimals)
    if (any(startsWith(texts, "-"))) ifelse(startsWith(texts, "-"), texts, paste0(" ", texts)) else texts
  })
  ifelse(is.na(lower) | is.na(upper), "none", paste0("[", limits[[1]], ", ", limits[[2]], "]"))
}

# Lines of a table: the interval to use first, VB's own and its coverage after it.
answer_lines <- function(answers) {
  level <- answers$level[1]
  own <- answers[answers$method == "vb", ]
  used <- answers[answers$method != "vb", ]
  first <- if (nrow(used) > 0) used else own
  length_of <- function(rows) {
    length <- rows$upper - rows$lower
    ifelse(is.finite(length) & length > 1e-9 * abs(rows$estimate), length, NA)
  }
  # Both ends of a far shorter interval must stay apart.
  sizes <- pmin(length_of(first), 3 * length_of(own), na.rm = TRUE)
  decimals <- decimals_of(sizes)
  columns <- list(
    c("", "estimate", mapply(number_shown, first$estimate, decimals)),
    c(if (first$recommended[1]) "use this" else first$method[1], paste(level_percent(level), "interval"),
      interval_cells(first$lower, first$upper, decimals)),
    c("", "VB's own", interval_cells(own$lower, own$upper, decimals)),
    # A point, as the only weight's interval is, covers nothing but itself.
    c("VB", "covers", whole_percent(ifelse(own$upper > own$lower, own$coverage, NA)))
  )
  if (nrow(used) == 0) columns <- columns[c(1, 3)]
  names <- format(c("", "", first$label))
  cells <- Map(function(column, right) format(column, justify = if (right) "right" else "left"), columns,
               seq_along(columns) == 1)
  sub(" +$", "", do.call(paste, c(list(names), cells, sep = "  ")))
}

warning_lines <- function(answers, width) {
  sentences <- attr(answers, "sentences")
  remarks <- attr(answers, "is_remark")
  quantities <- unique(answers$label)
  found <- list()
  for (row in seq_len(nrow(answers))) {
    for (i in which(remarks[[row]] == 0)) {
      key <- sentences[[row]][i]
      found[[key]] <- unique(c(found[[key]], answers$label[row]))
    }
  }
  lines <- vapply(names(found), function(sentence) {
    those <- found[[sentence]]
    about <- if (length(those) == length(quantities) && length(those) > 1) {
      paste("all", length(those), "quantities")
    } else {
      paste0(paste(utils::head(those, 4), collapse = ", "), if (length(those) > 4) ", \u2026")
    }
    paste(strwrap(paste0("! ", about, ": ", sentence, "."), width = width, exdent = 2), collapse = "\n")
  }, "")
  unname(lines)
}

headline <- function(fit) {
  about <- fit$about
  k <- about$n_components
  what <- if (k == 1) paste("one", about$component[1]) else paste("mixture of", k, about$component[2])
  source <- if (is_table(fit)) fit$path else deparse(fit$call$data, nlines = 1)[1]
  shape <- setdiff(about$shape, "full")
  paste0(source, ": ", about$units, ", ", what, if (length(shape) > 0) paste0(", ", shape, " covariances"))
}

# The method whose interval is to be used, and VB's own: the recommended one unless a table has nothing for it.
shown_methods <- function(fit) {
  recommended <- native(method_names())$recommended
  others <- setdiff(fit$methods, "vb")
  c(if (recommended %in% others) recommended else utils::head(others, 1), "vb")
}

print.tvb <- function(x, level = 0.95, ...) {
  methods <- shown_methods(x)
  answers <- tvb_intervals(x, level = level, method = methods)
  cat(headline(x), "\n", sep = "")
  width <- getOption("width")
  if (length(methods) == 2) {
    cat(strwrap(attr(answers, "said")[1], width = width, exdent = 2), sep = "\n")
  } else {
    cat("There are no resamples, so nobody can say whether VB's own intervals cover.\n")
  }
  cat("\n")
  cat(answer_lines(answers), sep = "\n")
  lines <- warning_lines(answers, width)
  if (length(lines) > 0) cat("\n", paste0(lines, "\n"), sep = "")
  if (!x$about$status %in% c("converged", "stalled")) {
    cat("\n! the fit did not converge (", x$about$status, "); raise control = list(max_sweeps = ) or try other starts\n", sep = "")
  }
  for (remark in x$about$remarks) cat("\n", paste(strwrap(remark, width), collapse = "\n"), "\n", sep = "")
  invisible(x)
}

summary.tvb <- function(object, level = 0.95, method = NULL, ...) {
  methods <- if (is.null(method)) object$methods else method
  structure(class = "summary.tvb", list(
    headline = headline(object), call = object$call, about = object$about, is_table = is_table(object),
    intervals = tvb_intervals(object, level = level, method = methods)
  ))
}

print.summary.tvb <- function(x, digits = 4, ...) {
  about <- x$about
  cat("Call: ", paste(deparse(x$call), collapse = "\n  "), "\n", x$headline, "\n", sep = "")
  cat(about$title, ", ", about$status, " in ", about$sweeps, " sweeps, bound ", format(about$bound, digits = 9), "\n", sep = "")
  cat(if (x$is_table) table_line(about) else paste0(about$fits, " fits, ", about$bootstraps, " bootstraps, seed ",
                                                    format(about$seed, scientific = FALSE)), "\n\n", sep = "")
  shown <- x$intervals[c("label", "method", "level", "estimate", "lower", "upper", "coverage", "warnings")]
  names(shown)[1] <- "quantity"
  print(shown, digits = digits, row.names = FALSE)
  invisible(x)
}
