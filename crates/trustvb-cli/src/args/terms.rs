//! `trustvb help terms`: the four words that answers use, in five lines each.

pub(super) const TERMS: &str = "\
What the words mean

ω (omega), the fraction
  VB is fitted with the likelihood raised to the power ω. ω = 1 is ordinary VB.
  A smaller ω trusts the data less and makes intervals longer. The paper's TVB
  looks for the ω whose intervals cover what they claim. The recommended
  interval needs none: it looks at how the estimate varies over resamples.

coverage
  How often an interval holds the true value, over data sets like yours. A 95%
  interval should do so 95 times in 100. The truth is not known, so coverage is
  estimated: \"VB covers\" is the share of resamples in which VB's interval holds
  the estimate from all data. With 500 resamples it is good to 1 or 2 points.

resample
  Your data drawn again at random: a bootstrap draws as many rows (or groups) as
  there are, with replacement. How much VB's estimate changes from one bootstrap
  to the next shows how uncertain it is. -B says how many are drawn. TVB draws
  them from one half of the data and checks them against the other half.

prior
  What is assumed of weights, means and spreads before the data are seen. The
  default is weak, and units of columns do not matter to it. Where a component
  has few rows, or ω is small, the prior decides more than the data do: then you
  are warned. --prior paper is the paper's; a TOML file sets its numbers.";
