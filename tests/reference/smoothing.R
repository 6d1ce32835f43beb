# Reference values for tests/reference/test_smoothing.py, by R's HoltWinters and its predictions:
#   Rscript tests/reference/smoothing.R > tests/reference/smoothing.json
set.seed(1957)
number <- function(x) paste0("[", paste(format(x, digits = 15, trim = TRUE), collapse = ", "), "]")
walk <- function(n, alpha) { e <- rnorm(n); 100 + cumsum(c(0, alpha * e[-n])) + e }
series <- list(
  white = round(100 + rnorm(40), 6),
  moving = round(walk(60, 0.4), 6),
  fast = round(walk(30, 0.9), 6),
  rising = round(100 + 0.5 * (1:50) + rnorm(50), 6),
  jump = round(c(rnorm(20, 300, 3), rnorm(2, 360, 3), rnorm(20, 300, 3)), 6))
one <- function(name, x, double) {
  fit <- if (double) HoltWinters(x, gamma = FALSE) else HoltWinters(x, beta = FALSE, gamma = FALSE)
  ahead <- predict(fit, 5, prediction.interval = TRUE, level = 0.95)
  sprintf('{"name": "%s", "double": %s, "values": %s, "alpha": %.15g, "beta": %s, "squares": %.15g, "fitted": %s, "forecasts": %s, "upper": %s}',
    name, tolower(double), number(x), fit$alpha, if (double) sprintf("%.15g", fit$beta) else "null",
    fit$SSE, number(as.numeric(fitted(fit)[, "xhat"])), number(as.numeric(ahead[, "fit"])),
    number(as.numeric(ahead[, "upr"])))
}
cases <- unlist(lapply(names(series), function(name)
  lapply(c(FALSE, TRUE), function(double) one(name, series[[name]], double))))
cat('{"version": "', R.version.string, '", "cases": [\n', paste(cases, collapse = ",\n"), "\n]}\n", sep = "")
