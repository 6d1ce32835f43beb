"""The options of the commands of `steelyard suite`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.app.suite.suite_name import SIZES
from steelyard.cli.options.option_groups import option
from steelyard.cli.options.option_ranges import RUNS
from steelyard.cli.options.shared_options import json_option, wait_option

NAMES = click.argument("names", metavar="[NAME]...", nargs=-1)


def _compilers_option() -> str | None:
    return option(
        "--cc",
        metavar="COMPILER,...",
        help="C compilers, such as gcc,clang-19; those of C++ and Fortran follow.",
    )


def _flags_option() -> tuple[str, ...]:
    return option(
        "--flags", multiple=True, metavar="FLAGS", help="Flags of the compilers; repeatable."
    )


def _size_option() -> str:
    return option(
        "--size",
        type=click.Choice(SIZES),
        default="train",
        show_default=True,
        help="How long: about 0.1 s, 1-3 s, 5-20 s.",
    )


def _markdown_option() -> bool:
    return option("--markdown", is_flag=True, help="Print the table in Markdown.")


def _wait_option() -> bool:
    return wait_option("Wait while a measurement holds the machine.")


@dataclass(frozen=True, kw_only=True)
class SuiteListOptions:
    """What list takes."""

    generators: bool = option(
        "--generators", is_flag=True, help="List what makes inputs instead, for recipes."
    )
    as_markdown: bool = _markdown_option()
    json_target: str | None = json_option()


@dataclass(frozen=True, kw_only=True)
class FetchOptions:
    """What fetch takes."""

    json_target: str | None = json_option()


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """What build takes."""

    cc: str | None = _compilers_option()
    flags: tuple[str, ...] = _flags_option()
    json_target: str | None = json_option()


@dataclass(frozen=True, kw_only=True)
class AcceptOptions:
    """What accept takes."""

    size: str = _size_option()


@dataclass(frozen=True, kw_only=True)
class SuiteRunOptions:
    """What run takes."""

    size: str = _size_option()
    cc: str | None = _compilers_option()
    flags: tuple[str, ...] = _flags_option()
    runs: int = option("--runs", type=RUNS, default=1, show_default=True, help="How often.")
    wait: bool = _wait_option()
    json_target: str | None = json_option()


@dataclass(frozen=True, kw_only=True)
class DescribeOptions:
    """What describe takes."""

    size: str = _size_option()
    cc: str | None = _compilers_option()
    flags: tuple[str, ...] = _flags_option()
    runs: int = option("--runs", type=RUNS, default=5, show_default=True, help="How often.")
    wait: bool = _wait_option()
    as_markdown: bool = _markdown_option()
    page: str | None = option("--html", metavar="FILE", help="Write a page with figure and table.")
    plot: str | None = option(
        "--plot", metavar="FILE", help="Write the figure: .png, .svg or .pdf."
    )
    json_target: str | None = json_option()


@dataclass(frozen=True, kw_only=True)
class AddOptions:
    """What add takes."""

    replace: bool = option(
        "--replace", is_flag=True, help="Put it in the place of yours of the same name."
    )


@dataclass(frozen=True, kw_only=True)
class DoctorOptions:
    """What doctor takes."""

    cc: str | None = _compilers_option()
    json_target: str | None = json_option()
