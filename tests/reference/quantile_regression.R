# Reference values for tests/reference/test_quantile_regression.py, by R's quantreg:
#   Rscript tests/reference/quantile_regression.R > tests/reference/quantile_regression.json
# Needs quantreg and jsonlite (Debian: r-cran-quantreg, r-cran-jsonlite).
suppressMessages({library(quantreg); library(jsonlite)})
set.seed(20150416)
cases <- list()
for (n in c(23, 61, 150)) {
  p <- if (n == 23) 2 else 4
  x <- cbind(1, matrix(round(rnorm(n * (p - 1)), 3), n))
  y <- round(drop(x %*% seq_len(p)) + (1 + abs(x[, 2])) * rt(n, 3), 4)
  for (tau in c(0.1, 0.25, 0.5, 0.9)) {
    if (n == 23 && tau %in% c(0.1, 0.9)) next
    iid <- rq.fit.br(x, y, tau = tau, alpha = 0.05, ci = TRUE)$coef
    nid <- suppressWarnings(rq.fit.br(x, y, tau = tau, alpha = 0.05, ci = TRUE, iid = FALSE))$coef
    fit <- rq(y ~ x - 1, tau = tau)
    sandwich <- suppressWarnings(summary(fit, se = "nid"))$coefficients[, 2]
    cases[[length(cases) + 1]] <- list(
      tau = tau, x = x, y = y, coefficients = iid[, 1], iid = iid[, 2:3], nid = nid[, 2:3],
      sandwich = sandwich, r1 = 1 - fit$rho / rq(y ~ 1, tau = tau)$rho)
  }
}
cat(toJSON(list(version = as.character(packageVersion("quantreg")), cases = cases),
           digits = NA, auto_unbox = TRUE), "\n")
