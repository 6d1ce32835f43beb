"""The options of gates: what a comparison must show for a command to succeed."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.cli.options.option_groups import option
from steelyard.core.gate_spec import GateSpec, parse_gates


@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """Claims that end a command with status 1: those shown, and those not shown."""

    fail_if: tuple[str, ...] = option(
        "--fail-if",
        multiple=True,
        metavar="slower[:SHARE]",
        help="Exit with 1 where the whole interval lies beyond SHARE (the margin): slower or "
        "faster. slower:2%:max_rss looks at a metric, slower:2%:median and p90 at a quantile.",
    )
    require: tuple[str, ...] = option(
        "--require",
        multiple=True,
        metavar="not-slower[:SHARE]",
        help="Exit with 1 unless the whole interval shows it, so that undecided fails: "
        "not-slower, faster, equivalent; with a metric or quantile as --fail-if.",
    )

    @property
    def gates(self) -> tuple[GateSpec, ...]:
        """What they say; a wrong one is an error that names its option."""
        return parse_gates(self.fail_if, self.require)
