"""`steelyard profile paths judge`: how many call paths a map resolves."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.cli.console.output import terminal_width, write_json, write_text
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import json_option
from steelyard.cli.profile.resize_command import DEFAULT_MAP

_SUITE = "suite:"


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """What a map is judged by, and where the answer goes."""

    evaluation: str | None = option(
        "--evaluation", metavar="FILE", help="A map of other runs, whose paths are the truth."
    )
    by_sample: bool = option(
        "--by-sample", is_flag=True, help="Run CMD once more, and judge samples of it too."
    )
    costs: bool = option(
        "--costs", is_flag=True, help="Show what ways of telling paths apart would cost."
    )
    call_sites: bool = option(
        "--call-sites",
        is_flag=True,
        help="Without a map: the paths of CMD, or of suite:NAME, differ by their call sites, too.",
    )
    by_code: bool = option(
        "--static",
        is_flag=True,
        help="Search the program's code for keys that were never learnt.",
    )
    json_target: str | None = json_option()


class _BeforeCommand(click.Command):
    """Keeps what stands behind `--` apart, as a map may stand before it or not."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what stands before the command."""
        at = args.index("--") if "--" in args else len(args)
        ctx.obj = tuple(args[at + 1 :])
        if at < len(args) and not ctx.obj:
            raise click.UsageError("No command stands behind --.", ctx)
        return super().parse_args(ctx, args[:at])


@click.command("judge", cls=_BeforeCommand)
@takes(JudgeOptions)
@click.argument("path", metavar="[MAP | suite:NAME] [-- CMD...]", required=False)
@click.pass_obj
def judge(argv: tuple[str, ...], given: JudgeOptions, path: str | None) -> None:
    """Show how many paths and calls a map resolves: of its own runs, and of others.

    A map is judged by the paths of --evaluation, or of CMD. Without a map, the paths of CMD are
    judged by themselves; those of a program of the suite by its other input.
    """
    from steelyard.app.profile.path_judging import (
        JudgeAsked,
        judge_command,
        judge_map,
        judge_suite,
    )

    asked = JudgeAsked(given.by_sample, given.costs, given.call_sites, given.by_code)
    is_suite = (path or "").startswith(_SUITE)
    if given.by_code and not is_suite and (path is None or not argv):
        raise click.UsageError(
            "--static searches the program of CMD for what MAP has not: give both, or suite:NAME."
        )
    if given.call_sites and not is_suite and (path is not None or not argv):
        raise click.UsageError(
            "--call-sites is for what is learnt here: CMD without a map, or suite:NAME. A map has "
            "call sites or not."
        )
    if given.evaluation is not None and (argv or (path or "").startswith(_SUITE)):
        raise click.UsageError("--evaluation judges a map; it goes with no command and no suite:.")
    if given.by_sample and not argv and not (path or "").startswith(_SUITE):
        raise click.UsageError("--by-sample takes samples of CMD, behind --, or of suite:NAME.")
    if path is not None and path.startswith(_SUITE):
        if argv:
            raise click.UsageError(f"{path} has a command of its own; leave out the one behind --.")
        check = judge_suite(path, asked)
    elif argv:
        check = judge_command(path, argv, asked)
    else:
        check = judge_map(path or DEFAULT_MAP, given.evaluation, given.costs)
    if given.json_target is not None:
        from steelyard.report.kinds.paths.document import check_document

        write_json(check_document(check), given.json_target)
    if given.json_target != "-":
        from steelyard.report.kinds.paths.text import check_text

        write_text(check_text(check, terminal_width()))
