# Tables in folders: what `trustvb table build` makes, made and read by R.

tvb_table <- function(object, path, method = NULL, bootstraps = NULL, keep_data = TRUE, threads = object$threads,
                      progress = interactive(), tvb = FALSE) {
  if (!inherits(object, "tvb") || is_table(object)) {
    trustvb_stop("options", "tvb_table() takes a fit by tvb_mix(), tvb_reg() or tvb_lca(), and the folder to keep its ",
                 "resamples in; read_table() opens such a folder")
  }
  path <- check_path(path)
  if (!is.logical(keep_data) || length(keep_data) != 1 || is.na(keep_data)) {
    trustvb_stop("options", "`keep_data` is TRUE or FALSE")
  }
  settings <- object$settings
  # A fit without resamples is one that a table is to be made for.
  if (is.null(bootstraps)) bootstraps <- if (settings$bootstraps == 0) 500 else settings$bootstraps
  settings$bootstraps <- check_whole(bootstraps, "bootstraps", 1)
  tvb <- check_tvb(tvb)
  # Without methods the library serves the usual ones, which sizes decide.
  methods <- if (is.null(method)) character() else needs(c(method, if (tvb) "tvb"))$methods
  work <- list(threads = check_threads(threads), progress = as.double(isTRUE(progress)))
  options <- c(list(methods = methods, tvb = as.double(tvb), keep_data = as.double(keep_data)), settings, work)
  native(engine_of(object)$build_in(path, options))
  read_table(path, threads, progress)
}

read_table <- function(path, threads = getOption("trustvb.threads"), progress = interactive()) {
  path <- check_path(path)
  state <- new_state()
  state$engine <- native(Engine$open(path))
  about <- native(state$engine$about())
  object <- structure(class = c("tvb_table", paste0("tvb_", about$model), "tvb"), list(
    call = match.call(), path = path, model = about$model, about = about, methods = about$usual_methods,
    settings = list(bootstraps = about$bootstraps, seed = about$seed), formula = stored_formula(about$formula),
    threads = check_threads(threads), progress = progress, state = state
  ))
  if (about$is_checked == 0) {
    trustvb_warn(paste0(path, " was written in format ", about$schema, ", whose parts carry no checksum: they were ",
                        "not checked"))
  }
  object
}

check_path <- function(path) {
  if (!is.character(path) || length(path) != 1 || is.na(path) || path == "") {
    trustvb_stop("options", "`path` is the name of a folder, such as \"faithful.tvb\"")
  }
  enc2utf8(path.expand(path))
}

# The formula of a table's regression. It comes from a file, so it is read and never evaluated.
stored_formula <- function(text) {
  if (is.null(text)) return(NULL)
  call <- tryCatch(str2lang(text), error = function(error) NULL)
  if (!is.call(call) || !identical(call[[1]], as.name("~")) || length(call) != 3) return(NULL)
  structure(call, class = "formula", .Environment = emptyenv())
}

# What a table holds, in a line.
table_line <- function(about) {
  count <- function(held, wanted, what) {
    if (wanted == 0) return(NULL)
    paste0(if (held < wanted) paste(held, "of "), wanted, " ", what, " bootstraps")
  }
  resamples <- c(count(about$bootstraps, about$bootstraps_wanted, "full"),
                 count(about$split_bootstraps, about$split_bootstraps_wanted, "split"))
  grid <- length(about$omegas)
  paste0(
    about$fits, " fits: ", if (length(resamples) == 0) "no bootstraps" else paste(resamples, collapse = " and "), ", ",
    if (grid == 1) "at omega = 1" else paste0(grid, " omega from 1 to ", format(min(about$omegas))), ", seed ",
    format(about$seed, scientific = FALSE), "; ",
    if (about$has_data > 0) "the data are included" else "without the data", "; written by trustvb ", about$library
  )
}
