"""`steelyard layout`: what of a program moves; moving what can be without building it."""

from __future__ import annotations

import os
import secrets

import click

from steelyard.cli.console.output import write_json, write_text


@click.group("layout", short_help="What of a program's layout moves; moving it without building.")
def command() -> None:
    """What of a program's layout moves; moving what can be without building it."""


@command.command("audit")
@click.option(
    "--json", "json_target", metavar="FILE", help="Write JSON to FILE (- is standard output)."
)
@click.option(
    "--profile",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Count the samples of this profile of BINARY by what moves and what stays.",
)
@click.argument("binary", type=click.Path(exists=True, dir_okay=False))
def audit(binary: str, json_target: str | None, profile: str | None) -> None:
    """List what moves in BINARY and what does not, with the reason."""
    from steelyard.app.profile.layout_samples import sampled_code
    from steelyard.layout.audit import audit_program
    from steelyard.report.json.layout_audit import layout_audit_document
    from steelyard.report.layout_text import audit_lines, sample_lines

    audited = audit_program(binary)
    sampled = None if profile is None else sampled_code(audited, profile)
    if json_target is not None:
        write_json(layout_audit_document(audited, sampled), json_target)
    if json_target != "-":
        lines = [*audit_lines(audited), *(sample_lines(sampled) if sampled else ())]
        write_text("\n".join(lines) + "\n")


@command.command("run")
@click.option(
    "--layout",
    "parts",
    metavar="PARTS",
    default="stack,heap",
    show_default=True,
    help="What to randomise: stack, heap or both.",
)
@click.option(
    "--layout-seed",
    "seed",
    metavar="N",
    help="Draw from this seed.  [default: another one each time]",
)
@click.argument("argv", metavar="-- CMD...", nargs=-1, required=True, type=click.UNPROCESSED)
def run(parts: str, seed: str | None, argv: tuple[str, ...]) -> None:
    """Run CMD, which need not be built for it, with its heap shuffled and its stack elsewhere."""
    from steelyard.layout.unbuilt import become, randomised_environment
    from steelyard.layout.wishes import parse_parts, parse_seed

    chosen = parse_seed(seed) if seed is not None else secrets.randbits(63) + 1
    become(argv, randomised_environment(parse_parts(parts), chosen, os.environ))
