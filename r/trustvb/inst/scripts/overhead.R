# Seconds of CPU that the same table takes by the command and from R.
#
#   TRUSTVB_COMMAND=path/to/trustvb Rscript inst/scripts/overhead.R [repetitions]
#
# 3000 bootstraps of overlap.csv on one thread, and the intervals of all quantities by the recommended method and VB.

library(trustvb)

command <- Sys.getenv("TRUSTVB_COMMAND")
if (command == "") stop("TRUSTVB_COMMAND is not set: it is the path of the `trustvb` to compare with")
arguments <- commandArgs(trailingOnly = TRUE)
repetitions <- if (length(arguments) > 0) as.integer(arguments[1]) else 5L

file <- system.file("extdata", "overlap.csv", package = "trustvb")
options <- c("calibrate", file, "--method", "recommended,vb", "-B", "3000", "--threads", "1", "--format", "json", "--quiet")

by_command <- function() {
  time <- system.time(system2(command, shQuote(options), stdout = FALSE))
  time[["user.child"]] + time[["sys.child"]]
}

by_r <- function() {
  time <- system.time({
    fit <- tvb_mix(~ x1 + x2, read.csv(file), bootstraps = 3000, threads = 1, progress = FALSE)
    tvb_intervals(fit)
  })
  time[["user.self"]] + time[["sys.self"]]
}

seconds <- replicate(repetitions, c(command = by_command(), R = by_r()))
print(round(rbind(seconds, ratio = seconds["R", ] / seconds["command", ]), 3))
cat("median ratio:", round(median(seconds["R", ] / seconds["command", ]), 3), "\n")
