"""The `causality` document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.analysis.profiles.causality_slopes import Slope
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def causality_document(slopes: Sequence[Slope], argv: Sequence[str], delay: str) -> dict[str, Any]:
    """The document of kind ``causality``; `delay` is ``"compute"`` or ``"memory"``."""
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "causality",
            "command": list(argv),
            "delay": delay,
            "slopes": [
                {
                    "function": slope.function,
                    "profiler": slope.profiler,
                    "role": slope.role,
                    "delayed": slope.delayed,
                    "slope": slope.slope.as_json(),
                    "rest": None if slope.rest is None else slope.rest.as_json(),
                    "verdict": slope.verdict,
                    "amounts": slope.amount_count,
                    "runs": slope.run_count,
                    "observations": [
                        {
                            "turns": item.amount,
                            "program_s": item.program_s,
                            "function_s": item.function_s,
                        }
                        for item in slope.observations
                    ],
                }
                for slope in slopes
            ],
        }
    )
