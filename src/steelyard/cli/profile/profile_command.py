"""`steelyard profile`: where a program spends its time, by samples at random times."""

from __future__ import annotations

import shutil
import sys

import click

from steelyard.cli.console.output import write_data, write_json, write_note, write_page, write_text
from steelyard.cli.options.finite_range import FiniteRange
from steelyard.cli.options.strict_options import RUNS
from steelyard.cli.profile.agree_command import agree
from steelyard.cli.profile.check_command import check
from steelyard.core.errors import UsageError

DEFAULT_OUTPUT = "steelyard.profile"
# What the sampler's integers hold.
_SEED_LIMIT, _KEEP_LIMIT = 2**64 - 1, 2**32 - 1
_JSON = click.option(
    "--json", "json_target", metavar="FILE", help="Write JSON to FILE (- is standard output)."
)


@click.group("profile", short_help="Where a program spends its time, by samples at random times.")
def command() -> None:
    """Where a program spends its time, by samples at random times."""


@command.command("record")
@click.option(
    "--output", "-o", metavar="FILE", default=DEFAULT_OUTPUT, show_default=True, help="The profile."
)
@click.option("--pid", type=RUNS, help="Watch this process instead of starting one.")
@click.option(
    "--period", metavar="TIME", default="1ms", show_default=True, help="Mean time between samples."
)
@click.option(
    "--spread",
    type=click.Choice(["uniform", "exponential", "rounds", "fixed"]),
    default="uniform",
    show_default=True,
    help="How the time to the next sample is drawn.",
)
@click.option(
    "--ratio",
    type=FiniteRange(0, 1),
    default=1.0,
    show_default=True,
    help="Of uniform: the period times 1 ± this.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, _SEED_LIMIT),
    help="Of the times; drawn and stored unless given.",
)
@click.option(
    "--event",
    type=click.Choice(["cpu-clock", "cycles"]),
    default="cpu-clock",
    show_default=True,
    help="What is counted to the next sample; cycles needs hardware counters.",
)
@click.option(
    "--stacks",
    type=click.Choice(["none", "frame-pointers", "dwarf"]),
    is_flag=False,
    flag_value="frame-pointers",
    default="none",
    help="Keep call chains: by frame pointers, unless =dwarf says by .eh_frame.",
)
@click.option("--threads-only", is_flag=True, help="Watch threads, even where CPUs may be watched.")
@click.option("--duration", metavar="TIME", help="Stop after this time.")
@click.option("--rotate", metavar="SIZE", help="Go on in FILE.1, FILE.2 ... after SIZE bytes each.")
@click.option(
    "--keep", type=click.IntRange(1, _KEEP_LIMIT), help="Of those files keep the newest so many."
)
@click.option(
    "--java/--no-java",
    default=None,
    help="Name the methods of Java virtual machines; by itself where CMD is java.",
)
@click.argument("argv", metavar="[-- CMD...]", nargs=-1, type=click.UNPROCESSED)
def record(java: bool | None, **options: object) -> int:
    """Record where CMD, or a process that runs already, spends its time.

    The exit status is that of CMD.
    """
    from steelyard.app.profile.record_profile import record_profile
    from steelyard.cli.profile.record_request import recording_from

    recording = recording_from(options)
    summary = record_profile(recording, write_note, java)
    write_note(
        f"{summary['samples']} samples in {recording.output}; "
        f"`steelyard profile report {recording.output}` shows them."
    )
    if "signal" in summary:
        return 128 + summary["signal"]
    return summary.get("exit_code", 0)


@command.command("report")
@click.argument("path", metavar="[FILE]", default=DEFAULT_OUTPUT)
@click.option(
    "--confidence",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of the intervals of shares.",
)
@click.option(
    "--apart",
    type=click.Choice(["clones", "kernel"]),
    multiple=True,
    help="Give rows of their own to gcc's copies of functions, or to the kernel's functions.",
)
@click.option("--html", "html_target", metavar="FILE", help="Write a page with a flame graph.")
@click.option("--format", "format_name", metavar="NAME", help="Write --output in this format.")
@click.option("--output", "-o", metavar="FILE", help="The file that --format writes; - prints.")
@_JSON
def report(path: str, confidence: float, apart: tuple[str, ...], **targets: str | None) -> None:
    """Show a profile: each function's share of the time with its interval, and whether the samples
    came at random times.
    """
    from steelyard.app.profile.record_profile import read_answer

    format_name, output = targets["format_name"], targets["output"]
    html_target, json_target = targets["html_target"], targets["json_target"]
    if (format_name is None) != (output is None):
        raise UsageError("--format and --output go together.", field="--format")
    if output == json_target == "-":
        raise UsageError("Only one of -o and --json can be standard output.", field="--json")
    answer = read_answer(path, confidence, apart)
    if format_name is not None and output is not None:
        from steelyard.analysis.exported_profile import exported
        from steelyard.report.profile_formats import PROFILE_FORMATS

        write_data(PROFILE_FORMATS.get(format_name).render(exported(answer)), output)
    if html_target is not None:
        from steelyard.report.html.profile_page import profile_page

        write_page(profile_page(answer), html_target)
    if json_target is not None:
        from steelyard.report.json.profile import profile_document

        write_json(profile_document(answer), json_target)
    if "-" in (output, json_target):
        return
    from steelyard.report.profile_text import profile_text

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    write_text(profile_text(answer, width))


command.add_command(agree)
command.add_command(check)
