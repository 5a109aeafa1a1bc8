# From a formula and a data frame to columns of doubles and texts.

# The formula, with the kind of sides that a function takes.
check_formula <- function(formula, two_sided, caller, example) {
  if (!inherits(formula, "formula")) {
    trustvb_stop("formula", caller, "() takes a formula such as ", example, ", not ",
                 if (is.character(formula)) "a text; leave out the quotes" else class(formula)[1])
  }
  if (!two_sided && length(formula) == 3) {
    trustvb_stop("formula", caller, "() takes columns on the right of `~` and nothing on its left, as in ", example,
                 "; for a regression use tvb_reg()")
  }
  if (two_sided && length(formula) == 2) {
    trustvb_stop("formula", caller, "() needs a response on the left of `~`, as in ", example)
  }
  formula
}

check_data <- function(data) {
  if (is.matrix(data)) data <- as.data.frame(data)
  if (!is.data.frame(data)) {
    trustvb_stop("data", "`data` must be a data frame, not ", class(data)[1])
  }
  if (nrow(data) == 0) trustvb_stop("data", "`data` has no rows")
  as.data.frame(data)
}

check_columns <- function(formula, data) {
  unknown <- setdiff(all.vars(formula), c(".", names(data)))
  if (length(unknown) > 0) {
    trustvb_stop("data", "the data have no column `", unknown[1], "`; ", suggestion(unknown[1], names(data)))
  }
}

# The columns of a formula with one side; what is computed in it, such as log(x), is computed by R.
one_sided_columns <- function(formula, data, caller, example) {
  check_formula(formula, FALSE, caller, example)
  data <- check_data(data)
  check_columns(formula, data)
  terms <- stats::terms(formula, data = data)
  if (any(attr(terms, "order") > 1)) {
    trustvb_stop("formula", caller, "() takes columns joined by `+`, and no products such as a:b or a*b; compute a ",
                 "product first, as in ~ a + I(a * b)")
  }
  if (length(attr(terms, "term.labels")) == 0) {
    trustvb_stop("formula", "the formula names no column; write, for example, ", example)
  }
  stats::model.frame(terms, data, na.action = stats::na.pass)
}

# The columns that a formula with two sides needs, as they are.
two_sided_columns <- function(formula, data, caller, example) {
  check_formula(formula, TRUE, caller, example)
  data <- check_data(data)
  check_columns(formula, data)
  used <- all.vars(formula)
  if ("." %in% used) data else data[used]
}

formula_text <- function(formula) {
  paste(deparse(formula, width.cutoff = 500L), collapse = " ")
}

# Applies a na.action, which changes rows and nothing else; none keeps missing values, which the library then refuses.
keep_rows <- function(frame, na.action) {
  if (is.null(na.action)) return(frame)
  na.action <- match.fun(na.action)
  tryCatch(na.action(frame), error = function(error) {
    trustvb_stop("data", conditionMessage(error), "; fill in the values, or leave those rows out with ",
                 "`na.action = na.omit`")
  })
}

is_text <- function(column) is.factor(column) || is.character(column)

# A column as doubles; `remedy` is for those that cannot be.
as_numbers <- function(column, name, remedy) {
  if (is.matrix(column)) {
    trustvb_stop("data", "`", name, "` is a matrix; give its columns one by one")
  }
  if (is_text(column) || !(is.numeric(column) || is.logical(column)) || inherits(column, c("Date", "POSIXt"))) {
    what <- if (is.factor(column)) "a factor" else if (is.character(column)) "text" else class(column)[1]
    trustvb_stop("data", "`", name, "` is ", what, ", and numbers are needed; ", remedy)
  }
  as.double(column)
}

as_texts <- function(column) enc2utf8(as.character(column))
