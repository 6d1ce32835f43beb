"""The options of the commands on experiment files."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.cli.options.option_groups import option
from steelyard.cli.options.option_ranges import SEED
from steelyard.cli.options.shared_options import (
    json_option,
    recorded_environment_option,
    share_option,
    store_option,
    wait_option,
)


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """What plan takes."""

    json_target: str | None = json_option()


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What run takes."""

    dry_run: bool = option(
        "--dry-run", is_flag=True, help="Print the commands instead of running them."
    )
    recorded_environment: tuple[str, ...] = recorded_environment_option()
    wait: bool = wait_option()
    store: str | None = store_option()
    json_target: str | None = json_option()


@dataclass(frozen=True, kw_only=True)
class ResumeOptions:
    """What resume takes."""

    wait: bool = wait_option()
    store: str | None = store_option()
    json_target: str | None = json_option()


@dataclass(frozen=True, kw_only=True)
class AnalyzeRunOptions:
    """What analyze takes."""

    file: str | None = option("--file", metavar="FILE.toml", help="Take its table [analysis].")
    method: str | None = option(
        "--method", metavar="NAME", help="The analysis, of `steelyard analyze`."
    )
    response: str | None = option(
        "--response", metavar="METRIC", help="What to explain; the first metric."
    )
    factors: str | None = option(
        "--factors", metavar="A,B,C", help="What to explain it by; all that was varied."
    )
    quantiles: str | None = option("--quantiles", metavar="P,Q", help="Quantiles, such as 0.5,0.9.")
    confidence: str = share_option("--confidence", "95%", "Of what is stated.")
    seed: int = option("--seed", type=SEED, default=1, show_default=True, help="Of what is drawn.")
    options: tuple[str, ...] = option(
        "--option", multiple=True, metavar="NAME=VALUE", help="An option of the method's own."
    )
    html: str | None = option("--html", metavar="FILE", help="Write a page that needs no network.")
    plots: str | None = option(
        "--plots", metavar="DIRECTORY", help="Write the plots as PNG and SVG."
    )
    follow_up: str | None = option(
        "--follow-up", metavar="FILE.toml", help="Write the experiment that a screening proposes."
    )
    store: str | None = store_option()
    json_target: str | None = json_option()


@dataclass(frozen=True, kw_only=True)
class InitOptions:
    """What experiment init takes."""

    kind: str = option(
        "--kind",
        type=click.Choice(["flags", "setups", "screening"]),
        default="setups",
        show_default=True,
        help="Flags of the compiler, how the program is started, or many factors at once.",
    )
