"""The columns of a table of measurements: which there are, and what they may hold."""

from __future__ import annotations

from steelyard.core.placement_spec import PLACE_COLUMNS
from steelyard.core.units import LAST_UNIX_S

# Column: the type of its values. The repetition levels are columns by their own names.
COLUMNS: dict[str, type] = {
    "experiment": str,
    "variant": str,
    "benchmark": str,
    "position": int,
    "block": int,
    "build": int,
    "execution": int,
    "iteration": int,
    "warmup": bool,
    "status": str,
    "reason": str,
    "exit_code": int,
    "started_unix_s": float,
    "spent_s": float,
    "metric": str,
    "unit": str,
    "direction": str,
    "value": float,
}
# Those of experiments that ran at a service come between.
KNOWN_COLUMNS: dict[str, type] = {**COLUMNS, **dict.fromkeys(PLACE_COLUMNS, str)}
REQUIRED = ("variant", "value")
INDICES = ("position", "block", "build", "execution", "iteration")
# Columns that say the same in all rows of a trial.
OF_TRIAL = (
    *(
        "variant",
        "benchmark",
        "position",
        "block",
        "build",
        "execution",
        "warmup",
        "status",
        "reason",
    ),
    *("exit_code", "started_unix_s", "spent_s"),
    *PLACE_COLUMNS,
)
# Of columns with times: the greatest one, and what they hold.
TIMES = {
    "started_unix_s": (LAST_UNIX_S, "seconds since 1970, up to the year 9999"),
    "spent_s": (LAST_UNIX_S, f"seconds, from 0 to {LAST_UNIX_S:.0f}"),
}
