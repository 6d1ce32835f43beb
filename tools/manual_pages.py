"""Manual pages from the help of the commands: one for the program, one for each command.

    python tools/manual_pages.py DIRECTORY

They say what `--help` says, so that there is one text of each option. man(7) is the language.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from steelyard.cli.main import program
from steelyard.core.version import __version__

PROGRAM = "steelyard"


def escaped(text: str) -> str:
    """Text as man(7) prints it: no line that begins as a request, every dash a dash."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a help text; those that click is told to leave keep their lines."""
    for part in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in part.splitlines()]
        if lines and lines[0] == "\b":
            yield ".PP\n.nf\n" + "\n".join(map(escaped, lines[1:])) + "\n.fi"
        elif any(lines):
            yield ".PP\n" + escaped(" ".join(lines))


def options(context: click.Context) -> Iterator[str]:
    """The options of a command as its help lists them."""
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            yield f".TP\n.B {escaped(record[0])}\n{escaped(record[1])}"


def page(context: click.Context, names: list[str]) -> str:
    """One page."""
    command = context.command
    title = "-".join(names)
    short = command.get_short_help_str(limit=200).rstrip(".")
    parts = [
        f'.TH "{title.upper()}" "1" "" "{PROGRAM} {__version__}" "{PROGRAM}"',
        f".SH NAME\n{escaped(title)} \\- {escaped(short)}",
        f".SH SYNOPSIS\n.B {escaped(' '.join(names))}\n"
        + escaped(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION",
        *paragraphs(command.help or ""),
    ]
    if isinstance(command, click.Group):
        parts.append(".SH COMMANDS")
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                said = inner.get_short_help_str(limit=200)
                parts.append(f".TP\n.B {escaped(' '.join([*names, name]))}\n{escaped(said)}")
    listed = list(options(context))
    if listed:
        parts += [".SH OPTIONS", *listed]
    if len(names) == 1:
        parts.append(
            ".SH EXIT STATUS\n0: it could be done, and gates pass. 1: a gate does not. 2: the call "
            "or a file is wrong. 3: trials failed. 4: something is missing on this machine. "
            "130: interrupted."
        )
    else:
        parts.append(f".SH SEE ALSO\n.BR {PROGRAM} (1)")
    return "\n".join(parts) + "\n"


def pages(command: click.Command, names: list[str]) -> Iterator[tuple[str, str]]:
    """The page of a command and those of its own commands, each with its name."""
    with click.Context(command, info_name=" ".join(names)) as context:
        yield "-".join(names), page(context, names)
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                if inner is not None:
                    yield from pages(inner, [*names, name])


def main(directory: str) -> int:
    """Write all pages into the directory."""
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.1"):
        old.unlink()
    for name, text in pages(program, [PROGRAM]):
        (folder / f"{name}.1").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
