# Reference values for tests/reference/test_modes.py, by R's diptest:
#   Rscript tests/reference/dip.R > tests/reference/dip.json
# Needs diptest (Debian: r-cran-diptest).
suppressMessages(library(diptest))
set.seed(85)
number <- function(x) paste0("[", paste(format(x, digits = 10, trim = TRUE), collapse = ", "), "]")
draw <- list(uniform = runif, normal = rnorm, exponential = rexp,
  lumps = function(n) ifelse(runif(n) < 0.6, 1, 1.3) + rnorm(n, 0, 0.05))
cases <- unlist(lapply(names(draw), function(name) sapply(c(10, 25, 60), function(n) {
  x <- round(draw[[name]](n), 8)
  sprintf('{"name": "%s", "values": %s, "dip": %.10f}', name, number(x), dip(x)) })))
data(qDiptab)
sizes <- c("10", "20", "50", "100", "200", "500", "1000", "2000")
cat('{"critical": {', paste(sprintf('"%s": %.6f', sizes, qDiptab[sizes, "0.99"]), collapse = ", "),
  '},\n"cases": [\n', paste(cases, collapse = ",\n"), "\n]}\n", sep = "")
