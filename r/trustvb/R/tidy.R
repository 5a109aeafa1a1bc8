# tidy(), glance() and augment() for those who load generics or broom; as_draws() for posterior.

tidy.tvb <- function(x, conf.int = TRUE, conf.level = 0.95, parm = NULL, method = "recommended", ...) {
  answers <- tvb_intervals(x, parm, conf.level, method)
  out <- data.frame(term = answers$quantity, estimate = answers$estimate, stringsAsFactors = FALSE)
  if (conf.int) {
    own <- tvb_intervals(x, parm, conf.level, "vb")
    out <- cbind(out, conf.low = answers$lower, conf.high = answers$upper, vb.low = own$lower, vb.high = own$upper,
                 vb.coverage = own$coverage, warnings = answers$warnings)
  }
  as_table(out)
}

glance.tvb <- function(x, ...) {
  about <- x$about
  # A table may be without its data, or hold sums over groups only.
  likelihood <- tryCatch(logLik.tvb(x), trustvb_data_error = function(error) NA)
  as_table(data.frame(
    model = about$model, k = about$n_components, nobs = about$n_units, df = about$parameters,
    logLik = as.double(likelihood), bound = about$bound, sweeps = about$sweeps, status = about$status,
    bootstraps = about$bootstraps, seed = about$seed, stringsAsFactors = FALSE
  ))
}

augment.tvb <- function(x, data = NULL, ...) {
  if (is.null(data) && is_table(x)) {
    trustvb_stop("data", "augment() needs `data` for a table, which does not hold its frame")
  }
  found <- predicted(x, data)
  frame <- if (is.null(data)) x$frame else as.data.frame(data)
  probability <- found$probability
  if (is.null(probability)) {
    trustvb_stop("data", "augment() needs the response in `data`: without it nothing tells components apart")
  }
  frame$.class <- max.col(probability, ties.method = "first")
  frame$.probability <- probability[cbind(seq_len(nrow(probability)), frame$.class)]
  as_table(frame)
}

# A tibble where there are tibbles.
as_table <- function(frame) {
  if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble(frame) else frame
}

as_draws.tvb <- function(x, parm = NULL, n = 1000, seed = NULL, ...) {
  options <- c(list(n = check_whole(n, "n", 1), seed = if (!is.null(seed)) as.double(seed)), work_options(x))
  found <- native(engine_of(x)$sample(as_asked(parm, x), options))
  values <- found$values
  colnames(values) <- found$names
  posterior::as_draws_matrix(values)
}

as_draws_matrix.tvb <- function(x, ...) as_draws.tvb(x, ...)

as_draws_df.tvb <- function(x, ...) posterior::as_draws_df(as_draws.tvb(x, ...))
