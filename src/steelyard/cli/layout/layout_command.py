"""`steelyard layout`: what of a program moves; moving what can be without building it."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.cli.console.output import write_json, write_text
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import json_option


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """What audit takes."""

    json_target: str | None = json_option("Write JSON to FILE (- is standard output).")
    profile: str | None = option(
        "--profile",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        help="Count the samples of this profile of BINARY by what moves and what stays.",
    )


@dataclass(frozen=True, kw_only=True)
class LayoutRunOptions:
    """What run takes."""

    parts: str = option(
        "--layout",
        metavar="PARTS",
        default="stack,heap",
        show_default=True,
        help="What to randomise: stack, heap or both.",
    )
    seed: str | None = option(
        "--layout-seed",
        metavar="N",
        help="Draw from this seed.  [default: another one each time]",
    )


@click.group("layout", short_help="What of a program's layout moves; moving it without building.")
def command() -> None:
    """What of a program's layout moves; moving what can be without building it."""


@command.command("audit")
@takes(AuditOptions)
@click.argument("binary", type=click.Path(exists=True, dir_okay=False))
def audit(given: AuditOptions, binary: str) -> None:
    """List what moves in BINARY and what does not, with the reason."""
    from steelyard.app.layout.moving_programs import audit_layout
    from steelyard.report.kinds.layout_audit.document import layout_audit_document
    from steelyard.report.kinds.layout_audit.text import audit_lines, sample_lines

    audited, sampled = audit_layout(binary, given.profile)
    if given.json_target is not None:
        write_json(layout_audit_document(audited, sampled), given.json_target)
    if given.json_target != "-":
        lines = [*audit_lines(audited), *(sample_lines(sampled) if sampled else ())]
        write_text("\n".join(lines) + "\n")


@command.command("run")
@takes(LayoutRunOptions)
@click.argument("argv", metavar="-- CMD...", nargs=-1, required=True, type=click.UNPROCESSED)
def run(given: LayoutRunOptions, argv: tuple[str, ...]) -> None:
    """Run CMD, which need not be built for it, with its heap shuffled and its stack elsewhere."""
    from steelyard.app.layout.moving_programs import become_moved

    become_moved(argv, given.parts, given.seed)
