# BIC and ICL of mclust for Old Faithful and iris, for crates/trustvb/tests/select.rs. From the root of the repository:
#
#     Rscript scripts/reference/mclust_criteria.R > crates/trustvb/tests/fixtures/mclust_criteria.csv
#
# mclust's criteria are ours with the sign turned round. VVV is full, EEE tied, VVI diagonal and VII spherical.
suppressMessages(library(mclust))
shapes <- c(VVV = "full", EEE = "tied", VVI = "diagonal", VII = "spherical")
files <- c("crates/trustvb/data/faithful.csv", "crates/trustvb/tests/fixtures/iris.csv")
cat("csv,components,covariance,bic,icl\n")
for (file in files) {
  rows <- read.csv(file)
  bic <- mclustBIC(rows, G = 1:4, modelNames = names(shapes))
  icl <- mclustICL(rows, G = 1:4, modelNames = names(shapes))
  for (shape in names(shapes)) for (k in 1:4)
    cat(basename(file), k, shapes[[shape]], sprintf("%.6f", -bic[k, shape]), sprintf("%.6f\n", -icl[k, shape]), sep = ",")
}
