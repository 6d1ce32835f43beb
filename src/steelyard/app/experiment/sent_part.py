"""A part of a plan from a file, run on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable

from steelyard.app.running import told_place
from steelyard.core.errors import DataError
from steelyard.core.field_reader import json_fault
from steelyard.design.plan_part import PlanPart, part_from_json
from steelyard.run.run_part import PartResult, run_part


def run_sent_part(
    data: bytes, name: str, wait: bool, say: Callable[[str], None], archives: str | None = None
) -> PartResult:
    """Run the part of a plan that `data`, the content of the file `name`, describes; archives of
    results of packages are moved into the directory `archives`.

    Raises
    ------
    DataError
        It is no JSON, or describes no part of a plan.
    UsageError
        An archive cannot be written there.
    """
    return run_part(read_sent_part(data, name), told_place(None, wait, say), archives)


def read_sent_part(data: bytes, name: str) -> PlanPart:
    """The part of a plan that `data` describes.

    Raises
    ------
    DataError
        It is no JSON, or describes no part of a plan.
    """
    try:
        document = json.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise DataError(f"The part of a plan in {name} is no text in UTF-8.", field=name) from None
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"The part of a plan in {name} is no JSON: {json_fault(error)}.", field=name
        ) from None
    return part_from_json(document)
