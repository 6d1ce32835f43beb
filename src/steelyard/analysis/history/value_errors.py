"""Values that are known less well than others of their track."""

from __future__ import annotations

import numpy as np

from steelyard.analysis.history.noise_scale import medians_of_five
from steelyard.analysis.history.series import Floats, Series

# Within this many times the usual standard error a value is as good as others.
_USUAL = 2.0
_FEWEST = 5


def credibility(series: Series) -> Floats:
    """How much of a value's distance from its neighbours is believed, 0 to 1.

    Notes
    -----
    1 for values whose standard error is unknown, or within twice the median of the track's; else
    the ratio of the variances, as a value is weighed with what its neighbours say.
    """
    errors = series.standard_errors
    known = np.isfinite(errors) & (errors > 0.0)
    believed = np.ones(len(series))
    if int(known.sum()) < _FEWEST:
        return believed
    usual = _USUAL * float(np.median(errors[known]))
    believed[known] = np.minimum(1.0, np.square(usual / errors[known]))
    return believed


def believed_values(series: Series) -> Floats:
    """The values, of which those that are hardly known lie nearer to their neighbours' median."""
    believed = credibility(series)
    if (believed == 1.0).all():
        return series.values
    middle = medians_of_five(series.values)
    return middle + believed * (series.values - middle)
