"""Which benchmarks a commit needs: from what changed in a program, and what benchmarks reach.

The strategy is that of A. Oliveira, "Measuring and Predicting Computer Software Performance"
(2015), chapter 6 (Perphecy). Tables in, predictions out: binaries are read by others.
"""
