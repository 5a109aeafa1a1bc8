# What can go wrong ends in a condition that says what to do.

expect_says <- function(code, class, ...) {
  error <- tryCatch(code, condition = identity)
  expect_s3_class(error, class)
  expect_s3_class(error, "trustvb_error")
  for (fragment in c(...)) expect_match(conditionMessage(error), fragment, fixed = TRUE)
}

test_that("a wrong formula says how it is written", {
  expect_says(tvb_mix(eruptions ~ waiting, faithful), "trustvb_formula_error", "~ eruptions + waiting", "tvb_reg()")
  expect_says(tvb_mix("eruptions", faithful), "trustvb_formula_error", "leave out the quotes")
  expect_says(tvb_mix(~ eruptions * waiting, faithful), "trustvb_formula_error", "no products")
  expect_says(tvb_mix(~ 1, faithful), "trustvb_formula_error", "names no column")
  expect_says(tvb_reg(~ waiting, faithful), "trustvb_formula_error", "a response on the left", "y ~ x | group")
  expect_says(tvb_reg(eruptions ~ sni(waiting), faithful), "trustvb_formula_error", "sni")
})

test_that("an unknown column is named, with the one that may be meant", {
  expect_says(tvb_mix(~ eruptions + waitng, faithful), "trustvb_data_error", "`waitng`", "did you mean `waiting`?")
  expect_says(tvb_reg(eruptions ~ zzz, faithful), "trustvb_data_error", "`zzz`", "its columns are `eruptions`, `waiting`")
  fit <- tvb_mix(~ eruptions + waiting, faithful, bootstraps = 0)
  expect_says(predict(fit, data.frame(eruptions = 1)), "trustvb_data_error", "`waiting`")
})

test_that("a factor is not taken for numbers", {
  expect_says(tvb_reg(Species ~ Sepal.Length, iris), "trustvb_data_error", "`Species` is a factor", "a response is a number")
  expect_says(tvb_mix(~ Species + Sepal.Length, iris), "trustvb_data_error", "tvb_lca()")
})

test_that("missing values are refused with their places, and left out when asked", {
  gaps <- faithful
  gaps$waiting[c(3, 7)] <- NA
  expect_says(tvb_mix(~ eruptions + waiting, gaps), "trustvb_data_error", "2 cells are missing", "row 3", "na.action = na.omit")
  expect_says(tvb_mix(~ eruptions + waiting, gaps, na.action = na.fail), "trustvb_data_error", "na.omit")
  fit <- tvb_mix(~ eruptions + waiting, gaps, na.action = na.omit, bootstraps = 0)
  expect_equal(nobs(fit), 270)
  gaps$group <- c(NA, rep_len(c("a", "b", "c"), 271))
  expect_says(tvb_reg(eruptions ~ 1 | group, gaps), "trustvb_data_error", "group", "row 1")
  # Latent classes take gaps as they are.
  expect_equal(nobs(tvb_lca(~ eruptions + waiting, gaps, bootstraps = 0)), 272)
})

test_that("options are checked before any work is done", {
  expect_says(tvb_mix(~ ., faithful, k = 1.5), "trustvb_options_error", "`k`", "whole number")
  expect_says(tvb_mix(~ ., faithful, k = 500), "trustvb_data_error", "272 rows for 500 components", "`k`")
  expect_says(tvb_mix(~ ., faithful, prior = "mine"), "trustvb_options_error", "\"default\"")
  expect_says(tvb_mix(~ ., faithful, prior = list(nonsense = 1)), "trustvb_options_error", "nonsense")
  expect_says(tvb_mix(~ ., faithful, control = list(sweeps = 1)), "trustvb_options_error", "`sweeps`")
  expect_says(tvb_mix(~ ., faithful, method = "best"), "trustvb_options_error", "best", "recommended")
  expect_says(tvb_mix(~ ., faithful, start = matrix(0, 3, 2)), "trustvb_options_error", "3 components", "k = 2")
  expect_says(tvb_lca(~ ., faithful, types = c(waiting = "ordinal")), "trustvb_options_error", "ordinal", "count")
  expect_says(tvb_mix(~ ., list(1)), "trustvb_data_error", "data frame")
  expect_says(tvb_mix(~ ., faithful, covariance = "round"), "trustvb_options_error", "\"spherical\"", "not \"round\"")
  expect_says(tvb_mix(~ ., faithful, covariance = "tied", prior = "paper"), "trustvb_options_error", "prior = \"paper\"")
  expect_says(tvb_select(~ ., faithful, k = 0), "trustvb_options_error", "1:8")
  expect_says(tvb_select(~ ., faithful, k = 200), "trustvb_options_error", "272")
  expect_says(tvb_select(~ ., faithful, criterion = "aic"), "trustvb_options_error", "\"bic\"")
})

test_that("questions that have no answer say why", {
  fit <- tvb_mix(~ ., faithful, bootstraps = 20)
  expect_says(confint(fit, "mu[3,1]"), "trustvb_quantity_error", "mu[3,1]")
  expect_says(confint(fit, 99), "trustvb_quantity_error", "1 to 6")
  expect_says(confint(fit, level = 2), "trustvb_quantity_error", "between 0 and 1")
  expect_says(confint(fit, function(draws) 1:3), "trustvb_quantity_error", "a number for each draw")
  expect_says(confint(fit, TRUE), "trustvb_quantity_error", "parm")
  # An error of the user's own function is theirs, class and all.
  mine <- structure(class = c("mine", "error", "condition"), list(message = "my own", call = NULL))
  expect_error(confint(fit, function(draws) stop(mine)), class = "mine")
  # And the fit can still be asked.
  expect_equal(dim(suppressWarnings(confint(fit))), c(6, 2))
})

test_that("warnings come once for each fit", {
  fit <- tvb_mix(~ ., faithful, bootstraps = 20)
  expect_warning(confint(fit), "only 20 bootstraps", class = "trustvb_warning")
  expect_no_warning(confint(fit))
})

# Interrupts this R after a second, as Ctrl-C does, and gives what was heard.
interrupted <- function(code) {
  command <- sprintf("sleep 1; kill -INT %d", Sys.getpid())
  system2("sh", c("-c", shQuote(command)), wait = FALSE)
  tryCatch(code, interrupt = identity)
}

test_that("an interrupted build ends soon, in a condition, and R goes on", {
  skip_on_os("windows")
  overlap <- read_exactly("overlap.csv")
  heard <- interrupted(tvb_mix(~ x1 + x2, overlap, k = 6, bootstraps = 1e5))
  expect_s3_class(heard, "trustvb_interrupted")
  expect_match(conditionMessage(heard), "nothing of them is kept")
  expect_equal(nobs(tvb_mix(~ ., faithful, bootstraps = 0)), 272)
  heard <- interrupted(tvb_select(~ x1 + x2, overlap, k = 1:200))
  expect_s3_class(heard, "trustvb_interrupted")
  expect_match(conditionMessage(heard), "before there was an answer")
})

test_that("progress is shown when it is asked for", {
  overlap <- read_exactly("overlap.csv")
  said <- function(progress) {
    utils::capture.output(
      fit <- tvb_mix(~ x1 + x2, overlap, bootstraps = 1e5, threads = 1, progress = progress), type = "message"
    )
  }
  expect_match(paste(said(TRUE), collapse = ""), "fitting resamples: [0-9]+ of 100001")
  expect_identical(said(FALSE), character())
})
