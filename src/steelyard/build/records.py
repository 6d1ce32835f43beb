"""What the linker wrapper writes of each link, and the judgement over a whole build."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from steelyard.build.code_layout import Layout
from steelyard.build.realised_order import RealisedOrder
from steelyard.build.side_files import records_directory
from steelyard.core.errors import RandomizationError
from steelyard.core.hashing import sha256_of

# autoconf's and CMake's names for their trials, and what lies outside of the build.
_TRIAL = re.compile(r"(^|/)(conftest[^/]*|(lib)?cmTC_[^/]*)$|(^|/)CMakeFiles/|^\.\./")
_FIRST_COUNT = 5
# More would make an experiment's provenance as large as its trials; the files hold all.
_SHOWN_LINKS = 20


@dataclass(frozen=True)
class LinkRecord:
    """What came of one link.

    Parameters
    ----------
    output : str
        What was linked, relative to the directory of the build.
    linker : str
        The path of the real linker.
    units : mapping or None
        How many things each randomisation had to order; None where it had not come to that.
    refusal : str or None
        Why it was linked as the project has it, or otherwise than asked for.
    notes : tuple of str
        What was left out.
    realised : mapping
        The order of functions in the program, summarised, and the file with all of it.
    """

    output: str
    linker: str
    units: Mapping[str, int] | None = None
    refusal: str | None = None
    notes: tuple[str, ...] = ()
    realised: Mapping[str, Any] = field(default_factory=dict[str, Any])


def write_record(
    directory: str,
    record: LinkRecord,
    order: RealisedOrder | None = None,
    layout: Layout | None = None,
) -> None:
    """Keep what came of a link; a later one of the same output takes its place."""
    name = os.path.join(directory, sha256_of(os.fsencode(record.output)).hex()[:16])
    said = asdict(record)
    if order is not None and layout is not None:
        objects = "".join(f"{module.label}\n" for module in layout.modules)
        _write(f"{name}.objects", objects)
        _write(f"{name}.functions", order.text())
        said["realised"] = {
            **order.summary(),
            "functions_file": f"{name}.functions",
            "objects": len(layout.modules),
            "objects_sha256": sha256_of(os.fsencode(objects)).hex(),
            "first_objects": [module.label for module in layout.modules[:_FIRST_COUNT]],
            "objects_file": f"{name}.objects",
        }
    _write(f"{name}.json", json.dumps(said))


def _write(path: str, text: str) -> None:
    partial = f"{path}.{os.getpid()}"
    with open(partial, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.replace(partial, path)


def read_records(directory: str) -> list[LinkRecord]:
    """All records of the build in `directory`, by the names of what was linked."""
    found: list[LinkRecord] = []
    place = records_directory(directory)
    for name in os.listdir(place):
        if name.endswith(".json"):
            with open(os.path.join(place, name), encoding="utf-8") as file:
                found.append(LinkRecord(**json.load(file)))
    return sorted(found, key=lambda record: record.output)


def judge(records: Sequence[LinkRecord], randomize: Sequence[str], directory: str) -> None:
    """Refuse a build that is not randomised as asked.

    Links that configure scripts tried do not count, nor those whose output is gone again, as
    long as there are others.

    Raises
    ------
    RandomizationError
        No program was linked through the wrappers, one of them could not be randomised, or none
        has more than one thing for a randomisation to order.
    """
    links = products(records, directory)
    wanted = ", ".join(randomize)
    if not links:
        raise RandomizationError(
            f"The build was to be randomised ({wanted}), but in its directory it linked nothing "
            "through the compilers that it was given, so it ignores CC, CXX and LD. A Makefile "
            'that sets them itself takes them as `make CC="$CC" CXX="$CXX"`, run by a shell '
            "(`--shell`, or `shell = true` in an experiment file).",
            field="randomize",
        )
    for link in links:
        if link.refusal:
            raise RandomizationError(
                f"{link.output} cannot be randomised ({wanted}): {link.refusal}.",
                field="randomize",
            )
    for name in randomize:
        counts = {link.output: (link.units or {}).get(name, 0) for link in links}
        if max(counts.values()) < 2:
            shown = ", ".join(f"{output} ({count})" for output, count in list(counts.items())[:5])
            raise RandomizationError(
                f"{name} has nothing to order: what the build linked has fewer than two objects "
                f"or functions of the project: {shown}.",
                field="randomize",
            )


def is_trial(output: str) -> bool:
    """Whether `output` is what configure scripts and CMake link only to see whether it works."""
    return bool(_TRIAL.search(output))


def products(records: Sequence[LinkRecord], directory: str) -> list[LinkRecord]:
    """The links that are of the project: not trials, and still there where any is."""
    links = [record for record in records if not is_trial(record.output)]
    there = [each for each in links if os.path.exists(os.path.join(directory, each.output))]
    return there or links


def summary(records: Sequence[LinkRecord], directory: str) -> dict[str, Any]:
    """For provenance: the links of the build, with what was realised in each."""
    links = products(records, directory)
    return {
        "links_count": len(links),
        "links": [asdict(link) for link in links[:_SHOWN_LINKS]],
    }
