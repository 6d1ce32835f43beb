"""The benchmark packages of the form: those that were sent, and the archive that comes with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from steelyard.app.experiment.experiment_file import experiment_file_of
from steelyard.app.service.form_file import ROWS, Fields, rows_of
from steelyard.app.service.service import Service
from steelyard.core.errors import SteelyardError
from steelyard.report.kinds.submission.sending_form import day_text
from steelyard.web.service.page_table import Asked

ARCHIVE = "archive"
_SHOWN_PACKAGES = 100
# Of a name in tables that is made from the archive's.
_LONGEST_NAME = 40
_ENDINGS = re.compile(r"(\.(tar|tgz|tbz2?|txz|tzst|zip|gz|bz2|xz|zst))+$", re.IGNORECASE)


@dataclass(frozen=True)
class TakenForm:
    """A form whose archive was taken.

    Parameters
    ----------
    asked : Asked
        With a row for the package, so that it is chosen from now on.
    notes : tuple of str
        What was noted about it.
    error : SteelyardError or None
        Why it was not taken.
    """

    asked: Asked
    notes: tuple[str, ...] = ()
    error: SteelyardError | None = None


def sent_packages(service: Service, asked: Asked) -> dict[str, str]:
    """The digests of what one has sent, by what the form calls each: digest, size and day."""
    return {
        f"{each.digest[:12]} ({each.member_count} files, {day_text(each.created_unix_s)})": (
            each.digest
        )
        for each in service.packages.sent(asked.who)
    }


def shown_packages(sent: Mapping[str, str], fields: Fields) -> list[str]:
    """The newest of them, and those that the form names already."""
    used = {row["package"] for row in rows_of(fields, "package")}
    return [name for at, name in enumerate(sent) if at < _SHOWN_PACKAGES or name in used]


def with_archive(service: Service, asked: Asked) -> TakenForm:
    """Check and keep the archive of a form, as the service does with one that a program sends.

    A browser fills no field for files again, so the package is kept whatever else is wrong.
    """
    file = asked.files.get(ARCHIVE)
    if file is None:
        return TakenForm(asked)
    try:
        if file.fault is not None:
            raise file.fault
        taken = service.packages.receive(asked.who, file.path)
    except SteelyardError as error:
        error.field = ARCHIVE
        return TakenForm(asked, error=error)
    digest = taken.package.digest
    label = next(name for name, sent in sent_packages(service, asked).items() if sent == digest)
    fields = _with_row(asked.fields, label, _name_of(file.name))
    return TakenForm(
        replace(asked, fields=fields), tuple(each.message for each in taken.found.notes)
    )


def named_in(text: str, known: Mapping[str, str]) -> dict[str, str]:
    """Of the packages in `known` those that an experiment file names; none where it is damaged."""
    try:
        benchmarks = experiment_file_of(text, "the form").benchmarks
    except SteelyardError:
        return {}
    used = {each.package for each in benchmarks}
    return {name: digest for name, digest in known.items() if name in used}


def _with_row(fields: Fields, label: str, name: str) -> dict[str, list[str]]:
    """The fields with a row for a package, unless one has it."""
    rows = rows_of(fields, "package")
    if all(row["package"] != label for row in rows):
        # A row with limits and no package was typed for this one.
        unnamed = next((row for row in rows if not row["package"]), None)
        row = unnamed or dict.fromkeys(ROWS["package"], "")
        row["package"], row["package_name"] = label, row["package_name"] or name
        rows = rows if unnamed else [*rows, row]
    columns = {column: [row[column] for row in rows] for column in ROWS["package"]}
    return {**{key: list(values) for key, values in fields.items()}, **columns}


def _name_of(file_name: str) -> str:
    """A name in tables: the archive's, without what says how it is packed."""
    stem = _ENDINGS.sub("", file_name)
    return re.sub(r"[^\w.+-]+", "-", stem).strip("-.")[:_LONGEST_NAME]
