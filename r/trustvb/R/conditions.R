# Conditions: every complaint has the class trustvb_error and one that says what it is about.

trustvb_stop <- function(class, ..., call = NULL) {
  text <- paste0(...)
  kind <- if (identical(class, "interrupted")) "interrupt" else "error"
  stop(structure(
    class = c(paste0("trustvb_", class, if (kind == "error") "_error"), "trustvb_error", kind, "condition"),
    list(message = text, call = call)
  ))
}

trustvb_warn <- function(text) {
  warning(structure(
    class = c("trustvb_warning", "warning", "condition"),
    list(message = text, call = NULL)
  ))
}

# Errors of the native library begin with their class.
native <- function(expr) {
  tryCatch(expr, error = function(error) {
    text <- conditionMessage(error)
    found <- regmatches(text, regexec("^trustvb:([a-z]+):(.*)$", text))[[1]]
    if (length(found) == 3) trustvb_stop(found[2], found[3])
    stop(error)
  })
}

# Names in back-ticks, with commas.
listed <- function(names, most = 20) {
  more <- length(names) - most
  shown <- paste0("`", utils::head(names, most), "`", collapse = ", ")
  if (more > 0) paste0(shown, " and ", more, " more") else shown
}

# The name that may have been meant.
suggestion <- function(name, names) {
  distance <- utils::adist(name, names, ignore.case = TRUE)[1, ]
  near <- length(names) > 0 && min(distance) <= max(1, nchar(name) / 3)
  paste0(
    if (near) paste0("did you mean `", names[which.min(distance)], "`? Its") else "its",
    " columns are ", listed(names)
  )
}
