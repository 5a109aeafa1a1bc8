library(testthat)
library(trustvb)

test_check("trustvb")
