# Figures in base graphics: clusters, the law of a quantity, coverage curves, intervals beside each other.

plot.tvb <- function(x, which = c("clusters", "forest", "density", "coverage"), parm = NULL, level = 0.95,
                     columns = NULL, ...) {
  switch(match.arg(which),
    clusters = plot_clusters(x, columns, ...),
    forest = plot_forest(x, parm, level, ...),
    density = plot_density(x, parm, level, ...),
    coverage = plot_coverage(x, parm, level, ...)
  )
  invisible(x)
}

# Colours that people with any kind of sight tell apart (Okabe and Ito), again from the first when they are used up.
component_colours <- function(k) {
  rep_len(c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442"), k)
}

use_colour <- "#0072B2"
vb_colour <- "#D55E00"

plot_clusters <- function(x, columns, ...) {
  switch(x$model,
    gmm = plot_gaussians(x, columns, ...),
    bmlr = plot_regressions(x, columns, ...),
    mixture = plot_classes(x, columns, ...)
  )
}

# Which of the fit's columns to show, by name or number.
chosen_columns <- function(columns, known, most) {
  if (is.null(columns)) return(utils::head(known, most))
  if (is.numeric(columns)) columns <- known[columns]
  unknown <- setdiff(columns, known)
  if (length(unknown) > 0 || anyNA(columns)) {
    trustvb_stop("options", "`columns`: there is no column `", unknown[1], "`; ", suggestion(unknown[1], known))
  }
  utils::head(columns, most)
}

plot_gaussians <- function(x, columns, ...) {
  means <- native(engine_of(x)$draws(list()))
  known <- x$about$coordinates
  shown <- match(chosen_columns(columns, known, 2), known)
  class <- stats::predict(x)
  colours <- component_colours(x$about$n_components)
  data <- if (is_table(x)) native(engine_of(x)$rows()) else x$columns
  if (length(shown) == 1) {
    values <- data[[shown]]
    at <- seq(min(values), max(values), length.out = 400)
    density <- vapply(seq_along(colours), function(k) {
      means$pi[k] * stats::dnorm(at, means$mu[1, k, shown], sqrt(means$sigma[1, k, shown, shown]))
    }, at)
    bars <- graphics::hist(values, breaks = "FD", plot = FALSE)
    drawn(list(bars, freq = FALSE, col = "grey90", border = "white", xlab = known[shown], main = "",
               ylim = c(0, 1.1 * max(bars$density, density))), ...)
    graphics::matlines(at, density, col = colours, lty = 1, lwd = 2)
    return(legend_of_components(x, colours))
  }
  circle <- seq(0, 2 * pi, length.out = 200)
  edges <- lapply(seq_along(colours), function(k) {
    factor <- chol(means$sigma[1, k, shown, shown])
    edge <- sqrt(stats::qchisq(0.95, 2)) * cbind(cos(circle), sin(circle)) %*% factor
    sweep(edge, 2, means$mu[1, k, shown], "+")
  })
  range_of <- function(i) range(data[[shown[i]]], vapply(edges, function(edge) range(edge[, i]), c(0, 0)))
  drawn(list(data[[shown[1]]], data[[shown[2]]], col = grDevices::adjustcolor(colours[class], 0.6), pch = 19, cex = 0.7,
             xlab = known[shown[1]], ylab = known[shown[2]], xlim = range_of(1), ylim = range_of(2)), ...)
  for (k in seq_along(colours)) {
    graphics::lines(edges[[k]], col = colours[k], lwd = 2)
    graphics::points(means$mu[1, k, shown[1]], means$mu[1, k, shown[2]], pch = 3, lwd = 2)
  }
  legend_of_components(x, colours)
}

# A plot whose settings the user's own come before.
drawn <- function(settings, ...) {
  own <- list(...)
  do.call(graphics::plot, c(settings[!names(settings) %in% setdiff(names(own), "")], own))
}

legend_of_components <- function(x, colours) {
  labels <- paste0(seq_along(colours), " (", whole_percent(component_weights(x)), ")")
  graphics::legend("topleft", labels, col = colours, pch = 19, bty = "n", title = x$about$component[1])
}

plot_regressions <- function(x, columns, ...) {
  if (is_table(x)) {
    trustvb_stop("data", "a table of regressions does not hold the frame to draw; draw a fit by tvb_reg(), or another ",
                 "figure")
  }
  known <- predictor_names(x$formula, x$frame)
  if (length(known) == 0) trustvb_stop("options", "there is no predictor to draw the response against")
  shown <- chosen_columns(columns, known, 1)
  values <- x$frame[[shown]]
  class <- max.col(predicted(x)$probability, ties.method = "first")
  colours <- component_colours(x$about$n_components)
  is_number <- is_number(values)
  # Levels side by side, and within a level the components.
  beside <- (seq_along(colours) - (length(colours) + 1) / 2) * 0.5 / length(colours)
  levels <- if (!is_number) levels(factor(values))
  across <- if (is_number) values else match(as.character(values), levels) + beside[class]
  response <- eval(x$formula[[2]], x$frame, environment(x$formula))
  drawn(list(across, response, col = grDevices::adjustcolor(colours[class], 0.5), pch = 19, cex = 0.6, xlab = shown,
             ylab = formula_text(x$formula[[2]]), xaxt = if (is_number) "s" else "n",
             xlim = if (is_number) range(values) else c(0.5, length(levels) + 0.5)), ...)
  # Lines with the other predictors as they typically are.
  range <- if (is_number) seq(min(values), max(values), length.out = 50) else levels
  at <- as.data.frame(lapply(x$frame[known], function(one) rep(typical(one), length(range))), optional = TRUE)
  names(at) <- known
  at[[shown]] <- if (is.logical(values)) as.logical(range) else range
  means <- native(engine_of(x)$predict(new_columns(x, at)))$mean
  if (!is_number) graphics::axis(1, seq_along(levels), levels)
  for (k in seq_along(colours)) {
    if (is_number) {
      graphics::lines(range, means[, k], col = colours[k], lwd = 2)
    } else {
      middle <- seq_along(levels) + beside[k]
      graphics::segments(middle - 0.12, means[, k], middle + 0.12, means[, k], col = colours[k], lwd = 4)
    }
  }
  legend_of_components(x, colours)
}

# The mean of numbers, and the most frequent of other values.
typical <- function(column) {
  if (is_number(column)) return(mean(column))
  counts <- table(column)
  value <- names(counts)[which.max(counts)]
  if (is.logical(column)) as.logical(value) else value
}

plot_classes <- function(x, columns, ...) {
  about <- x$about
  shown <- chosen_columns(columns, about$coordinates, 12)
  means <- native(engine_of(x)$draws(list()))
  old <- graphics::par(mfrow = grDevices::n2mfrow(length(shown)), mar = c(3, 4, 2, 1))
  on.exit(graphics::par(old))
  colours <- component_colours(about$n_components)
  for (name in shown) {
    kind <- about$kinds[match(name, about$coordinates)]
    if (kind == "category") {
      p <- matrix(means[[paste0("p.", name)]][1, , ], about$n_components)
      graphics::barplot(p, beside = TRUE, names.arg = about$levels[[name]], col = colours, border = NA,
                        ylim = c(0, 1.25), main = name, ylab = "probability")
      graphics::legend("top", legend = seq_along(colours), fill = colours, border = NA, bty = "n", horiz = TRUE)
    } else {
      label <- if (kind == "count") "rate" else "mean"
      values <- means[[paste0(if (kind == "count") "rate." else "mu.", name)]][1, ]
      graphics::barplot(values, names.arg = seq_along(values), col = colours, border = NA, main = name, ylab = label)
    }
  }
}

# Every interval in half-lengths of VB's own, so that quantities of all units stand side by side.
plot_forest <- function(x, parm, level, ...) {
  answers <- tvb_intervals(x, parm, level, shown_methods(x))
  own <- answers[answers$method == "vb", ]
  used <- answers[answers$method != "vb", ]
  # Without resamples there is VB's own alone.
  checked <- nrow(used) > 0
  if (!checked) used <- own
  half <- (own$upper - own$lower) / 2
  n <- nrow(used)
  relative <- function(limit) (limit - used$estimate) / half
  ends <- c(relative(used$lower), relative(used$upper), -1.2, 1.2)
  # Room for the names on both sides, and for the legend above.
  room <- function(texts) 0.12 * max(nchar(texts)) + 0.3
  old <- graphics::par(mai = c(0.9, room(used$label), 0.5, room("VB covers")))
  on.exit(graphics::par(old))
  drawn(list(range(ends[is.finite(ends)]), c(0.5, n + 1.2), type = "n", yaxt = "n", ylab = "",
             xlab = "from the estimate, in half-lengths of VB's own interval"), ...)
  graphics::abline(v = c(-1, 0, 1), col = "grey80", lty = c(2, 1, 2))
  at <- rev(seq_len(n))
  graphics::axis(2, at, used$label, las = 1, tick = FALSE)
  graphics::axis(4, at, whole_percent(own$coverage), las = 1, tick = FALSE)
  graphics::axis(4, n + 0.9, "VB covers", las = 1, tick = FALSE)
  if (checked) {
    graphics::segments(relative(used$lower), at + 0.14, relative(used$upper), at + 0.14, col = use_colour, lwd = 3)
  }
  graphics::segments(relative(own$lower), at - 0.14, relative(own$upper), at - 0.14, col = vb_colour, lwd = 3)
  corners <- graphics::par("usr")
  graphics::legend(mean(corners[1:2]), corners[4], interval_names(answers, level), xjust = 0.5, yjust = 0, xpd = TRUE,
                   col = c(if (checked) use_colour, vb_colour), lwd = 3, bty = "n", horiz = TRUE)
}

# What legends call the intervals of these answers, method by method.
interval_names <- function(answers, level) {
  first <- answers[!duplicated(answers$method), ]
  first <- first[order(first$method == "vb"), ]
  named <- ifelse(first$recommended, "use this", ifelse(first$method == "vb", "VB's own", first$method))
  paste(named, level_percent(level))
}

# The one quantity that a figure is of.
single_quantity <- function(x, parm) {
  if (is.null(parm)) parm <- 1
  if (is.numeric(parm)) parm <- x$about$quantities[parm]
  if (!is.character(parm) || length(parm) != 1 || is.na(parm)) {
    trustvb_stop("quantity", "this figure is of one quantity: give its text as `parm`, such as \"pi[1]\"")
  }
  parm
}

plot_density <- function(x, parm, level, ...) {
  parm <- single_quantity(x, parm)
  curve <- native(engine_of(x)$density(parm, 400L))
  answers <- tvb_intervals(x, parm, level, shown_methods(x))
  top <- max(curve$y)
  drawn(list(curve$x, curve$y, type = "l", lwd = 2, col = vb_colour, xlab = parm, ylab = "VB's density", yaxt = "n",
             xlim = range(curve$x, answers$lower, answers$upper, finite = TRUE), ylim = c(-0.22 * top, top)), ...)
  graphics::abline(h = 0, col = "grey80")
  rows <- order(answers$method == "vb")
  colours <- ifelse(answers$method == "vb", vb_colour, use_colour)[rows]
  at <- -top * c(0.08, 0.16)[seq_along(rows)]
  graphics::segments(answers$lower[rows], at, answers$upper[rows], at, col = colours, lwd = 4)
  graphics::points(answers$estimate[1], 0, pch = 19)
  graphics::legend("topright", interval_names(answers[rows, ], level), col = colours, lwd = 4, bty = "n")
}

plot_coverage <- function(x, parm, level, ...) {
  parm <- single_quantity(x, parm)
  engine <- engine_of(x, "tvb")
  curve <- native(engine$curve(parm, "tvb", level))
  chosen <- tvb_intervals(x, parm, level, "tvb")$omega
  drawn(list(curve$omega, curve$coverage, log = "x", type = "l", lwd = 2, col = use_colour, ylim = c(0, 1),
             xlab = expression(omega), ylab = "coverage, as tvb estimates it", main = parm), ...)
  band <- grDevices::adjustcolor(use_colour, 0.15)
  low <- pmax(0, curve$coverage - 2 * curve$se)
  high <- pmin(1, curve$coverage + 2 * curve$se)
  graphics::polygon(c(curve$omega, rev(curve$omega)), c(low, rev(high)), col = band, border = NA)
  graphics::abline(h = level, lty = 2)
  graphics::abline(v = chosen, lty = 3)
  graphics::axis(3, chosen, format(chosen, digits = 2), tick = FALSE, line = -1)
}
