# Reference values for tests/reference/test_groups.py:
#   Rscript tests/reference/groups.R > tests/reference/groups.json
# Needs car, lmerTest, nortest-free base R and jsonlite (Debian: r-cran-car, r-cran-lmertest,
# r-cran-jsonlite).
suppressMessages({library(jsonlite); library(car); library(lmerTest)})
set.seed(20101)
interval <- function(t) list(statistic = unname(t$statistic), p = t$p.value,
                             low = t$conf.int[1], high = t$conf.int[2], estimate = unname(t$estimate))
two <- list()
make <- list(plain = list(round(rnorm(12, 10), 3), round(rnorm(9, 11, 2), 3)),
             ties = list(c(1, 2, 2, 3, 4, 4, 5, 6), c(2, 3, 3, 5, 6, 7, 7, 9)),
             many = list(round(rexp(70), 4), round(rexp(60, 0.7), 4)))
for (name in names(make)) {
  x <- make[[name]][[1]]; y <- make[[name]][[2]]
  mw <- suppressWarnings(wilcox.test(y, x, conf.int = TRUE))
  welch <- t.test(y, x); pooled <- t.test(y, x, var.equal = TRUE); f <- var.test(y, x)
  v <- c(x, y); g <- factor(rep(1:2, c(length(x), length(y))))
  two[[name]] <- list(x = x, y = y, mann_whitney = list(statistic = unname(mw$statistic), p = mw$p.value,
      low = mw$conf.int[1], high = mw$conf.int[2]),
    welch = list(statistic = unname(welch$statistic), degrees = unname(welch$parameter), p = welch$p.value,
      low = welch$conf.int[1], high = welch$conf.int[2]),
    pooled = list(statistic = unname(pooled$statistic), p = pooled$p.value, low = pooled$conf.int[1],
      high = pooled$conf.int[2]),
    f = list(statistic = unname(f$statistic), p = f$p.value, low = f$conf.int[1], high = f$conf.int[2]),
    levene = leveneTest(v, g, center = mean)[1, 2:3], brown_forsythe = leveneTest(v, g)[1, 2:3])
}
v <- c(round(rnorm(8, 5), 2), round(rnorm(6, 6, 3), 2), round(rnorm(10, 5.5), 2)); g <- factor(rep(1:3, c(8, 6, 10)))
kw <- kruskal.test(v, g); one <- oneway.test(v ~ g); eq <- oneway.test(v ~ g, var.equal = TRUE)
three <- list(values = v, group = as.integer(g) - 1,
  kruskal = c(kw$statistic, kw$p.value), welch = c(one$statistic, one$parameter, one$p.value),
  f = c(eq$statistic, eq$p.value), levene = unlist(leveneTest(v, g, center = mean)[1, 2:3]),
  brown_forsythe = unlist(leveneTest(v, g)[1, 2:3]))
d <- round(rnorm(14, 0.4), 3); tied <- c(0, 1, 1, -2, 3, 3, 4, -1, 2, 5)
signed <- lapply(list(plain = d, ties = tied), function(d) { w <- suppressWarnings(wilcox.test(d, conf.int = TRUE))
  list(values = d, statistic = unname(w$statistic), p = w$p.value, low = w$conf.int[1], high = w$conf.int[2],
       estimate = unname(w$estimate)) })
blocks <- matrix(round(rnorm(24), 2), 8); fr <- friedman.test(blocks)
p <- c(0.001, 0.02, 0.03, 0.04, 0.6)
corrections <- list(p = p, holm = p.adjust(p, "holm"), "benjamini-hochberg" = p.adjust(p, "BH"),
                    bonferroni = p.adjust(p, "bonferroni"))

# Within subjects: 7 programs x 3 compilers x 2 levels.
s <- expand.grid(level = c("O2", "O3"), compiler = c("a", "b", "c"), program = paste0("p", 1:7))
s$y <- round(10 + rnorm(7)[as.integer(s$program)] * 2 + as.integer(s$compiler) * 0.5 +
             (s$level == "O3") * 0.3 + rnorm(nrow(s), 0, 0.6), 3)
wide <- matrix(s$y, nrow = 7, byrow = TRUE)
idata <- expand.grid(level = factor(c("O2", "O3")), compiler = factor(c("a", "b", "c")))
a <- summary(Anova(lm(wide ~ 1), idata = idata, idesign = ~compiler * level, type = 3), multivariate = FALSE)
within <- list(program = as.character(s$program), compiler = as.character(s$compiler), level = as.character(s$level),
  y = s$y, table = unclass(a$univariate.tests), epsilon = unclass(a$pval.adjustments))

# Mixed: build > execution > row, unequal counts, a factor between builds and one within.
m <- expand.grid(row = 1:4, execution = 1:3, build = 1:10)
m$flag <- ifelse(m$build %% 2 == 0, 1, -1); m$mode <- ifelse(m$row %% 2 == 0, 1, -1)
m$y <- 20 + 0.5 * m$flag + 0.2 * m$mode + rnorm(10, 0, 0.7)[m$build] +
  rnorm(30, 0, 0.4)[(m$build - 1) * 3 + m$execution] + rnorm(nrow(m), 0, 0.3)
m$y <- round(m$y, 4); m <- m[-c(3, 17, 18, 40, 77), ]
fit <- lmer(y ~ flag * mode + (1 | build / execution), m)
co <- summary(fit)$coefficients; vc <- as.data.frame(VarCorr(fit))
mixed <- list(build = m$build, execution = m$execution, flag = m$flag, mode = m$mode, y = m$y,
  coefficients = unname(co[, 1]), errors = unname(co[, 2]), degrees = unname(co[, 3]), p = unname(co[, 5]),
  execution_variance = vc$vcov[vc$grp == "execution:build"], build_variance = vc$vcov[vc$grp == "build"],
  residual_variance = vc$vcov[vc$grp == "Residual"])
cat(toJSON(list(two = two, three = three, signed = signed,
  friedman = list(values = blocks, statistic = unname(fr$statistic), p = fr$p.value),
  corrections = corrections, within = within, mixed = mixed), digits = NA, auto_unbox = TRUE), "\n")
