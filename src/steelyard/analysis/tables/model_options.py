"""Options that several methods have, each with one text."""

from __future__ import annotations

_TEXTS = {
    "interactions": "The most factors in one interaction; all of them unless given.",
    "coding": "`coded` (-1 and +1, the default) or `treatment` (against the first level).",
    "low": "Levels that come first, as FACTOR=LEVEL;FACTOR=LEVEL.",
    "covariates": "Columns of numbers that enter as they are, separated by commas.",
    "transform": "Of the response: `log`, `sqrt` or `inverse`.",
    "within": "A column; values are relative to the mean of their rows with its level.",
}


def model_options(*names: str) -> dict[str, str]:
    """Return the options of these names, in this order, with what each means.

    Examples
    --------
    >>> list(model_options("low", "covariates"))
    ['low', 'covariates']
    """
    return {name: _TEXTS[name] for name in names}
