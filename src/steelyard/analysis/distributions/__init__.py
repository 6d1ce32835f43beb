"""Distributions and their quantiles.

`normal`, `chi_squared` and `student` are on the way of a measurement and keep to the standard
library (docs/adr/0003); `table_distributions` and `modes` serve analyses of tables.
"""
