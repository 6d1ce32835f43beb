"""`steelyard profile paths resize`: sizes of frames that tell call paths apart."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.cli.console.output import refuse_nowhere, terminal_width, write_json, write_text
from steelyard.cli.options.finite_range import FiniteRange
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.option_ranges import SEED
from steelyard.cli.options.shared_options import json_option

DEFAULT_MAP = "steelyard.paths"


@dataclass(frozen=True, kw_only=True)
class ResizeOptions:
    """What is searched, what it may cost, and where the answer goes."""

    wrap: bool = option("--wrap", is_flag=True, help="Wrap calls of one function by another too.")
    most_wrapped: float = option(
        "--most-wrapped",
        type=FiniteRange(0, 1),
        default=0.01,
        show_default=True,
        metavar="RATIO",
        help="Lead no more than this part of the learnt calls through wrappers.",
    )
    mark: bool = option(
        "--mark",
        is_flag=True,
        help="Mark calls too, so that paths have keys that heights do not tell.",
    )
    mark_unlearnt: bool = option(
        "--mark-unlearnt",
        is_flag=True,
        help="Mark the calls of the program that no learnt path has, too.",
    )
    clone: bool = option(
        "--clone",
        is_flag=True,
        help="Clone functions of --program too, so that callers call different copies.",
    )
    most_code: float = option(
        "--most-code",
        type=FiniteRange(0, 100),
        default=10.0,
        show_default=True,
        metavar="PERCENT",
        help="Let clones add no more than this to the code of the program (.text).",
    )
    budget: float = option(
        "--budget",
        type=FiniteRange(1, 1000),
        default=2.5,
        show_default=True,
        metavar="RATIO",
        help="Let the highest stack become so many times as high.",
    )
    goal: float = option(
        "--goal",
        type=FiniteRange(0, 1),
        default=0.97,
        show_default=True,
        metavar="RATIO",
        help="End the search when this part of keys has one path.",
    )
    seed: int = option(
        "--seed", type=SEED, default=1, show_default=True, metavar="N", help="Seed of the search."
    )
    program: str | None = option(
        "--program", metavar="FILE", help="Change only what can be changed in this program."
    )
    output: str | None = option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the program with what was found, and its map as FILE.paths.",
    )
    json_target: str | None = json_option()


@click.command("resize")
@takes(ResizeOptions)
@click.argument("path", metavar="[MAP]", default=DEFAULT_MAP)
def resize(given: ResizeOptions, path: str) -> None:
    """Search sizes of stack frames that tell the paths of a map apart.

    With --output they, and the wrappers and marks of calls and the clones of functions, are put
    into a copy of the program; otherwise no program is changed.
    """
    if given.clone and given.program is None:
        raise click.UsageError("--clone needs --program: the program whose functions are copied.")
    if given.output is not None:
        if given.program is None:
            raise click.UsageError("--output needs --program: the program that the map is of.")
        refuse_nowhere(given.output)
    if given.mark_unlearnt and given.clone:
        raise click.UsageError(
            "--mark-unlearnt goes without --clone: copies of functions are not searched by code."
        )
    if given.mark_unlearnt and given.program is None:
        raise click.UsageError(
            "--mark-unlearnt needs --program: its code has the calls that no learnt path has."
        )
    from steelyard.app.profile.path_resizing import ResizingRequest, resize_paths

    found = resize_paths(
        ResizingRequest(
            map_path=path,
            seed=given.seed,
            wraps_calls=given.wrap,
            marks_calls=given.mark or given.mark_unlearnt,
            marks_unlearnt=given.mark_unlearnt,
            budget_ratio=given.budget,
            goal=given.goal,
            most_wrapped_ratio=given.most_wrapped,
            most_cloned_ratio=given.most_code / 100 if given.clone else None,
            program=given.program,
            output=given.output,
        )
    )
    if given.json_target is not None:
        from steelyard.report.kinds.paths.resizing_document import resizing_document

        write_json(resizing_document(found), given.json_target)
    if given.json_target != "-":
        from steelyard.report.kinds.paths.resizing_text import resizing_text

        write_text(resizing_text(found, terminal_width()))
