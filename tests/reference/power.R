# power.t.test and power.anova.test of R, for tests/reference/test_power.py:
#   Rscript tests/reference/power.R
for (d in c(0.5, 1, 2)) cat(sprintf("%.12f ", power.t.test(n = 12, delta = d, sd = 1.3, strict = TRUE)$power))
cat("\n")
for (d in c(0.5, 1, 2)) cat(sprintf("%.12f ", power.anova.test(groups = 4, n = 8, between.var = var(c(-d / 2, 0, 0, d / 2)), within.var = 1.3^2)$power))
cat("\n")
