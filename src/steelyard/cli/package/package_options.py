"""The options of the commands of `steelyard package`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import click

from steelyard.app.package.package_choice import choice_of, images_here
from steelyard.app.package.packaged_variant import PackageChoice
from steelyard.cli.options.option_groups import group, option
from steelyard.cli.options.option_ranges import MOST_WARMUPS, RUNS, SEED
from steelyard.cli.options.shared_options import json_option, store_option, wait_option
from steelyard.core.package_spec import EnvironmentLimits

_USUAL = EnvironmentLimits()
_MOST = click.IntRange(1, 2**31 - 1)


class _Image(click.Path):
    """A folder such as ./root, or the name of an image of this host."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if "/" in str(value):
            return super().convert(value, param, ctx)
        known = images_here()
        if value not in known:
            self.fail(
                f"this host has no image {value!r}; it has {', '.join(known) or 'none'}. A folder "
                f"is written as ./{value}",
                param,
                ctx,
            )
        return value


@dataclass(frozen=True, kw_only=True)
class EnvironmentOptions:
    """The environment that a package runs in."""

    environment: Literal["contained", "trusted"] = option(
        "--environment",
        type=click.Choice(["contained", "trusted"]),
        default="contained",
        show_default=True,
        help="A user without privileges and without a network; or root on a root file system "
        "that is thrown away.",
    )
    network: bool = option("--network", is_flag=True, help="Let it use the host's network.")
    image: str | None = option(
        "--image",
        metavar="FOLDER",
        type=_Image(exists=True, file_okay=False),
        help="A root file system in place of the host's own system folders: a folder such as "
        "./root, or the name of an image of this host.",
    )
    memory: str = option(
        "--memory", metavar="SIZE", default="4GiB", show_default=True, help="Most memory."
    )
    disk: str = option(
        "--disk",
        metavar="SIZE",
        default="2GiB",
        show_default=True,
        help="Most bytes of files that it writes.",
    )
    inodes: int = option(
        "--inodes",
        type=_MOST,
        default=_USUAL.inode_count,
        show_default=True,
        help="Most files that it makes.",
    )
    processes: int = option(
        "--processes",
        type=_MOST,
        default=_USUAL.process_count,
        show_default=True,
        help="Most processes and threads at a time.",
    )
    setup_timeout: str = option(
        "--setup-timeout",
        metavar="TIME",
        default="1h",
        show_default=True,
        help="End setup.sh after this.",
    )
    timeout: str = option(
        "--timeout",
        metavar="TIME",
        default="1h",
        show_default=True,
        help="End run.sh after this; the trial has failed.",
    )


@dataclass(frozen=True, kw_only=True)
class InitOptions:
    """What init takes."""

    json_target: str | None = json_option()


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """What check takes."""

    environment: EnvironmentOptions = group(EnvironmentOptions)
    executes: bool = option(
        "--execute",
        is_flag=True,
        help="Run its scripts once too, and look at the archive of results.",
    )
    json_target: str | None = json_option()


@dataclass(frozen=True, kw_only=True)
class PackageRunOptions:
    """What run takes."""

    environment: EnvironmentOptions = group(EnvironmentOptions)
    runs: int = option(
        "--runs", type=RUNS, default=5, show_default=True, help="Runs of each package."
    )
    warmup_count: int = option(
        "--warmup",
        type=click.IntRange(0, MOST_WARMUPS),
        default=0,
        help="Runs of each package that are not counted, first.",
    )
    metrics: tuple[str, ...] = option(
        "--metric",
        multiple=True,
        metavar="NAME",
        help="A metric, the first is primary; NAME=iterations:UNIT is one of the results.",
    )
    iterations: str | None = option(
        "--iterations",
        metavar="ADAPTER[:FILE]",
        help="Take iterations from this file of the results (default, where a metric is of "
        "iterations: results.csv or metrics.json).",
    )
    debug: bool = option(
        "--debug",
        is_flag=True,
        help="Run each package once before, and show what its scripts print.",
    )
    seed: int | None = option("--seed", type=SEED, help="Seed of every random choice.")
    note: str = option("--note", default="", help="Words to keep with the experiment.")
    store: str | None = store_option("The store to keep the experiment in.")
    wait: bool = wait_option()
    json_target: str | None = json_option("Write the answer as JSON; - prints.")


def choice_from(given: EnvironmentOptions) -> PackageChoice:
    """How packages are to be run.

    Raises
    ------
    UsageError
        A size or a time is none, or an option does not go with the environment.
    """
    return choice_of(vars(given), lambda name: f"--{name.replace('_', '-')}")
