# What a fit says of rows: classes, probabilities, densities, expected responses; and new data from it.

predict.tvb <- function(object, newdata = NULL, type = c("class", "prob", "density", "response"), ...) {
  type <- match.arg(type)
  if (type == "response" && object$model != "bmlr") {
    trustvb_stop("options", "type = \"response\" is for tvb_reg(); choose \"class\", \"prob\" or \"density\"")
  }
  found <- native(engine_of(object)$predict(if (is.null(newdata)) object$columns else new_columns(object, newdata)))
  if (type == "response") {
    # Without the response nothing tells components apart but their weights.
    return(as.vector(found$mean %*% component_weights(object)))
  }
  if (is.null(found$probability)) {
    trustvb_stop("data", "type = \"", type, "\" needs the response in `newdata`: without it nothing tells components ",
                 "apart but their weights")
  }
  switch(type,
    class = max.col(found$probability, ties.method = "first"),
    prob = structure(found$probability, dimnames = list(NULL, seq_len(ncol(found$probability)))),
    density = exp(found$ln_density)
  )
}

component_weights <- function(object) {
  means <- native(engine_of(object)$draws(list()))
  as.vector(means$pi)
}

# New rows as the fit's own were: computed by the formula, numbers as numbers, texts as texts.
new_columns <- function(object, newdata) {
  newdata <- check_data(newdata)
  if (object$model == "bmlr") {
    roles <- regression_roles(object$formula)
    used <- setdiff(names(object$columns), names(newdata))
    optional <- c(roles$group, roles$response)
    missing <- setdiff(used, optional)
    if (length(missing) > 0) {
      trustvb_stop("data", "`newdata` has no column `", missing[1], "`; ", suggestion(missing[1], names(newdata)))
    }
    return(regression_columns(object$formula, newdata[intersect(names(object$columns), names(newdata))]))
  }
  terms <- object$terms
  check_columns(terms, newdata)
  frame <- stats::model.frame(terms, newdata, na.action = stats::na.pass)
  if (object$model == "mixture") return(mixed_columns(frame))
  Map(as_numbers, as.list(frame), names(frame), "it was a number when the model was fitted")
}

nobs.tvb <- function(object, ...) object$about$n_units

logLik.tvb <- function(object, ...) {
  value <- if (object$model == "gmm") {
    sum(log(mixture_density(as.matrix(as.data.frame(object$columns)), native(engine_of(object)$draws(list())))))
  } else {
    native(engine_of(object)$predict(object$columns))$ln_likelihood
  }
  structure(value, df = object$about$parameters, nobs = object$about$n_units, class = "logLik")
}

# The density of a Gaussian mixture at rows of x, at the posterior means.
mixture_density <- function(x, means) {
  k <- length(means$pi)
  p <- ncol(x)
  each <- vapply(seq_len(k), function(j) {
    factor <- chol(matrix(means$sigma[1, j, , ], p, p))
    z <- backsolve(factor, t(x) - means$mu[1, j, ], transpose = TRUE)
    means$pi[j] * exp(-0.5 * colSums(z^2) - sum(log(diag(factor))) - 0.5 * p * log(2 * pi))
  }, numeric(nrow(x)))
  rowSums(matrix(each, nrow(x), k))
}

simulate.tvb <- function(object, nsim = 1, seed = NULL, ...) {
  if (!is.null(seed)) set.seed(seed)
  # Parameters are drawn anew for each data set.
  own <- sample.int(.Machine$integer.max, 1)
  draws <- native(engine_of(object)$draws(list(n = check_whole(nsim, "nsim", 1), seed = as.double(own))))
  one <- switch(object$model, gmm = simulate_gmm, bmlr = simulate_bmlr, mixture = simulate_classes)
  sets <- lapply(seq_len(nsim), function(i) one(object, draws, i))
  if (nsim == 1) sets[[1]] else stats::setNames(sets, paste0("sim_", seq_len(nsim)))
}

simulate_gmm <- function(object, draws, i) {
  n <- object$about$n_units
  p <- length(object$about$coordinates)
  component <- sample.int(object$about$n_components, n, TRUE, draws$pi[i, ])
  x <- matrix(stats::rnorm(n * p), n, p)
  for (k in unique(component)) {
    rows <- component == k
    factor <- chol(matrix(draws$sigma[i, k, , ], p, p))
    x[rows, ] <- sweep(x[rows, , drop = FALSE] %*% factor, 2, draws$mu[i, k, ], "+")
  }
  colnames(x) <- object$about$coordinates
  data.frame(x, .component = component, check.names = FALSE)
}

simulate_bmlr <- function(object, draws, i) {
  groups <- object$about$groups
  component <- sample.int(object$about$n_components, max(groups), TRUE, draws$pi[i, ])[groups]
  design <- native(engine_of(object)$predict(object$columns))$design
  beta <- matrix(draws$beta[i, , ], object$about$n_components)
  mean <- rowSums(design * beta[component, , drop = FALSE])
  noise <- if (is.null(draws$noise)) known_noise(object) else draws$noise[i, component]
  data.frame(.response = stats::rnorm(length(mean), mean, 1 / sqrt(noise)), .component = component)
}

known_noise <- function(object) as.double(sub("^known=", "", object$options$noise))

simulate_classes <- function(object, draws, i) {
  about <- object$about
  n <- about$n_units
  class <- sample.int(about$n_components, n, TRUE, draws$pi[i, ])
  columns <- Map(function(name, kind) {
    switch(kind,
      gaussian = stats::rnorm(n, draws[[paste0("mu.", name)]][i, class], draws[[paste0("sd.", name)]][i, class]),
      count = stats::rpois(n, draws[[paste0("rate.", name)]][i, class]),
      category = {
        levels <- about$levels[[name]]
        p <- draws[[paste0("p.", name)]]
        factor(levels[vapply(class, function(k) sample.int(length(levels), 1, prob = p[i, k, ]), 1L)], levels)
      }
    )
  }, about$coordinates, about$kinds)
  data.frame(columns, .component = class, check.names = FALSE)
}
