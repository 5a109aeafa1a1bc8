# What a fit says of rows: classes, probabilities, densities, expected responses; and new data from it.

predict.tvb <- function(object, newdata = NULL, type = c("class", "prob", "density", "response"), ...) {
  type <- match.arg(type)
  if (type == "response" && object$model != "bmlr") {
    trustvb_stop("options", "type = \"response\" is for tvb_reg(); choose \"class\", \"prob\" or \"density\"")
  }
  found <- predicted(object, newdata)
  if (type == "response") {
    if (is.null(found$mean)) need_newdata(type)
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
    density = if (is.null(found$ln_density)) need_newdata(type) else exp(found$ln_density)
  )
}

need_newdata <- function(type) {
  trustvb_stop("data", "type = \"", type, "\" needs `newdata` for a table, which does not hold the frame that it was ",
               "made of")
}

# What the engine says of new rows, or of the fit's own.
predicted <- function(object, newdata = NULL) {
  if (!is.null(newdata)) return(native(engine_of(object)$predict(new_columns(object, newdata))))
  if (!is_table(object)) return(native(engine_of(object)$predict(object$columns)))
  # A table knows its units, and not the frame that they came from.
  probability <- native(engine_of(object)$responsibilities())$probability
  groups <- object$about$groups
  list(probability = if (is.null(groups)) probability else probability[groups, , drop = FALSE])
}

component_weights <- function(object) {
  means <- native(engine_of(object)$draws(list()))
  as.vector(means$pi)
}

# New rows as the fit's own were: computed by the formula, numbers as numbers, texts as texts.
new_columns <- function(object, newdata) {
  newdata <- check_data(newdata)
  if (object$model == "bmlr") return(new_regression_columns(object, newdata))
  if (is_table(object)) {
    need_columns(object$about$coordinates, newdata)
    frame <- newdata[object$about$coordinates]
  } else {
    check_columns(object$terms, newdata)
    frame <- stats::model.frame(object$terms, newdata, na.action = stats::na.pass)
  }
  if (object$model == "mixture") return(mixed_columns(frame))
  Map(as_numbers, as.list(frame), names(frame), "it was a number when the model was fitted")
}

new_regression_columns <- function(object, newdata) {
  roles <- regression_roles(object$formula)
  if (!is.null(object$design)) {
    need_columns(all.vars(stats::delete.response(object$design$terms)), newdata)
    return(design_columns(object$design, object$formula, newdata))
  }
  used <- if (is_table(object)) setdiff(all.vars(object$formula), ".") else names(object$columns)
  need_columns(setdiff(used, c(roles$group, roles$response)), newdata)
  regression_columns(object$formula, newdata[intersect(used, names(newdata))])
}

need_columns <- function(names, newdata) {
  missing <- setdiff(names, names(newdata))
  if (length(missing) > 0) {
    trustvb_stop("data", "`newdata` has no column `", missing[1], "`; ", suggestion(missing[1], names(newdata)))
  }
}

nobs.tvb <- function(object, ...) object$about$n_units

logLik.tvb <- function(object, ...) {
  value <- native(engine_of(object)$likelihood())$ln_likelihood
  structure(value, df = object$about$parameters, nobs = object$about$n_units, class = "logLik")
}

simulate.tvb <- function(object, nsim = 1, seed = NULL, ...) {
  if (is_table(object) && object$model == "bmlr") {
    trustvb_stop("data", "a table of regressions does not hold the frame that responses are simulated for; simulate from ",
                 "a fit by tvb_reg()")
  }
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
