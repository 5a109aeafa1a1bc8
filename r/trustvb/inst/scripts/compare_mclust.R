# Intervals of trustvb beside those of mclust's bootstrap, on data whose truth is known: the numbers of the vignette.
#
#   Rscript inst/scripts/compare_mclust.R inst/extdata/mclust_comparison.csv [data sets]
#
# Each data set has 300 rows of two Gaussians with identity covariance and weight 0.65 at (0, 0), 0.35 at (2, 2). Both
# packages fit two components with full covariances and 500 bootstraps, on one thread.

library(mclust, quietly = TRUE)
library(trustvb)

arguments <- commandArgs(trailingOnly = TRUE)
file <- arguments[1]
sets <- if (length(arguments) > 1) as.integer(arguments[2]) else 200L
rows <- 300L
truth <- c(0.65, 0, 0, 2, 2)

simulate_one <- function(number) {
  set.seed(number)
  low <- runif(rows) < truth[1]
  data.frame(x1 = rnorm(rows), x2 = rnorm(rows)) + ifelse(low, 0, 2)
}

# Limits of the weight and the centre at the origin, then of the other centre; components told apart by their centres.
by_trustvb <- function(data) {
  fit <- tvb_mix(~ x1 + x2, data, k = 2, threads = 1, progress = FALSE)
  means <- matrix(coef(fit)[3:6], 2, byrow = TRUE)
  order <- order(rowSums(means))
  asked <- c(sprintf("pi[%d]", order[1]), sprintf("mu[%d,%d]", rep(order, each = 2), c(1, 2)))
  answers <- tvb_intervals(fit, asked, method = c("recommended", "vb"))
  list(
    `trustvb` = answers[answers$recommended, c("lower", "upper")],
    `VB's own` = answers[answers$method == "vb", c("lower", "upper")]
  )
}

by_mclust <- function(data) {
  fit <- Mclust(data, G = 2, modelNames = "VVV", verbose = FALSE)
  limits <- summary(MclustBootstrap(fit, nboot = 500, type = "bs", verbose = FALSE), what = "ci")
  order <- order(colSums(fit$parameters$mean))
  pro <- limits$pro[, order[1]]
  means <- lapply(order, function(k) limits$mean[, , k])
  data.frame(
    lower = c(pro[1], means[[1]][1, ], means[[2]][1, ]),
    upper = c(pro[2], means[[1]][2, ], means[[2]][2, ])
  )
}

# Seconds of CPU, which other work on the machine does not change much.
seconds <- function(expr) {
  spent <- function() sum(proc.time()[c("user.self", "sys.self")])
  began <- spent()
  value <- force(expr)
  list(value = value, seconds = spent() - began)
}

records <- list()
for (number in seq_len(sets)) {
  data <- simulate_one(number)
  ours <- seconds(by_trustvb(data))
  theirs <- seconds(tryCatch(by_mclust(data), error = function(error) NULL))
  found <- c(ours$value, list(`MclustBootstrap` = theirs$value))
  took <- c(ours$seconds, NA, theirs$seconds)
  for (i in seq_along(found)) {
    if (is.null(found[[i]])) next
    limits <- found[[i]]
    records[[length(records) + 1]] <- data.frame(
      set = number, by = names(found)[i], quantity = c("weight", "low x1", "low x2", "high x1", "high x2"),
      covers = as.integer(limits$lower <= truth & truth <= limits$upper), length = limits$upper - limits$lower,
      seconds = took[i]
    )
  }
}
records <- do.call(rbind, records)

summarise <- function(rows) {
  data.frame(
    by = rows$by[1], sets = length(unique(rows$set)), coverage_weight = mean(rows$covers[rows$quantity == "weight"]),
    coverage_means = mean(rows$covers[rows$quantity != "weight"]),
    length_weight = mean(rows$length[rows$quantity == "weight"]), length_means = mean(rows$length[rows$quantity != "weight"]),
    seconds = stats::median(rows$seconds)
  )
}
table <- do.call(rbind, lapply(split(records, factor(records$by, unique(records$by))), summarise))
write.csv(table, file, row.names = FALSE)
print(table, digits = 3, row.names = FALSE)
