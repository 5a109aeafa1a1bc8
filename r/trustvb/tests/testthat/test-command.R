# The same seed gives the same bits from R and from the command.

recommended <- function(answers) Filter(function(one) one$recommended, answers)

expect_same_confint <- function(fit, theirs, ...) {
  ours <- suppressWarnings(confint(fit, ...), classes = "trustvb_warning")
  theirs <- recommended(theirs)
  expect_identical(unname(ours[, 1]), numbers_of(theirs, "lower"))
  expect_identical(unname(ours[, 2]), numbers_of(theirs, "upper"))
  expect_identical(unname(coef(fit)), numbers_of(theirs, "estimate"))
}

test_that("confint() is the command's on Old Faithful", {
  theirs <- command_json()
  fit <- tvb_mix(~ eruptions + waiting, data = faithful, k = 2)
  expect_same_confint(fit, theirs)
  # As it is asked by default, and with the paper's method, which needs another table.
  expect_same_bits(tvb_intervals(fit, method = c("recommended", "vb", "tvb")), theirs)
})

test_that("confint() is the command's on overlapping clusters", {
  overlap <- read_exactly("overlap.csv")
  fit <- tvb_mix(~ x1 + x2, data = overlap, k = 2)
  expect_same_confint(fit, command_json(extdata("overlap.csv")))
})

test_that("confint() is the command's on the regression", {
  data <- read_exactly("bmlr_small.csv")
  fit <- tvb_reg(y ~ 0 + x1 + x2 | group, data = data, k = 2)
  theirs <- command_json(extdata("bmlr_small.csv"), "--formula", "y ~ 0 + x1 + x2 | group")
  expect_same_confint(fit, theirs)
})

test_that("latent classes are the command's", {
  file <- tempfile(fileext = ".csv")
  utils::write.csv(iris, file, row.names = FALSE)
  options <- c("--model", "mixture", "-k", "3", "-B", "60")
  fit <- tvb_lca(~ ., data = iris, k = 3, bootstraps = 60)
  expect_same_confint(fit, command_json(file, options))
})

test_that("every method is the command's, for quantities of one's own at several levels", {
  overlap <- read_exactly("overlap.csv")
  asked <- c("pi[1]", "mu[1,x1] - mu[2,x1]", "cor[1,1,2]", "logit(pi[1])")
  methods <- c("recommended", "vb", "tempered", "tvb", "tvb-sequential", "gpc", "anchored", "analytic", "jackknife",
               "bootstrap")
  theirs <- command_json(extdata("overlap.csv"), asked, "--method", paste(methods, collapse = ","), "--level",
                         "0.5,0.95", "--grid", "15", "-B", "40", "--omega-min", "0.01", "--seed", "20261115")
  fit <- tvb_mix(~ x1 + x2, overlap, bootstraps = 40, seed = 20261115, control = list(grid = 15, omega_min = 0.01))
  expect_same_bits(tvb_intervals(fit, asked, level = c(0.5, 0.95), method = methods), theirs)
})

test_that("the number of threads changes nothing", {
  one <- tvb_mix(~ eruptions + waiting, faithful, bootstraps = 50, threads = 1)
  two <- tvb_mix(~ eruptions + waiting, faithful, bootstraps = 50, threads = 2)
  expect_identical(tvb_intervals(one), tvb_intervals(two))
})

# The verdict and every row, whatever the spaces between; the command's rows go on with the paper's intervals.
expect_same_table <- function(fit, theirs) {
  squeeze <- function(lines) gsub(" +", " ", lines)
  ours <- utils::capture.output(print(fit))
  gap <- which(ours == "")[1]
  verdict <- squeeze(paste(ours[2:(gap - 1)], collapse = " "))
  expect_match(squeeze(paste(theirs, collapse = " ")), verdict, fixed = TRUE)
  rows <- squeeze(ours[-seq_len(gap + 2)])
  expect_length(rows, length(coef(fit)))
  for (row in rows) expect_true(any(startsWith(squeeze(theirs), row)), info = row)
}

test_that("the print is the command's table: a verdict, and a row for each quantity", {
  expect_same_table(tvb_mix(~ ., faithful), command_lines())
  overlap <- read_exactly("overlap.csv")
  expect_same_table(tvb_mix(~ ., overlap), command_lines(extdata("overlap.csv")))
  data <- read_exactly("bmlr_small.csv")
  formula <- c("--formula", "y ~ 0 + x1 + x2 | group")
  expect_same_table(tvb_reg(y ~ 0 + x1 + x2 | group, data), command_lines(extdata("bmlr_small.csv"), formula))
})

test_that("the verdict is the command's, however few the bootstraps are", {
  overlap <- read_exactly("overlap.csv")
  for (bootstraps in c("12", "60", "250")) {
    asked <- c(extdata("overlap.csv"), "-B", bootstraps, "--method", "recommended,vb")
    theirs <- Filter(function(one) one$method == "vb", command_json(asked))
    fit <- tvb_mix(~ x1 + x2, overlap, bootstraps = as.numeric(bootstraps))
    ours <- suppressWarnings(tvb_intervals(fit))
    expect_identical(ours$verdict[ours$method == "vb"], texts_of(theirs, "verdict"))
    expect_true(all(is.na(ours$verdict[ours$method != "vb"])))
    shown <- utils::capture.output(print(fit))
    said <- paste(shown[2:(which(shown == "")[1] - 1)], collapse = " ")
    lines <- paste(command_lines(extdata("overlap.csv"), "-B", bootstraps), collapse = " ")
    expect_match(gsub(" +", " ", lines), gsub(" +", " ", said), fixed = TRUE)
  }
  # The only weight is a point, which nothing misses: that says nothing.
  one <- tvb_intervals(tvb_mix(~ x1 + x2, overlap, k = 1, bootstraps = 60))
  expect_identical(one$verdict[one$method == "vb" & one$label == "pi[1]"], "VB was not checked")
})

test_that("rows, verdicts and flags of the shared questions are the command's", {
  questions <- jsonlite::fromJSON(extdata("doors.json"), simplifyVector = FALSE)
  levels <- unlist(questions$levels)
  for (case in questions$cases) for (bootstraps in unlist(questions$bootstraps)) {
    data <- read_exactly(case$data)
    asked <- unlist(case$asked)
    options <- c("-k", case$components, "-B", bootstraps, "--method", "recommended,vb", "--level",
                 paste(levels, collapse = ","))
    if (is.null(case$formula)) {
      fit <- suppressWarnings(tvb_mix(~ ., data, k = case$components, bootstraps = bootstraps))
    } else {
      options <- c(options, "--formula", case$formula)
      fit <- suppressWarnings(tvb_reg(stats::as.formula(case$formula), data, k = case$components, bootstraps = bootstraps))
    }
    theirs <- command_json(extdata(case$data), asked, options)
    ours <- suppressWarnings(tvb_intervals(fit, asked, level = levels, method = c("recommended", "vb")))
    expect_same_bits(ours, theirs)
    is_vb <- ours$method == "vb"
    expect_identical(ours$verdict[is_vb], texts_of(Filter(function(one) one$method == "vb", theirs), "verdict"))
    expect_true(all(is.na(ours$verdict[!is_vb])))
  }
})

test_that("a column that the model does not fit is a flag and a warning", {
  data <- data.frame(x = stats::qnorm(stats::ppoints(400)), y = stats::qlnorm(stats::ppoints(400)[c(2:400, 1)]))
  data <- data[order(sin(seq_len(400))), ]
  fit <- tvb_mix(~ y, data, k = 1, bootstraps = 200)
  expect_warning(confint(fit), "`y` in component 1 (a long tail above)", fixed = TRUE)
  expect_match(suppressWarnings(tvb_intervals(fit))$flags[1], "misfit")
})

test_that("every shape of covariance is the command's", {
  overlap <- read_exactly("overlap.csv")
  for (shape in c("tied", "diagonal", "spherical")) {
    theirs <- command_json(extdata("overlap.csv"), "--covariance", shape, "-B", "30", "--method", "recommended,vb")
    fit <- tvb_mix(~ x1 + x2, overlap, covariance = shape, bootstraps = 30)
    expect_same_bits(tvb_intervals(fit), theirs)
  }
})

test_that("the comparison of models is the command's", {
  overlap <- read_exactly("overlap.csv")
  expect_same_choice <- function(ours, theirs) {
    candidates <- theirs$candidates
    for (name in c("components", "free_parameters", "log_likelihood", "bic", "icl", "bound", "emptied")) {
      expect_identical(as.double(ours$candidates[[name]]), numbers_of(candidates, name), info = name)
    }
    expect_identical(ours$candidates$status, texts_of(candidates, "status"))
    expect_equal(ours$k, theirs$chosen$components)
    expect_identical(ours$covariance, theirs$chosen$covariance)
    expect_identical(ours$words, unlist(theirs$words))
    expect_identical(ours$margin, theirs$margin)
  }
  theirs <- trustvb_json("select", extdata("overlap.csv"), "-k", "1:3", "--covariance", "full,tied")
  expect_same_choice(tvb_select(~ x1 + x2, overlap, k = 1:3, covariance = c("full", "tied")), theirs)
  data <- read_exactly("bmlr_small.csv")
  theirs <- trustvb_json("select", extdata("bmlr_small.csv"), "-k", "1:3", "--formula", "y ~ 0 + x1 + x2 | group")
  expect_same_choice(tvb_select(y ~ 0 + x1 + x2 | group, data, k = 1:3), theirs)
})
