# What a fit says, against what is known without it.

test_that("the species of iris are found", {
  measures <- iris[1:4]
  fit <- tvb_mix(~ ., measures, k = 3, bootstraps = 0)
  counts <- table(predict(fit), iris$Species)
  # As everyone's Gaussian mixture does: all but five flowers.
  expect_gte(sum(apply(counts, 1, max)), 145)
  expect_equal(sum(predict(fit, type = "prob")), 150)
})

test_that("probabilities and likelihood are those of the densities", {
  fit <- tvb_mix(~ eruptions + waiting, faithful, bootstraps = 0)
  expect_equal(predict(fit, faithful, type = "prob"), predict(fit, type = "prob"))
  # The maximum of the likelihood is known (mclust, model VVV); a posterior mean is near it, and never above.
  expect_lt(as.double(logLik(fit)), -1130.26)
  expect_gt(as.double(logLik(fit)), -1131)
  expect_equal(attr(logLik(fit), "df"), 11)
})

test_that("covariances from bootstraps agree with VB's where VB is right", {
  fit <- tvb_mix(~ eruptions + waiting, faithful)
  ratio <- sqrt(diag(vcov(fit)) / diag(vcov(fit, type = "vb")))
  expect_true(all(ratio > 0.85 & ratio < 1.15))
  expect_equal(colnames(vcov(fit)), names(coef(fit)))
})

test_that("functions of draws are quantities", {
  fit <- tvb_mix(~ eruptions + waiting, faithful, bootstraps = 100)
  asked <- list("mu[1,waiting] - mu[2,waiting]", gap = function(d) d$mu[, 1, "waiting"] - d$mu[, 2, "waiting"])
  both <- suppressWarnings(confint(fit, asked))
  expect_equal(rownames(both), c("mu[1,waiting] - mu[2,waiting]", "gap"))
  expect_equal(both[1, ], both[2, ])
})

test_that("start values come from matrices, mclust and flexmix", {
  usual <- tvb_mix(~ eruptions + waiting, faithful, bootstraps = 0)
  given <- tvb_mix(~ eruptions + waiting, faithful, bootstraps = 0, start = rbind(c(4, 80), c(2, 54)))
  expect_equal(coef(given), coef(usual), tolerance = 1e-6)
  skip_if_not_installed("mclust")
  suppressPackageStartupMessages(library(mclust))
  # Columns are taken by name, in whatever order.
  clusters <- mclust::Mclust(faithful, G = 2, modelNames = "VVV", verbose = FALSE)
  turned <- tvb_mix(~ waiting + eruptions, faithful, bootstraps = 0, start = clusters)
  expect_equal(coef(turned)[names(coef(usual))], coef(usual), tolerance = 1e-6)
  skip_if_not_installed("flexmix")
  data <- read_exactly("bmlr_small.csv")
  set.seed(1)
  mixed <- flexmix::flexmix(y ~ 0 + x1 + x2 | group, data = data, k = 2)
  ours <- tvb_reg(y ~ 0 + x1 + x2 | group, data, bootstraps = 0)
  from <- tvb_reg(y ~ 0 + x1 + x2 | group, data, bootstraps = 0, start = mixed)
  expect_equal(coef(from), coef(ours), tolerance = 1e-6)
})

test_that("regressions predict, and agree with flexmix", {
  data <- read_exactly("bmlr_small.csv")
  fit <- tvb_reg(y ~ 0 + x1 + x2 | group, data, bootstraps = 0)
  weights <- coef(fit)[c("pi[1]", "pi[2]")]
  beta <- matrix(coef(fit)[3:6], 2, byrow = TRUE)
  expected <- as.vector(as.matrix(data[1:3, c("x1", "x2")]) %*% t(beta) %*% weights)
  expect_equal(predict(fit, data[1:3, c("x1", "x2")], type = "response"), expected)
  # Rows of a group belong together.
  classes <- predict(fit)
  expect_true(all(tapply(classes, data$group, function(one) length(unique(one))) == 1))
  skip_if_not_installed("flexmix")
  set.seed(1)
  mixed <- flexmix::flexmix(y ~ 0 + x1 + x2 | group, data = data, k = 2)
  theirs <- flexmix::clusters(mixed)
  expect_true(max(mean(theirs == classes), mean(theirs != classes)) > 0.99)
})

test_that("formulas have R's ways", {
  fit <- tvb_reg(Sepal.Length ~ . - Species - Petal.Width, iris, bootstraps = 0)
  expect_equal(fit$about$coordinates, c("(Intercept)", "Sepal.Width", "Petal.Length"))
  expect_equal(nrow(simulate(fit)), 150)
  logs <- tvb_mix(~ log(eruptions) + waiting, faithful, bootstraps = 0)
  expect_equal(fit$about$n_units, 150)
  expect_equal(logs$about$coordinates, c("log(eruptions)", "waiting"))
  expect_equal(predict(logs, faithful[1:5, ]), predict(logs)[1:5])
  # One component is a Gaussian: its mean is the data's.
  one <- tvb_mix(~ waiting, faithful, k = 1, bootstraps = 0)
  expect_equal(coef(one)[["mu[1,waiting]"]], mean(faithful$waiting), tolerance = 1e-3)
  gaps <- faithful
  gaps$waiting[3] <- NA
  kept <- tvb_mix(~ ., gaps, na.action = na.omit, bootstraps = 0)
  expect_equal(predict(kept, faithful[1:2, ]), predict(kept)[1:2])
})

test_that("simulated data are like the data", {
  fit <- tvb_mix(~ eruptions + waiting, faithful, bootstraps = 0)
  sets <- simulate(fit, nsim = 40, seed = 1)
  means <- rowMeans(vapply(sets, function(one) colMeans(one[1:2]), c(0, 0)))
  expect_equal(unname(means), unname(colMeans(faithful)), tolerance = 0.01)
  expect_identical(simulate(fit, seed = 2), simulate(fit, seed = 2))
  data <- read_exactly("bmlr_small.csv")
  regression <- tvb_reg(y ~ 0 + x1 + x2 | group, data, bootstraps = 0)
  expect_equal(stats::sd(simulate(regression, seed = 1)$.response), stats::sd(data$y), tolerance = 0.15)
  classes <- tvb_lca(~ Species + Petal.Length, iris, k = 3, bootstraps = 0)
  expect_setequal(levels(simulate(classes, seed = 1)$Species), levels(iris$Species))
})

test_that("a fit that was saved and read answers the same", {
  fit <- tvb_mix(~ eruptions + waiting, faithful, bootstraps = 50)
  file <- tempfile(fileext = ".rds")
  saveRDS(fit, file)
  expect_identical(tvb_intervals(readRDS(file)), tvb_intervals(fit))
})

test_that("generics and posterior are served", {
  fit <- tvb_mix(~ eruptions + waiting, faithful)
  skip_if_not_installed("generics")
  tidied <- generics::tidy(fit, conf.level = 0.9)
  expect_equal(tidied$conf.low, unname(confint(fit, level = 0.9)[, 1]))
  expect_equal(generics::glance(fit)$nobs, 272)
  expect_equal(generics::augment(fit)$.class, predict(fit))
  skip_if_not_installed("posterior")
  draws <- posterior::as_draws(fit, n = 4000)
  expect_equal(colMeans(draws), coef(fit), tolerance = 0.01)
})

test_that("shapes of covariances constrain them, and draws say so", {
  for (shape in c("full", "tied", "diagonal", "spherical")) {
    fit <- tvb_mix(~ eruptions + waiting, faithful, covariance = shape, bootstraps = 20)
    draws <- NULL
    suppressWarnings(confint(fit, function(d) {
      draws <<- d
      d$mu[, 1, "waiting"]
    }))
    expect_equal(dim(draws$sigma)[2:4], c(2, 2, 2))
    same <- c(draws$sigma[, 1, , ]) == c(draws$sigma[, 2, , ])
    expect_equal(all(same), shape == "tied")
    expect_equal(all(draws$sigma[, , 1, 2] == 0), shape %in% c("diagonal", "spherical"))
    expect_equal(all(draws$sigma[, , 1, 1] == draws$sigma[, , 2, 2]), shape == "spherical")
    expect_equal(nrow(simulate(fit, seed = 1)), 272)
    expect_equal(predict(fit, faithful), predict(fit))
  }
})

test_that("each shape has the likelihood and the free numbers of mclust's model", {
  skip_if_not_installed("mclust")
  suppressPackageStartupMessages(library(mclust))
  names <- c(full = "VVV", tied = "EEE", diagonal = "VVI", spherical = "VII")
  for (shape in names(names)) {
    theirs <- mclust::Mclust(faithful, G = 2, modelNames = names[[shape]], verbose = FALSE)
    ours <- logLik(tvb_mix(~ eruptions + waiting, faithful, covariance = shape, bootstraps = 0))
    expect_equal(attr(ours, "df"), theirs$df)
    # A posterior mean is near the maximum of the likelihood, and never above it.
    expect_lt(as.double(ours), theirs$loglik + 1e-3)
    expect_gt(as.double(ours), theirs$loglik - 3)
  }
})

test_that("numbers of components and shapes are chosen for Old Faithful", {
  choice <- tvb_select(~ eruptions + waiting, faithful, k = 1:4)
  expect_equal(c(choice$k, choice$covariance, choice$criterion), c("3", "tied", "evidence"))
  expect_output(print(choice), "Recommended: 3 components, tied covariances")
  expect_equal(tvb_select(~ eruptions + waiting, faithful, k = 1:4, covariance = "full")$k, 2)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_invisible(plot(choice))
  classes <- tvb_select(~ Petal.Length + Species, iris, k = 1:4, model = "lca")
  expect_equal(classes$k, 3)
  expect_null(classes$covariance)
})

test_that("figures are drawn", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  fit <- tvb_mix(~ eruptions + waiting, faithful)
  for (which in c("clusters", "forest", "density", "coverage")) expect_invisible(plot(fit, which))
  expect_invisible(plot(tvb_mix(~ waiting, faithful, bootstraps = 0)))
  expect_invisible(plot(tvb_reg(eruptions ~ waiting, faithful, bootstraps = 0)))
  expect_invisible(plot(tvb_lca(~ Species + Petal.Length, iris, bootstraps = 0)))
})
