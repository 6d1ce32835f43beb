# Makes correlations.json: Pearson's and Spearman's coefficients with their tests, by R itself.
# Rscript tests/reference/correlations.R > tests/reference/correlations.json
set.seed(4)
x <- rpois(15, 40)
y <- 1 + 0.01 * x + rnorm(15, 0, 0.1)
p <- cor.test(x, y)
s <- suppressWarnings(cor.test(x, y, method = "spearman", exact = FALSE))
# Student's p of a coefficient that is less by half a step, and that of perfect order by enumeration.
n <- length(x)
less <- abs(s$estimate) - 6 / (n^3 - n)
rank_p <- 2 * pt(-less * sqrt((n - 2) / (1 - less^2)), n - 2)
perfect_p <- cor.test(1:6, 1:6, method = "spearman", exact = TRUE)$p.value
values <- c(0.001, 0.02, 0.03, 0.6)
cat(sprintf(paste0('{"x": [%s], "y": [%s], "r": %.12f, "low": %.12f, "high": %.12f, "p": %.12f,\n',
  ' "rho": %.12f, "rank_p": %.12f, "perfect_p": %.12f, "holm": [%s]}\n'),
  paste(x, collapse = ", "), paste(sprintf("%.12f", y), collapse = ", "),
  p$estimate, p$conf.int[1], p$conf.int[2], p$p.value, s$estimate, rank_p, perfect_p,
  paste(sprintf("%.12f", p.adjust(values, "holm")), collapse = ", ")))
