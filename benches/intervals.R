# Times intervals of R's mclust: a fit, then its bootstraps. Run by `cargo xtask bench`.
#
#     Rscript benches/intervals.R DATA.csv K BOOTSTRAPS SECONDS
#
# prints one line of JSON. Twenty bootstraps are tried first: if all of them would take longer than SECONDS, those twenty
# are taken times as many as make BOOTSTRAPS, and the line says so; otherwise all are made. What is quick is done three
# or eleven times, and the median counts.
# Times are elapsed ones, with R started and the data read. `failed` counts the resamples that mclust could not fit and
# drew again, of `tried`.
suppressMessages(library(mclust))

arguments <- commandArgs(trailingOnly = TRUE)
rows <- as.matrix(read.csv(arguments[1]))
k <- as.integer(arguments[2])
bootstraps <- as.integer(arguments[3])
limit <- as.numeric(arguments[4])
set.seed(1)

elapsed <- function(expression) system.time(expression)[["elapsed"]]
boot <- function(times) MclustBootstrap(fitted, nboot = times, type = "bs", verbose = FALSE)

turns <- function(seconds) if (seconds < 0.5) 11 else if (seconds < 3) 3 else 1

fit_seconds <- elapsed(fitted <- Mclust(rows, G = k, modelNames = "VVV", verbose = FALSE))
if (is.null(fitted)) {
  cat('{"fit": null}\n')
  quit()
}
if (turns(fit_seconds) > 1) {
  fit_seconds <- median(replicate(
    turns(fit_seconds), elapsed(Mclust(rows, G = k, modelNames = "VVV", verbose = FALSE))
  ))
}
few <- min(20, bootstraps)
seconds <- elapsed(made <- boot(few)) * bootstraps / few
scaled <- seconds > limit
if (!scaled) {
  seconds <- median(replicate(turns(seconds), elapsed(made <<- boot(bootstraps))))
}
tried <- made$nboot + made$nonfit
cat(sprintf(
  '{"fit": %.4f, "bootstraps": %.4f, "scaled": %s, "failed": %d, "tried": %d}\n',
  fit_seconds, seconds, if (scaled) "true" else "false", as.integer(made$nonfit), as.integer(tried)
))
