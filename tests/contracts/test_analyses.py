"""What every analysis by name keeps, and every rendering of a kind of result."""

from __future__ import annotations

import re

from steelyard.analysis.methods import ANALYSES
from steelyard.report.renderings import RENDERINGS
from steelyard.report.schemas import schema


def test_every_analysis_says_what_it_is() -> None:
    for method in ANALYSES:
        assert re.fullmatch(r"[a-z][a-z0-9-]*", method.name)
        assert method.description.endswith(".")
        assert method.reads in ("levels", "trials")
        assert set(method.needs) <= {"response", "factors", "quantiles"}
        assert all(text.endswith(".") for text in method.options.values())


def test_every_rendering_has_a_schema_of_its_kind() -> None:
    for rendering in RENDERINGS:
        assert schema(rendering.name)["properties"]["kind"] == {"const": rendering.name}
