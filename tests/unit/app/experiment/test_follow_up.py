"""The experiment that follows a screening, as a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.app.experiment.design_plan import experiment_plan
from steelyard.app.experiment.experiment_file import read_experiment_file
from steelyard.app.experiment.follow_up import follow_up_text

FILE = """
[experiment]
{settings}
[[benchmark]]
command = "true"
[[factor]]
factor = "nice"
levels = [0, 1]
[[factor]]
factor = "aslr"
levels = [true, false]
"""


@pytest.mark.parametrize("effect", ["aslr", "nice"])
@pytest.mark.parametrize(
    "settings",
    [
        'power = {{change = "5%", variation = "1%", effect = "{effect}"}}',
        'precision = "1%"\neffect = "{effect}"',
    ],
)
def test_an_effect_of_a_factor_that_is_held_is_not_asked_for_any_more(
    tmp_path: Path, settings: str, effect: str
) -> None:
    (tmp_path / "e.toml").write_text(FILE.format(settings=settings.format(effect=effect)))
    text = follow_up_text((tmp_path / "e.toml").read_text(), "e.toml", ["nice"])
    (tmp_path / "new.toml").write_text(text)
    plan = experiment_plan(read_experiment_file(str(tmp_path / "new.toml")))
    assert list(plan.factors) == ["nice"]
    assert ("effect = " in text) == (effect == "nice")
