# The native engine of a fit: made when it is needed, and again after the fit was saved and read.

# A fit holds its engine in an environment, so that copies share it.
new_state <- function() {
  state <- new.env(parent = emptyenv())
  state$engine <- NULL
  state$warned <- character()
  state
}

usable <- function(engine) {
  !is.null(engine) && !identical(engine$.ptr, null_pointer())
}

# What an external pointer is after it was read from a file.
null_pointer <- function() methods::new("externalptr")

is_table <- function(fit) inherits(fit, "tvb_table")

engine_of <- function(fit, methods = character()) {
  state <- fit$state
  if (is_table(fit)) {
    # It has what it has: whoever asks for more is told so by the library.
    if (!usable(state$engine)) state$engine <- native(Engine$open(fit$path))
    return(state$engine)
  }
  if (!usable(state$engine)) {
    state$engine <- native(Engine$new(fit$model, fit$columns, fit$options))
    state$held <- list(methods = character(), designs = character(), grid = character())
  }
  wanted <- needs(methods)
  held <- state$held
  enough <- length(held$methods) > 0 && all(wanted$designs %in% held$designs) && all(wanted$grid %in% held$grid)
  if (!enough) {
    all <- unique(c(fit$methods, held$methods, wanted$methods))
    native(state$engine$build(c(list(methods = all), fit$settings, work_options(fit))))
    state$held <- needs(all)
  }
  state$engine
}

# What a table must have for some methods.
needs <- function(methods) {
  each <- lapply(methods, function(method) native(method_needs(method)))
  designs <- vapply(each, function(one) one$design, "")
  along <- vapply(each, function(one) one$grid > 0, NA)
  list(
    methods = vapply(each, function(one) one$name, ""),
    designs = setdiff(designs, ""),
    grid = setdiff(designs[along], "")
  )
}

work_options <- function(fit) {
  list(threads = fit$threads, progress = as.double(isTRUE(fit$progress)))
}

# Quantities as the engine takes them: a list of texts and functions, each function with a name.
as_asked <- function(parm, fit) {
  if (is.null(parm)) return(structure(list(), names = character()))
  if (is.function(parm)) parm <- list(f = parm)
  if (is.numeric(parm)) {
    known <- fit$about$quantities
    if (any(parm < 1 | parm > length(known) | parm != round(parm))) {
      trustvb_stop("quantity", "`parm` by number goes from 1 to ", length(known))
    }
    parm <- known[parm]
  }
  if (!is.character(parm) && !is.list(parm)) {
    trustvb_stop("quantity", "`parm` is ", class(parm)[1], "; give texts such as \"pi[1]\", numbers, or functions of draws")
  }
  asked <- as.list(parm)
  if (is.null(names(asked))) names(asked) <- rep("", length(asked))
  unnamed <- vapply(asked, is.function, NA) & names(asked) == ""
  names(asked)[unnamed] <- paste0("f", seq_along(asked))[unnamed]
  lapply(asked, function(one) if (is.function(one)) labelled_function(one, fit) else one)
}

# A function of draws gets arrays whose last dimension has names.
labelled_function <- function(f, fit) {
  force(f)
  function(draws) f(label_draws(draws, fit))
}

label_draws <- function(draws, fit) {
  coordinates <- fit$about$coordinates
  for (name in names(draws)) {
    size <- dim(draws[[name]])
    labels <- vector("list", length(size))
    if (name %in% c("mu", "beta") && length(size) == 3) labels[[3]] <- coordinates
    if (name == "sigma") labels[3:4] <- list(coordinates, coordinates)
    if (startsWith(name, "p.")) labels[[3]] <- fit$about$levels[[substring(name, 3)]]
    if (!all(vapply(labels, is.null, NA))) dimnames(draws[[name]]) <- labels
  }
  draws
}
