# Data read exactly, and the command of the same sources.

# Decimals as C's strtod reads them, rounded once. R's own reader may be off by one in the last bit.
exact <- function(texts) jsonlite::fromJSON(paste0("[", paste(texts, collapse = ","), "]"))

extdata <- function(name) system.file("extdata", name, package = "trustvb", mustWork = TRUE)

read_exactly <- function(name) {
  texts <- utils::read.csv(extdata(name), colClasses = "character")
  as.data.frame(lapply(texts, exact))
}

# The lines that `trustvb …` prints.
trustvb_lines <- function(...) {
  command <- Sys.getenv("TRUSTVB_COMMAND")
  skip_if(command == "", "TRUSTVB_COMMAND is not set: it is the path of a `trustvb` to compare with; see `cargo xtask r`")
  lines <- system2(command, shQuote(c(...)), stdout = TRUE, env = "COLUMNS=120")
  Encoding(lines) <- "UTF-8"
  lines
}

# The lines that `trustvb calibrate …` prints.
command_lines <- function(...) trustvb_lines("calibrate", ..., "--quiet")

trustvb_json <- function(...) {
  text <- trustvb_lines(..., "--format", "json", "--quiet")
  jsonlite::fromJSON(paste(text, collapse = "\n"), simplifyVector = FALSE)
}

# What `trustvb calibrate … --format json` answers.
command_json <- function(...) trustvb_json("calibrate", ...)$intervals

numbers_of <- function(answers, name) {
  vapply(answers, function(one) if (is.null(one[[name]])) NA_real_ else as.double(one[[name]]), 0)
}

texts_of <- function(answers, name) vapply(answers, function(one) one[[name]], "")

# Bit for bit: JSON holds the shortest text that reads back the same.
expect_same_bits <- function(ours, theirs) {
  expect_identical(ours$label, texts_of(theirs, "label"))
  expect_identical(ours$method, texts_of(theirs, "method"))
  for (name in c("level", "estimate", "lower", "upper", "omega", "coverage", "coverage_se")) {
    expected <- numbers_of(theirs, name)
    # The command says 0 where `analytic` has no Monte-Carlo error.
    if (name == "coverage_se") expected[ours$method == "analytic"] <- NaN
    expected[is.na(expected)] <- NaN
    expect_identical(ours[[name]], expected, info = name)
  }
  flags <- vapply(theirs, function(one) paste(unlist(one$flags), collapse = ";"), "")
  expect_identical(ours$flags, flags)
}
