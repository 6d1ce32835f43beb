# Writes variance_components.json: values of R that tests hold ours against.
#   Rscript tests/reference/variance_components.R > tests/reference/variance_components.json
# Needs lme4 (Debian: r-cran-lme4). Everything is derived here anew; nothing is read from the
# project. The components of Henderson's method I come from whole matrices: E[y'Ay] = tr(AV).
suppressMessages(library(lme4))
number <- function(x) paste(sprintf("%.17g", x), collapse = ", ")
field <- function(name, text) sprintf("\"%s\": %s", name, text)
list_of <- function(x) sprintf("[%s]", number(x))
object <- function(...) sprintf("{%s}", paste(..., sep = ", "))
array <- function(items) sprintf("[%s]", paste(items, collapse = ",\n  "))

# A generator that is written out, so that the values can be made again anywhere.
uniform <- function(n, seed) { x <- numeric(n); s <- seed
  for (i in 1:n) { s <- (s * 16807) %% 2147483647; x[i] <- s / 2147483647 }; x }

# Nested data: labels of the levels, highest first, and values; each row is kept with `share`.
nested <- function(counts, deviations, share, seed) {
  grid <- expand.grid(rev(lapply(counts, seq_len)))[, length(counts):1, drop = FALSE]
  y <- rep(10, nrow(grid)); units <- list(); key <- rep("", nrow(grid))
  for (level in seq_along(counts)) {
    key <- paste(key, grid[[level]], sep = "/")
    unit <- match(key, unique(key))
    y <- y + deviations[level] * qnorm(uniform(max(unit), seed + 101 * level))[unit]
    units[[level]] <- unit
  }
  kept <- uniform(nrow(grid), seed + 7) < share
  list(y = y[kept], labels = lapply(grid, function(g) g[kept]),
       units = lapply(units, function(u) factor(u[kept])))
}

henderson <- function(data) {
  n <- length(data$y); count <- length(data$units)
  z <- lapply(data$units, function(u) model.matrix(~ 0 + u))
  averaging <- c(list(matrix(1 / n, n, n)),
                 lapply(z, function(m) m %*% diag(1 / colSums(m), ncol(m)) %*% t(m)))
  averaging[[count + 1]] <- diag(n)  # a unit of the lowest level is one value
  a <- lapply(seq_len(count), function(i) averaging[[i + 1]] - averaging[[i]])
  sums <- sapply(a, function(m) as.numeric(t(data$y) %*% m %*% data$y))
  expected <- sapply(z, function(m) sapply(a, function(q) sum(diag(t(m) %*% q %*% m))))
  solve(expected, sums)
}

reml <- function(data) {
  frame <- as.data.frame(setNames(data$units, paste0("u", seq_along(data$units))))
  frame$y <- data$y
  terms <- paste(sprintf("(1 | u%d)", seq_len(length(data$units) - 1)), collapse = " + ")
  fit <- suppressMessages(lmer(as.formula(paste("y ~", terms)), frame, control = lmerControl(
    optimizer = "bobyqa", optCtrl = list(rhoend = 1e-12, maxfun = 1e5), calc.derivs = FALSE)))
  found <- as.data.frame(VarCorr(fit))
  c(found$vcov[match(paste0("u", seq_len(length(data$units) - 1)), found$grp)],
    sigma(fit)^2)
}

cases <- list(
  nested(c(12, 6), c(0.5, 0.8), 1, 11), nested(c(8, 5, 4), c(0.9, 0.5, 0.4), 1, 23),
  nested(c(12, 6), c(0.5, 0.8), 0.7, 37), nested(c(15, 9), c(1.0, 0.3), 0.4, 41),
  nested(c(8, 5, 4), c(0.9, 0.5, 0.4), 0.7, 53), nested(c(10, 4, 6), c(0.6, 0.9, 0.5), 0.5, 67),
  nested(c(7, 4, 3, 4), c(0.8, 0.6, 0.5, 0.4), 0.75, 71))
written <- sapply(cases, function(data) object(
  field("labels", sprintf("[%s]", paste(sapply(data$labels, list_of), collapse = ", "))),
  field("values", list_of(data$y)),
  field("henderson", list_of(henderson(data))),
  field("reml", list_of(reml(data)))))

# Chi-squared's quantile.
degrees <- c(0.5, 1, 1.7, 2, 5, 9, 29.3, 100, 870, 9900, 1e6)
levels <- c(0.001, 0.005, 0.025, 0.05, 0.5, 0.95, 0.975, 0.995, 0.999)
quantiles <- sapply(degrees, function(d) list_of(c(d, qchisq(levels, d))))

cat(sprintf("{\n%s,\n%s,\n%s,\n%s\n}\n", field("r", sprintf("\"%s\"", R.version.string)),
  field("cases", array(written)), field("chi_squared_p", list_of(levels)),
  field("chi_squared", array(quantiles))))
