"""The form by which an experiment is sent: fields with the file that they stand for, or the file
alone, which a person writes."""

from __future__ import annotations

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
    """

    programs: Sequence[tuple[str, str, str]]
    factors: Sequence[tuple[str, str]]
    drawn: Sequence[tuple[str, str]]
    metrics: Sequence[str]
    facts: Sequence[str]
    placements: Sequence[str]


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


def form_page(
    text: str,
    planned: Mapping[str, Any] | None,
    error: str,
    shell: Shell,
    visibility: str = "private",
) -> str:
    """The file alone: its text, what it would run, and what is wrong with it."""
    view = {
        "shell": shell,
        "title": "Send an experiment",
        "text": text or EXAMPLE,
        "lines": [] if planned is None else submission_lines(planned),
        "error": error,
        "visibility": visibility,
        "visibilities": VISIBILITIES,
        "refresh_s": 0,
    }
    return rendered_page("submission/form.html.jinja", view)


def fields_page(
    choices: FormChoices,
    filled: Filled,
    told: tuple[str, Mapping[str, Any] | None, str],
    shell: Shell,
    visibility: str = "private",
) -> str:
    """The form with fields; `told` is the file that they stand for, what it would run, and what is
    wrong with it."""
    text, planned, error = told
    view = {
        "shell": shell,
        "title": "Send an experiment",
        "choices": choices,
        "filled": filled,
        "text": text,
        "lines": [] if planned is None else submission_lines(planned),
        "error": error,
        "visibility": visibility,
        "visibilities": VISIBILITIES,
        "refresh_s": 0,
    }
    return rendered_page("submission/fields.html.jinja", view)
