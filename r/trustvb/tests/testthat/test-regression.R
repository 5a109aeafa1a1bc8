# Predictors of every kind, by R's own contrasts.

# Two regressions on a number, a factor of three levels, a text and a logical; groups of 10 rows.
trial <- local({
  set.seed(7)
  n <- 600
  doses <- c("low", "mid", "high")
  data <- data.frame(
    group = rep(seq_len(n / 10), each = 10), x = stats::rnorm(n), dose = factor(sample(doses, n, TRUE), doses),
    site = sample(c("A", "B"), n, TRUE), smoker = stats::runif(n) < 0.4
  )
  kind <- rep(c(1, 2), c(36, 24))[data$group]
  slope <- c(1, -1)[kind]
  mid <- c(0.5, 2)[kind]
  data$y <- 1 + slope * data$x + mid * (data$dose == "mid") - (data$dose == "high") + 0.3 * (data$site == "B") +
    0.2 * data$smoker + stats::rnorm(n, sd = 0.5)
  data$kind <- kind
  data
})

test_that("coefficients have the names that model.matrix() gives, and their values", {
  fit <- tvb_reg(y ~ x + dose + site + smoker | group, trial, bootstraps = 0)
  names <- colnames(stats::model.matrix(~ x + dose + site + smoker, trial))
  expect_identical(fit$about$coordinates, names)
  # Least squares on the rows of each kind, which the fit does not know.
  for (k in 1:2) {
    own <- trial[trial$kind == k, ]
    expected <- stats::coef(stats::lm(y ~ x + dose + site + smoker, own))
    ours <- coef(fit)[startsWith(names(coef(fit)), paste0("beta[", k, ","))]
    expect_equal(unname(ours), unname(expected), tolerance = 0.02)
  }
  expect_equal(predict(fit), trial$kind)
})

test_that("the numbers are those of dummies that one has coded oneself", {
  coded <- cbind(trial, dosemid = as.double(trial$dose == "mid"), dosehigh = as.double(trial$dose == "high"))
  by_hand <- tvb_reg(y ~ x + dosemid + dosehigh | group, coded, bootstraps = 40)
  by_r <- tvb_reg(y ~ x + dose | group, trial, bootstraps = 40)
  expect_identical(tvb_intervals(by_r), tvb_intervals(by_hand))
  limits <- suppressWarnings(confint(by_r, "beta[1,dosemid] - beta[2,dosemid]"))
  expect_true(limits[1, 1] < -1.5 && limits[1, 2] > -1.5)
})

test_that("contrasts, interactions and functions are R's", {
  helmert <- trial
  stats::contrasts(helmert$dose) <- stats::contr.helmert(3)
  fit <- tvb_reg(y ~ dose * x - 1 | group, helmert, bootstraps = 0)
  expect_identical(fit$about$coordinates, colnames(stats::model.matrix(~ dose * x - 1, helmert)))
  curve <- tvb_reg(y ~ poly(x, 2) + dose | group, trial, bootstraps = 0)
  rows <- trial[c(5, 300, 17), ]
  # poly() keeps the basis of the fit's own rows.
  expect_equal(predict(curve, rows, type = "response"), predict(curve, trial, type = "response")[c(5, 300, 17)])
  # And the same design from another side: a term that is the library's own too.
  one <- tvb_reg(y ~ x + I(x^2) | group, trial, bootstraps = 0)
  two <- tvb_reg(y ~ x + identity(x^2) | group, trial, bootstraps = 0)
  expect_equal(unname(coef(two)), unname(coef(one)))
})

test_that("new rows have the fit's levels", {
  fit <- tvb_reg(y ~ x + dose + smoker | group, trial, bootstraps = 0)
  expect_equal(predict(fit, trial), predict(fit))
  expect_equal(predict(fit, trial[1:4, ], type = "response"), predict(fit, trial, type = "response")[1:4])
  # One level alone, as text; without response and group.
  row <- data.frame(x = 0, dose = "mid", smoker = TRUE)
  weights <- coef(fit)[c("pi[1]", "pi[2]")]
  design <- c(1, 0, 1, 0, 1)
  beta <- matrix(coef(fit)[-(1:2)], 2, byrow = TRUE)
  expect_equal(predict(fit, row, type = "response"), sum(weights * (beta %*% design)))
  error <- tryCatch(predict(fit, data.frame(x = 0, dose = "none", smoker = TRUE), type = "response"), error = identity)
  expect_s3_class(error, "trustvb_data_error")
  expect_match(conditionMessage(error), "new level none", fixed = TRUE)
  error <- tryCatch(predict(fit, data.frame(x = 0), type = "response"), error = identity)
  expect_match(conditionMessage(error), "`newdata` has no column `dose`", fixed = TRUE)
  # A level that no row has is no column.
  fewer <- tvb_reg(y ~ dose | group, trial[trial$dose != "high", ], bootstraps = 0)
  expect_identical(fewer$about$coordinates, c("(Intercept)", "dosemid"))
})

test_that("formulas that cannot be say why", {
  expect_says <- function(code, class, ...) {
    error <- tryCatch(code, error = identity)
    expect_s3_class(error, class)
    for (fragment in c(...)) expect_match(conditionMessage(error), fragment, fixed = TRUE)
  }
  gaps <- trial
  gaps$dose[4] <- NA
  expect_says(tvb_reg(y ~ dose | group, gaps), "trustvb_data_error", "`dose` is missing in row 4", "na.omit")
  expect_equal(nobs(tvb_reg(y ~ dose | group, gaps, na.action = na.omit, bootstraps = 0)), 60)
  expect_says(tvb_reg(dose ~ x | group, trial), "trustvb_data_error", "`dose` is a factor", "a response is a number")
  expect_says(tvb_reg(site ~ x | group, trial), "trustvb_data_error", "`site` is text")
  expect_says(tvb_reg(y ~ lgo(x) | group, trial), "trustvb_formula_error", "lgo")
  expect_says(tvb_reg(y ~ x | group | site, trial), "trustvb_formula_error", "several bars")
  expect_says(tvb_reg(y ~ x | group:site, trial), "trustvb_formula_error", "one column")
  expect_says(tvb_reg(y ~ dose + offset(x) | group, trial), "trustvb_formula_error", "offset()")
  expect_says(tvb_reg(y ~ site | group, trial[trial$site == "A", ]), "trustvb_data_error", "one value only")
  # A factor and its own dummies.
  twice <- cbind(trial, mid = as.double(trial$dose == "mid"))
  expect_says(tvb_reg(y ~ dose + mid | group, twice), "trustvb_data_error", "collinear", "leave out one of these")
})

test_that("start values come from flexmix by name", {
  skip_if_not_installed("flexmix")
  set.seed(1)
  mixed <- flexmix::flexmix(y ~ x + dose | group, data = trial, k = 2)
  from <- tvb_reg(y ~ x + dose | group, trial, bootstraps = 0, start = mixed)
  ours <- tvb_reg(y ~ x + dose | group, trial, bootstraps = 0)
  expect_equal(coef(from), coef(ours), tolerance = 1e-6)
})

test_that("figures of regressions show factors and numbers", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  fit <- tvb_reg(y ~ x + dose + smoker | group, trial, bootstraps = 0)
  for (shown in c("x", "dose", "smoker")) expect_invisible(plot(fit, columns = shown))
})
