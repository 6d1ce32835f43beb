"""Gates: what a comparison must show, or must not, for a call to succeed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_ratio

Claim = Literal["slower", "faster", "not-slower", "not-faster", "equivalent"]
FAIL_IF: tuple[Claim, ...] = ("slower", "faster")
REQUIRE: tuple[Claim, ...] = ("not-slower", "faster", "equivalent", "not-faster", "slower")
MEAN = "mean"
_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,3})?)")
_SHARE = re.compile(r"[-+]?[.\d].*")


@dataclass(frozen=True)
class GateSpec:
    """One gate.

    Parameters
    ----------
    claim : str
        About the candidate, whose whole interval must lie on one side of the limit.
    required : bool
        True: the claim must be shown, and an undecided one fails. False: the gate fails where the
        claim is shown.
    limit_ratio : float or None
        None: the margin of the comparison.
    metric : str or None
        None: the primary metric.
    statistic : str
        ``"mean"``, ``"median"``, or a percentile such as ``"p90"``.
    """

    claim: Claim
    required: bool
    limit_ratio: float | None = None
    metric: str | None = None
    statistic: str = MEAN

    @property
    def option(self) -> str:
        """The option that asks for it."""
        return "--require" if self.required else "--fail-if"

    @property
    def text(self) -> str:
        """As it is typed."""
        limit = None if self.limit_ratio is None else f"{100 * self.limit_ratio:g}%"
        statistic = None if self.statistic == MEAN else self.statistic
        return ":".join(filter(None, (self.claim, limit, self.metric, statistic)))

    @property
    def quantile(self) -> float | None:
        """Which quantile it is about; None for the mean."""
        if self.statistic == "median":
            return 0.5
        match = _PERCENTILE.fullmatch(self.statistic)
        return None if match is None else float(match[1]) / 100.0


def parse_gates(fail_if: Iterable[str], require: Iterable[str]) -> tuple[GateSpec, ...]:
    """The gates of two options.

    Raises
    ------
    UsageError
        One is not ``CLAIM[:SHARE][:METRIC][:median|pNN]``.
    """
    return (
        *(_parse(text, FAIL_IF, "--fail-if") for text in fail_if),
        *(_parse(text, REQUIRE, "--require") for text in require),
    )


def _parse(text: str, claims: tuple[Claim, ...], option: str) -> GateSpec:
    word, *parts = text.split(":")
    claim: Claim | None = next((known for known in claims if known == word), None)
    if claim is None:
        raise UsageError(
            f"{option} takes {', '.join(claims[:-1])} or {claims[-1]}, such as {claims[0]}:2%; it "
            f"got {text!r}.",
            field=option,
        )
    limit = parse_ratio(parts.pop(0), option) if parts and _SHARE.match(parts[0]) else None
    statistic = MEAN
    if parts and _is_statistic(parts[-1]):
        statistic = parts.pop()
    metric = ":".join(parts) or None
    if metric is None and parts:
        raise UsageError(
            f"{option} takes {claims[0]}:2%:METRIC:median; {text!r} has an empty part.",
            field=option,
        )
    return GateSpec(claim, option == "--require", limit, metric, statistic)


def _is_statistic(word: str) -> bool:
    match = _PERCENTILE.fullmatch(word)
    return word in (MEAN, "median") or (match is not None and float(match[1]) > 0)
