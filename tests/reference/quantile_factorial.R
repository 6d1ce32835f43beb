# Reference values for tests/reference/test_quantile_factorial.py, by R's quantreg:
#   Rscript tests/reference/quantile_factorial.R > tests/reference/quantile_factorial.json
# Needs quantreg (Debian: r-cran-quantreg). Factorial tables, where several planes are as good and
# the bounds of the inverted rank test depend on which of them are walked through.
suppressMessages(library(quantreg))
set.seed(11)
number <- function(x) { x[abs(x) > 1e300] <- NA
  paste0("[", paste(ifelse(is.na(x), "null", format(x, digits = 12, trim = TRUE)), collapse = ", "), "]") }
cases <- character(0)
for (reps in c(2, 3, 8)) for (k in c(2, 3)) {
  d <- expand.grid(rep(list(c(-1, 1)), k)); d <- d[rep(seq_len(nrow(d)), each = reps), , drop = FALSE]
  names(d) <- letters[1:k]
  y <- round(10 + d$a - 0.5 * d$b + rt(nrow(d), 3), 4)
  for (full in c(FALSE, TRUE)) {
    x <- model.matrix(as.formula(paste("~", paste(names(d), collapse = if (full) "*" else "+"))), d)
    for (tau in c(0.25, 0.5, 0.9)) {
      found <- suppressWarnings(rq.fit.br(x, y, tau = tau, alpha = 0.05, ci = TRUE))$coef
      rows <- apply(x, 1, number)
      cases <- c(cases, sprintf('{"tau": %g, "x": [%s],\n "y": %s,\n "coefficients": %s, "low": %s, "high": %s}',
        tau, paste(rows, collapse = ", "), number(y), number(found[, 1]), number(found[, 2]), number(found[, 3])))
    }
  }
}
cat('{"version": "', as.character(packageVersion("quantreg")), '", "cases": [\n',
  paste(cases, collapse = ",\n"), "\n]}\n", sep = "")
