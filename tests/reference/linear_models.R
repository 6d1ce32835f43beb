# Reference values for tests/reference/test_linear_diagnostics.py:
#   Rscript tests/reference/linear_models.R > tests/reference/linear_models.json
# Needs car, lmtest, sandwich, MASS and jsonlite (Debian: r-cran-car, r-cran-lmtest,
# r-cran-sandwich, r-cran-mass, r-cran-jsonlite).
suppressMessages({library(jsonlite); library(car); library(lmtest); library(sandwich); library(MASS)})
set.seed(1984)
d <- expand.grid(rep = 1:5, a = c("low", "high"), b = c("x", "y", "z"))
d <- d[-c(2, 7, 8, 19, 30), ]
d$y <- round(exp(1 + 0.3 * (d$a == "high") + 0.2 * as.integer(d$b) + rnorm(nrow(d), 0, 0.4)), 4)
# The low level has -1 in every column, as the project's coding has it.
coded <- function(k) { m <- rbind(rep(-1, k - 1), diag(k - 1)); m }
d$a <- factor(d$a, levels = c("high", "low")); d$b <- factor(d$b)
contrasts(d$a) <- coded(2); contrasts(d$b) <- coded(3)
fit <- lm(y ~ a * b, d)
type3 <- Anova(fit, type = 3)
bp <- bptest(fit, ~ a + b, data = d, studentize = TRUE)
bc <- boxcox(fit, lambda = seq(-2, 2, 0.1), plotit = FALSE)
x <- round(runif(25, 0, 3), 3); z <- round(x + rnorm(25, 0, 0.5), 3)
w <- round(2 + x - z + (0.2 + x) * rnorm(25), 4)
slope <- lm(w ~ x + z)
cat(toJSON(list(
  design = list(a = as.character(d$a), b = as.character(d$b), y = d$y,
    coefficients = unname(coef(fit)), errors = unname(sqrt(diag(vcov(fit)))),
    squares = type3[2:4, "Sum Sq"], f = type3[2:4, "F value"], p = type3[2:4, "Pr(>F)"],
    breusch_pagan = c(bp$statistic, bp$p.value), cook = max(cooks.distance(fit)),
    outlier = min(2 * pt(-abs(rstudent(fit)), df.residual(fit) - 1)) * nrow(d),
    power = bc$x[which.max(bc$y)],
    interval = range(bc$x[bc$y >= max(bc$y) - qchisq(0.95, 1) / 2])),
  slope = list(x = x, z = z, w = w, hc3 = unname(sqrt(diag(vcovHC(slope, type = "HC3")))),
    inflation = unname(vif(slope)))), digits = NA, auto_unbox = TRUE), "\n")
