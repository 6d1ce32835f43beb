# Writes statistics.json: values of R (base, and mvtnorm) that tests hold ours against.
#   Rscript tests/reference/statistics.R > tests/reference/statistics.json
# Everything is derived here anew; nothing is read from the project.
suppressMessages(library(mvtnorm))
number <- function(x) paste(sprintf("%.17g", x), collapse = ", ")
field <- function(name, text) sprintf("\"%s\": %s", name, text)
list_of <- function(x) sprintf("[%s]", number(x))
object <- function(...) sprintf("{%s}", paste(..., sep = ", "))
array <- function(items) sprintf("[%s]", paste(items, collapse = ",\n  "))

# Student's quantile.
degrees <- c(1, 1.5, 2, 3, 4.7, 5, 9, 19, 29, 79, 80, 99, 250, 999, 4999, 5000, 1e5, 1e6)
levels <- c(0.6, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.9999, 1 - 1e-6)
quantiles <- unlist(lapply(degrees, function(d) sprintf("[%s]", number(c(d, qt(levels, d))))))

# Normal quantile.
normal_p <- c(1e-300, 1e-20, 1e-5, 0.01, 0.3, 0.5 + 1e-9, 0.8, 0.975, 1 - 1e-9)

# Shapiro and Wilk: normal, lognormal, tied and small samples, from a generator that is
# written out so that the values can be made again anywhere.
uniform <- function(n, seed) { x <- numeric(n); s <- seed
  for (i in 1:n) { s <- (s * 16807) %% 2147483647; x[i] <- s / 2147483647 }; x }
samples <- list(
  qnorm(uniform(3, 7)), qnorm(uniform(4, 11)), qnorm(uniform(5, 13)), qnorm(uniform(6, 17)),
  qnorm(uniform(11, 19)), qnorm(uniform(12, 23)), exp(qnorm(uniform(30, 29))),
  qnorm(uniform(100, 31)), round(qnorm(uniform(50, 37)), 1), uniform(200, 41),
  c(148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236))
shapiro <- sapply(samples, function(x) { r <- shapiro.test(x)
  object(field("values", list_of(x)), field("statistic", number(r$statistic)),
         field("p", number(r$p.value))) })

# Ljung and Box.
ljung <- sapply(list(c(3, 20), c(10, 100)), function(k) { x <- qnorm(uniform(k[2], 43 + k[1]))
  x <- as.numeric(stats::filter(x, 0.3, method = "recursive"))
  r <- Box.test(x, lag = k[1], type = "Ljung-Box")
  object(field("values", list_of(x)), field("lags", number(k[1])),
         field("p", number(r$p.value)),
         field("autocorrelation", list_of(acf(x, k[1], plot = FALSE)$acf[-1]))) })

# Mann and Kendall with ties, and the normal approximation with continuity correction.
kendall <- function(x) { n <- length(x); s <- 0
  for (i in 1:(n - 1)) s <- s + sum(sign(x[(i + 1):n] - x[i]))
  ties <- as.numeric(table(x))
  v <- (n * (n - 1) * (2 * n + 5) - sum(ties * (ties - 1) * (2 * ties + 5))) / 18
  2 * pnorm(-(abs(s) - 1) / sqrt(v)) }
trend <- sapply(list(cumsum(qnorm(uniform(25, 47))), round(uniform(40, 53) * 8)),
  function(x) object(field("values", list_of(x)), field("p", number(kendall(x)))))
# The first has no ties: cor.test agrees but for its lack of a correction for continuity.

# Fieller: by inversion of the t test of y - theta x, each bound by uniroot.
fieller <- function(x, y, level) {
  statistic <- function(theta) { z <- y - theta * x; mean(z) / (sd(z) / sqrt(length(z))) }
  q <- qt((1 + level) / 2, length(x) - 1); r <- mean(y) / mean(x)
  low <- uniroot(function(a) statistic(a) - q, c(-3, r), tol = 1e-14)$root
  high <- uniroot(function(a) statistic(a) + q, c(r, 3), tol = 1e-14)$root
  c(r, low, high) }
blocks <- 1 + 0.1 * qnorm(uniform(15, 59))
pairs <- list(
  list(blocks * (1 + 0.05 * qnorm(uniform(15, 61))), 0.93 * blocks * (1 + 0.05 * qnorm(uniform(15, 67)))),
  list(1 + 0.2 * qnorm(uniform(8, 71)), 0.9 + 0.2 * qnorm(uniform(8, 73))),
  list(1 + 0.3 * qnorm(uniform(40, 79)), 1 + 0.3 * qnorm(uniform(40, 83))))
ratios <- sapply(pairs, function(p) object(field("baseline", list_of(p[[1]])),
  field("candidate", list_of(p[[2]])), field("bounds", list_of(fieller(p[[1]], p[[2]], 0.95))),
  field("bounds_99", list_of(fieller(p[[1]], p[[2]], 0.99)))))

# Fieller of variants that were run apart: the Welch contrast inverted at fixed degrees.
unpaired <- function(x, y, level) { r <- mean(y) / mean(x)
  v <- var(x) / length(x); w <- var(y) / length(y)
  degrees <- (w + r^2 * v)^2 / (w^2 / (length(y) - 1) + (r^2 * v)^2 / (length(x) - 1))
  q <- qt((1 + level) / 2, degrees)
  statistic <- function(theta) (mean(y) - theta * mean(x)) / sqrt(w + theta^2 * v)
  c(r, uniroot(function(a) statistic(a) - q, c(-3, r), tol = 1e-14)$root,
    uniroot(function(a) statistic(a) + q, c(r, 3), tol = 1e-14)$root) }
apart <- list(1 + 0.1 * qnorm(uniform(12, 89)), 1.1 + 0.2 * qnorm(uniform(20, 97)))

# Simultaneous: qmvnorm gives the confidence that each comparison needs.
set.seed(1)
each <- function(l) { s <- outer(l, l); diag(s) <- 1
  q <- qmvnorm(0.95, tail = "both.tails", corr = s,
               algorithm = GenzBretz(maxpts = 1e5, abseps = 1e-6))$quantile
  2 * pnorm(q) - 1 }
loadings <- list(sqrt(c(0.5, 0.5)), c(0.5, 0.7, 0.9), rep(sqrt(0.5), 5), c(0.2, 0.9))
simultaneous <- sapply(loadings, function(l)
  object(field("loadings", list_of(l)), field("each", number(each(l)))))

cat("{\n", paste(c(
  field("student_p", list_of(levels)), field("student", array(quantiles)),
  field("normal_p", list_of(normal_p)), field("normal", list_of(qnorm(normal_p))),
  field("shapiro_wilk", array(shapiro)), field("ljung_box", array(ljung)),
  field("mann_kendall", array(trend)), field("fieller", array(ratios)),
  field("fieller_unpaired", object(field("baseline", list_of(apart[[1]])),
    field("candidate", list_of(apart[[2]])),
    field("bounds", list_of(unpaired(apart[[1]], apart[[2]], 0.95))))),
  field("simultaneous", array(simultaneous)),
  field("quartiles", object(field("values", list_of(uniform(10, 101))),
    field("quantiles", list_of(quantile(uniform(10, 101), c(.25, .5, .75))))))),
  collapse = ",\n"), "\n}\n")
