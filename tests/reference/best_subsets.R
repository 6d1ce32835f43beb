# Best subsets of each size, adjusted R² and Mallows' Cp by R's package leaps, for 50 random tables.
# Rscript tests/reference/best_subsets.R > tests/reference/best_subsets.json
# The tables are drawn here with a fixed seed and stored with their answers.
suppressMessages({library(leaps); library(jsonlite)})
set.seed(7)
cases <- lapply(seq_len(50), function(case) {
  n <- sample(12:30, 1); p <- sample(3:10, 1)
  shared <- rnorm(n) * runif(1, 0, 2)
  x <- matrix(round(rnorm(n * p) + shared, 6), n, p)
  y <- round(as.vector(x %*% (rnorm(p) * rbinom(p, 1, 0.5))) + rnorm(n) * runif(1, 0.1, 2), 6)
  found <- summary(regsubsets(x, y, nbest = 1, nvmax = p, method = "exhaustive"))
  members <- lapply(seq_len(p), function(size) as.integer(which(found$which[size, -1])) - 1L)
  list(x = x, y = y, rss = found$rss, adjusted_r_squared = found$adjr2, mallows_cp = found$cp,
       subsets = members)
})
version <- paste("R", getRversion(), "leaps", packageVersion("leaps"))
cat(toJSON(list(source = version, cases = cases), digits = 12, auto_unbox = FALSE), "\n")
