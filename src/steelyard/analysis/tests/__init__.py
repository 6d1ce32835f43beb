"""Tests of what intervals and models assume: normality, equal variances, independence."""
