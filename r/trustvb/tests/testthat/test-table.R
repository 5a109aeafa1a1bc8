# Tables in folders: the command's files, whoever made them.

scratch <- function() tempfile(fileext = ".tvb")

few <- c("-B", "20", "--grid", "8")

test_that("the files are those of `trustvb table build`, to the last bit", {
  expect_same_tables <- function(ours, ...) {
    theirs <- scratch()
    trustvb_lines("table", "build", ..., few, "-o", theirs, "--quiet")
    said <- trustvb_lines("table", "diff", ours, theirs)
    expect_match(said[1], "identical")
  }
  control <- list(grid = 8)
  path <- scratch()
  tvb_table(tvb_mix(~ eruptions + waiting, faithful, bootstraps = 20, control = control), path)
  expect_same_tables(path)
  data <- read_exactly("bmlr_small.csv")
  path <- scratch()
  tvb_table(tvb_reg(y ~ 0 + x1 + x2 | group, data, bootstraps = 20, control = control), path)
  expect_same_tables(path, extdata("bmlr_small.csv"), "--formula", "y ~ 0 + x1 + x2 | group")
})

test_that("a table of the command answers as `trustvb interval` does", {
  theirs <- scratch()
  # Fits below omega = 1 are made for those that ask for them.
  trustvb_lines("table", "build", extdata("overlap.csv"), few, "--method", "recommended,vb,tempered,gpc,tvb", "-o", theirs,
                "--quiet")
  table <- read_table(theirs)
  expect_s3_class(table, c("tvb_table", "tvb_gmm", "tvb"), exact = TRUE)
  expect_same_bits(tvb_intervals(table), trustvb_json("interval", theirs)$intervals)
  asked <- c("pi[1]", "mu[1,x1] - mu[2,x1]")
  methods <- c("recommended", "tempered", "gpc", "jackknife", "vb")
  answers <- tvb_intervals(table, asked, level = c(0.5, 0.9), method = methods)
  expect_same_bits(answers, trustvb_json("interval", theirs, asked, "--level", "0.5,0.9", "--method",
                                         paste(methods, collapse = ","))$intervals)
  limits <- suppressWarnings(confint(table, asked, level = 0.9))
  expect_identical(unname(limits[, 1]), answers$lower[answers$recommended & answers$level == 0.9])
  # Functions of draws, and the data that are with it.
  gap <- suppressWarnings(confint(table, function(d) d$mu[, 1, "x1"] - d$mu[, 2, "x1"], level = 0.9))
  expect_equal(unname(gap[1, ]), unname(limits[2, ]))
  fit <- tvb_mix(~ x1 + x2, read_exactly("overlap.csv"), bootstraps = 0)
  expect_equal(predict(table), predict(fit))
  expect_equal(logLik(table), logLik(fit))
  row <- data.frame(x1 = 0, x2 = 1)
  expect_equal(predict(table, row, type = "prob"), predict(fit, row, type = "prob"))
})

test_that("a table is printed, summarised and tidied as a fit is", {
  path <- scratch()
  fit <- tvb_mix(~ eruptions + waiting, faithful, bootstraps = 60)
  table <- tvb_table(fit, path, method = c("recommended", "vb"))
  ours <- utils::capture.output(print(table))
  expect_identical(ours[-1], utils::capture.output(print(fit))[-1])
  expect_match(ours[1], "272 rows, mixture of 2 Gaussians", fixed = TRUE)
  said <- utils::capture.output(print(summary(table)))
  expect_true(any(grepl("61 fits: 60 full bootstraps, at omega = 1, seed 1; the data are included", said, fixed = TRUE)))
  expect_identical(coef(table), coef(fit))
  expect_identical(vcov(table), vcov(fit))
  skip_if_not_installed("generics")
  expect_equal(generics::tidy(table), generics::tidy(fit))
  expect_equal(generics::glance(table), generics::glance(fit))
})

test_that("a build that was cut short is completed, and nothing is made twice", {
  path <- scratch()
  fit <- tvb_mix(~ eruptions + waiting, faithful, bootstraps = 0)
  whole <- suppressWarnings(tvb_intervals(tvb_table(fit, path, method = "recommended", bootstraps = 60)))
  parts <- list.files(file.path(path, "parts"), full.names = TRUE)
  expect_length(parts, 4)
  kept <- file.mtime(parts[-2])
  unlink(parts[2])
  half <- read_table(path)
  expect_lt(half$about$bootstraps, 60)
  expect_warning(confint(half), "of 60 resamples are in the table; call tvb_table() again", fixed = TRUE)
  again <- tvb_table(fit, path, method = "recommended", bootstraps = 60)
  expect_identical(tvb_intervals(again), whole)
  expect_identical(file.mtime(parts[-2]), kept)
})

test_that("an interrupted build goes on where it stopped", {
  skip_on_os("windows")
  path <- scratch()
  fit <- tvb_mix(~ x1 + x2, read_exactly("overlap.csv"), k = 3, bootstraps = 0, control = list(grid = 30))
  command <- sprintf("sleep 1; kill -INT %d", Sys.getpid())
  system2("sh", c("-c", shQuote(command)), wait = FALSE)
  heard <- tryCatch(tvb_table(fit, path, bootstraps = 20000), interrupt = identity)
  expect_s3_class(heard, "trustvb_interrupted")
  expect_match(conditionMessage(heard), "the same call goes on from there")
  expect_match(conditionMessage(heard), basename(path), fixed = TRUE)
  expect_true(file.exists(file.path(path, "manifest.json")))
})

test_that("what is no table, is damaged or is another's says so", {
  expect_says <- function(code, class, ...) {
    error <- tryCatch(code, trustvb_error = identity)
    expect_s3_class(error, class)
    for (fragment in c(...)) expect_match(conditionMessage(error), fragment, fixed = TRUE)
  }
  expect_says(read_table(tempfile()), "trustvb_table_error", "tvb_table()")
  expect_says(read_table(1), "trustvb_options_error", "folder")
  path <- scratch()
  fit <- tvb_mix(~ eruptions + waiting, faithful, bootstraps = 0)
  expect_says(tvb_table(faithful, path), "trustvb_options_error", "tvb_mix()")
  table <- tvb_table(fit, path, method = "recommended", bootstraps = 30, keep_data = FALSE)
  expect_says(tvb_table(fit, path, method = "recommended", bootstraps = 40), "trustvb_table_error", "other settings",
              "30", "40")
  expect_says(tvb_intervals(table, method = "tvb"), "trustvb_quantity_error", "build the table with this method")
  expect_says(tvb_intervals(table, method = "jackknife"), "trustvb_quantity_error", "keep_data = TRUE")
  expect_says(predict(table), "trustvb_data_error", "keep_data = TRUE")
  part <- list.files(file.path(path, "parts"), full.names = TRUE)[1]
  bytes <- readBin(part, "raw", file.size(part))
  # Among the numbers, which come first.
  bytes[1000] <- xor(bytes[1000], as.raw(255))
  writeBin(bytes, part)
  expect_says(read_table(path), "trustvb_table_error", "damaged", "tvb_table()")
})

test_that("a table that was saved with an R object is opened again", {
  path <- scratch()
  table <- tvb_table(tvb_mix(~ waiting, faithful, bootstraps = 40), path, method = "recommended")
  file <- tempfile(fileext = ".rds")
  saveRDS(table, file)
  expect_identical(tvb_intervals(readRDS(file)), tvb_intervals(table))
})

test_that("regressions and latent classes are read, too", {
  path <- scratch()
  data <- read_exactly("bmlr_small.csv")
  fit <- tvb_reg(y ~ 0 + x1 + x2 | group, data, bootstraps = 20)
  table <- tvb_table(fit, path, method = "recommended")
  expect_identical(predict(table), predict(fit))
  expect_equal(predict(table, data[1:9, ], type = "response"), predict(fit, data[1:9, ], type = "response"))
  path <- scratch()
  fit <- tvb_lca(~ Petal.Length + Species, iris, k = 3, bootstraps = 20)
  table <- tvb_table(fit, path, method = "recommended")
  expect_equal(predict(table, iris), predict(fit, iris))
  expect_equal(logLik(table), logLik(fit))
})
