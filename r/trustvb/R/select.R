# How many components, and which covariances.

tvb_select <- function(formula, data, k = 1:8, covariance = NULL, model = NULL, criterion = NULL, noise = "estimate",
                       types = NULL, seed = 1, prior = "default", na.action = NULL, control = list(),
                       threads = getOption("trustvb.threads"), progress = interactive()) {
  if (!is.numeric(k) || length(k) == 0 || anyNA(k) || any(k < 1 | k != round(k))) {
    trustvb_stop("options", "`k` lists whole numbers of components, such as 1:8")
  }
  if (is.null(model)) model <- if (inherits(formula, "formula") && length(formula) == 3) "reg" else "mix"
  if (!is.character(model) || length(model) != 1 || !model %in% c("mix", "reg", "lca")) {
    trustvb_stop("options", "`model` is \"mix\", \"reg\" or \"lca\", after the function that is to fit it")
  }
  parts <- switch(model,
    mix = mixture_parts(formula, data, na.action, types),
    reg = regression_parts(formula, data, noise, na.action),
    lca = class_parts(formula, data, types, na.action)
  )
  if (identical(covariance, "all")) covariance <- c("full", "tied", "diagonal", "spherical")
  shapes <- if (model == "mix" && !is.null(covariance)) check_shapes(covariance)
  if (!is.null(shapes)) parts$options <- c(parts$options, list(covariance = shapes[1]))
  options <- c(list(k = 1, prior = prior_text(prior)), parts$options)
  engine <- native(Engine$new(parts$model, parts$columns, options))
  asked <- list(components = as.double(k), shapes = shapes, criterion = criterion, seed = check_whole(seed, "seed"),
                threads = check_threads(threads), progress = as.double(isTRUE(progress)))
  found <- native(engine$select(c(asked, check_control(control))))
  fields <- c("components", "covariance", "free_parameters", "log_likelihood", "bic", "icl", "bound", "evidence",
              "emptied", "status")
  candidates <- as.data.frame(found[fields], stringsAsFactors = FALSE)
  if (model != "mix") candidates$covariance <- NULL
  structure(class = "tvb_select", list(
    call = match.call(), k = candidates$components[found$chosen],
    covariance = if (model == "mix") candidates$covariance[found$chosen], criterion = found$criterion,
    margin = found$margin, chosen_by = unlist(found$chosen_by), words = found$words, candidates = candidates,
    title = found$title, units = found$units
  ))
}

print.tvb_select <- function(x, ...) {
  cat(deparse(x$call$data, nlines = 1)[1], ": ", x$units, ", ", x$title, "\n\n", sep = "")
  shown <- x$candidates[intersect(c("components", "covariance", "free_parameters"), names(x$candidates))]
  names(shown)[names(shown) == "free_parameters"] <- "free"
  if (length(unique(shown$covariance)) == 1 && identical(shown$covariance[1], "full")) shown$covariance <- NULL
  for (name in c("bic", "icl", "bound")) {
    value <- x$candidates[[name]]
    mark <- ifelse(seq_along(value) == x$chosen_by[[name]], "*", " ")
    shown[[if (name == "bound") name else toupper(name)]] <- paste0(formatC(value, digits = 1, format = "f"), mark)
  }
  remark <- ifelse(x$candidates$status == "failed", "no fit",
                   ifelse(x$candidates$emptied > 0, paste(x$candidates$emptied, "emptied"), ""))
  if (any(remark != "")) shown$remark <- remark
  print(shown, row.names = FALSE)
  cat("\nfree: numbers to be estimated; * best: the lowest BIC and ICL, the highest bound\n\n")
  for (sentence in x$words) cat(strwrap(sentence, getOption("width"), exdent = 2), sep = "\n")
  invisible(x)
}

# The criterion against the number of components, a line for each shape, the chosen one circled.
plot.tvb_select <- function(x, criterion = x$criterion, ...) {
  if (!is.character(criterion) || length(criterion) != 1 || !criterion %in% c("bic", "icl", "bound", "evidence")) {
    trustvb_stop("options", "`criterion` is \"bic\", \"icl\", \"bound\" or \"evidence\"")
  }
  all <- x$candidates
  shapes <- if (is.null(all$covariance)) "" else unique(all$covariance)
  colours <- component_colours(length(shapes))
  better <- if (criterion %in% c("bound", "evidence")) "higher" else "lower"
  title <- if (criterion %in% c("bound", "evidence")) criterion else toupper(criterion)
  values <- all[[criterion]]
  drawn(list(range(all$components), range(values, finite = TRUE), type = "n", xaxt = "n", xlab = "components",
             ylab = paste0(title, " (", better, " is better)")), ...)
  graphics::axis(1, unique(all$components))
  for (i in seq_along(shapes)) {
    own <- if (is.null(all$covariance)) seq_along(values) else which(all$covariance == shapes[i])
    graphics::lines(all$components[own], values[own], type = "b", pch = 19, col = colours[i])
  }
  best <- x$chosen_by[[criterion]]
  graphics::points(all$components[best], values[best], cex = 2.5, lwd = 2)
  if (length(shapes) > 1) {
    graphics::legend(if (criterion %in% c("bound", "evidence")) "bottomright" else "topright", shapes, col = colours, lty = 1, pch = 19,
                     bty = "n")
  }
  invisible(x)
}
