"""Which predictors a linear model keeps: the best of each size, or step by step."""
