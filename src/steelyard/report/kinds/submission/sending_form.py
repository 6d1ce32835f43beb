"""The form by which an experiment is sent: fields with the file that they stand for, or the file
alone, which a person writes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.report.kinds.submission.pages import VISIBILITIES
from steelyard.report.kinds.submission.text import submission_lines
from steelyard.report.pages.rendered import rendered_page
from steelyard.report.pages.shell import Shell

EXAMPLE = """\
[experiment]
name = "does the size of the environment matter?"

[[benchmark]]
name = "gzip"
command = "gzip -c /usr/bin/perl"

[[factor]]
name = "padding"
factor = "environment-size"
levels = [0, 2048]

[hosts]
replicates = 10
factors = {platform = "100%"}
"""


@dataclass(frozen=True)
class FormChoices:
    """What a form lets one choose from.

    Parameters
    ----------
    programs : sequence of tuple of str
        Of the suite: name, languages, and what it is.
    factors, drawn : sequence of tuple of str
        Those that can be compared, and that draw levels themselves: name and description.
    metrics : sequence of str
    facts, placements : sequence of str
        What can be required of hosts, and varied among them.
    designs : sequence of str
    packages : sequence of str
        What the reader has sent.
    """

    programs: Sequence[tuple[str, str, str]]
    factors: Sequence[tuple[str, str]]
    drawn: Sequence[tuple[str, str]]
    metrics: Sequence[str]
    facts: Sequence[str]
    placements: Sequence[str]
    designs: Sequence[str] = ()
    packages: Sequence[str] = ()


@dataclass(frozen=True)
class Filled:
    """How a form with fields is filled.

    Parameters
    ----------
    values : mapping of str to str
        Of fields that are there once.
    ticked : mapping of str to set of str
        Of boxes.
    rows : mapping of str to sequence of mapping
        Of lists, with the empty rows at their ends.
    """

    values: Mapping[str, str]
    ticked: Mapping[str, frozenset[str]]
    rows: Mapping[str, Sequence[Mapping[str, str]]]


@dataclass(frozen=True)
class Said:
    """What is said of a filled form.

    Parameters
    ----------
    text : str
        The file that it stands for.
    planned : mapping or None
        What that would run.
    error : str
        What is wrong with it.
    section : str
        Beside which fields the error belongs; empty for none.
    notes : sequence of str
        On the package that came with it.
    """

    text: str
    planned: Mapping[str, Any] | None
    error: str
    section: str = ""
    notes: Sequence[str] = ()


# Words of the field that an error names, by the section of the form that has it.
_SECTIONS = (
    ("archive", ("archive",)),
    ("what", ("program", "command", "package", "benchmark", "size", "name", "build")),
    (
        "vary",
        ("factor", "nuisance", "design", "constraint", "analysis", "generators", "--follow-up"),
    ),
    (
        "often",
        ("hosts.replicates", "hosts.time_limit", "hosts.cost_limit", "exec", "exper", "metric"),
    ),
    ("hosts", ("hosts", "require", "share", "workers", "reboot", "builds")),
)


def section_of(field: str | None) -> str:
    """The section of the form that has a field of an experiment file."""
    for section, words in _SECTIONS:
        if any((field or "").startswith(word) for word in words):
            return section
    return ""


def day_text(unix_s: float) -> str:
    """A day, as people write it."""
    return time.strftime("%Y-%m-%d", time.localtime(unix_s))


def form_page(
    text: str,
    planned: Mapping[str, Any] | None,
    error: str,
    shell: Shell,
    visibility: str = "private",
    again: str = "",
) -> str:
    """The file alone: its text, what it would run, and what is wrong with it; `again` is the
    experiment that it was of, whose packages it may name."""
    view = {
        "shell": shell,
        "title": "Send an experiment",
        "text": text or EXAMPLE,
        "lines": [] if planned is None else submission_lines(planned),
        "error": error,
        "again": again,
        "visibility": visibility,
        "visibilities": VISIBILITIES,
        "refresh_s": 0,
    }
    return rendered_page("submission/form.html.jinja", view)


def fields_page(
    choices: FormChoices,
    filled: Filled,
    said: Said,
    shell: Shell,
    visibility: str = "private",
) -> str:
    """The form with fields, with what is said of it as it is filled."""
    planned = said.planned
    view = {
        "shell": shell,
        "title": "Send an experiment",
        "choices": choices,
        "filled": filled,
        "text": said.text,
        "lines": [] if planned is None else submission_lines(planned),
        "error": said.error,
        "section": said.section,
        "notes": said.notes,
        "visibility": visibility,
        "visibilities": VISIBILITIES,
        "refresh_s": 0,
    }
    return rendered_page("submission/fields.html.jinja", view)
