# Reference values for tests/reference/test_level_means.py, by R alone:
#   Rscript tests/reference/level_means.R > tests/reference/level_means.json
# Means by level are averages of predictions over a grid of all levels, the covariate at its mean;
# changes are the ratios that a t test of `k * effect - ratio * mean` does not reject (uniroot).
set.seed(47)
d <- expand.grid(rep = 1:4, a = c("low", "high"), b = c("x", "y", "z"), c = c("0", "1"))
d <- d[-c(1, 2, 6, 11, 17, 18, 19, 30, 41), ]
d$v <- round(runif(nrow(d), 0, 10), 3)
d$y <- round(20 + 3 * (d$a == "high") - 2 * (d$b == "y") + 4 * (d$a == "high" & d$c == "1") +
  0.3 * d$v + rnorm(nrow(d)), 4)
d$a <- factor(d$a, levels = c("high", "low"))
coded <- function(k) rbind(rep(-1, k - 1), diag(k - 1))
two <- lm(y ~ a * b * c + v, d, contrasts = list(a = coded(2), b = coded(3), c = coded(2)))
grid <- expand.grid(a = levels(d$a), b = levels(d$b), c = levels(d$c), v = mean(d$v))
shape <- model.matrix(delete.response(terms(two)), grid, contrasts.arg = two$contrasts)
quantile <- qt(0.975, df.residual(two))
mean_of <- function(rows) {
  l <- colMeans(shape[rows, , drop = FALSE])
  value <- sum(l * coef(two)); half <- quantile * sqrt(drop(t(l) %*% vcov(two) %*% l))
  c(value, value - half, value + half)
}
change_of <- function(name) {
  base <- colMeans(shape); own <- 2 * (names(coef(two)) == name)
  t_of <- function(r) { l <- own - r * base; sum(l * coef(two)) / sqrt(drop(t(l) %*% vcov(two) %*% l)) }
  value <- sum(own * coef(two)) / sum(base * coef(two))
  c(value, uniroot(function(r) t_of(r) - quantile, c(value - 1, value), tol = 1e-12)$root,
    uniroot(function(r) t_of(r) + quantile, c(value, value + 1), tol = 1e-12)$root)
}
number <- function(x) paste0("[", paste(format(x, digits = 15, trim = TRUE), collapse = ", "), "]")
text <- function(x) paste0("[", paste0('"', x, '"', collapse = ", "), "]")
means <- c(
  sapply(levels(d$a), function(x) sprintf('"a=%s": %s', x, number(mean_of(grid$a == x)))),
  sapply(levels(d$b), function(x) sprintf('"b=%s": %s', x, number(mean_of(grid$b == x)))),
  sapply(levels(d$a), function(x) sapply(levels(d$c), function(z)
    sprintf('"a:c=%s,%s": %s', x, z, number(mean_of(grid$a == x & grid$c == z))))))
changes <- sapply(c(a = "a1", c = "c1", "a:c" = "a1:c1"), change_of)
cat("{\n", paste(sprintf('"%s": %s', c("a", "b", "c"), lapply(d[c("a", "b", "c")], function(x)
  text(as.character(x)))), collapse = ",\n"), ',\n"v": ', number(d$v), ',\n"y": ', number(d$y),
  ',\n"means": {', paste(unlist(means), collapse = ",\n"), '},\n"changes": {',
  paste(sprintf('"%s": %s', colnames(changes), apply(changes, 2, number)), collapse = ",\n"),
  "}\n}\n", sep = "")
