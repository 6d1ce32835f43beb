# power.t.test of R, for tests/reference/test_power.py:
#   Rscript tests/reference/power.R
for (d in c(0.5, 1, 2)) cat(sprintf("%.12f ", power.t.test(n = 12, delta = d, sd = 1.3, strict = TRUE)$power))
cat("\n")
