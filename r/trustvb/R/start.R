# Start values: a matrix, or the centres of a fit by mclust or flexmix.

# Centres component after component, or NULL for the library's own starts.
start_centres <- function(start, fit) {
  if (is.null(start)) return(NULL)
  centres <- if (inherits(start, "Mclust")) {
    mean <- start$parameters$mean
    if (is.matrix(mean)) t(mean) else matrix(mean, ncol = 1)
  } else if (inherits(start, "flexmix")) {
    flexmix_centres(start)
  } else {
    as.matrix(start)
  }
  if (nrow(centres) != fit$options$k) {
    trustvb_stop("options", "`start` has ", nrow(centres), " components, but k = ", fit$options$k, "; give a row for each")
  }
  wanted <- if (fit$model == "gmm") names(fit$frame) else fit$design$names
  if (!is.null(wanted) && !is.null(colnames(centres)) && all(wanted %in% colnames(centres))) {
    centres <- centres[, wanted, drop = FALSE]
  }
  as.double(t(centres))
}

# The coefficients of regressions, or the centres of clusters: a row per component.
flexmix_centres <- function(start) {
  if (!requireNamespace("flexmix", quietly = TRUE)) {
    trustvb_stop("options", "`start` is a fit by flexmix, which is not installed; give a matrix of centres")
  }
  parameters <- flexmix::parameters(start)
  if (is.matrix(parameters)) {
    coefficients <- grepl("^coef\\.", rownames(parameters))
    if (any(coefficients)) {
      centres <- t(parameters[coefficients, , drop = FALSE])
      colnames(centres) <- sub("^coef\\.", "", colnames(centres))
      return(centres)
    }
    centres <- grepl("^center", rownames(parameters))
    if (any(centres)) return(t(parameters[centres, , drop = FALSE]))
  }
  trustvb_stop("options", "`start`: of fits by flexmix, those with FLXMRglm() or FLXMCmvnorm() have centres; give a ",
               "matrix with a row per component otherwise")
}
