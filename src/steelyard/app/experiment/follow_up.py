"""The experiment that follows a screening: the full design of the factors that it proposes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from steelyard.app.experiment.experiment_file import experiment_file_of
from steelyard.app.experiment.toml_text import toml_text
from steelyard.core.decoding import regular_opener
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.analysis.tables.analysis_method import Result


def screening_follow_up(result: Result, path: str | None) -> str:
    """The file of the experiment that the result of a screening proposes, as `follow_up_text`.

    Raises
    ------
    UsageError
        The result is no screening's, or the screening's file is not named.
    """
    from steelyard.analysis.screening.screened_effects import proposed_factors

    proposed = proposed_factors(result)
    if proposed is None:
        raise UsageError("--follow-up goes with --method screening.", field="--follow-up")
    if path is None:
        raise UsageError(
            "--follow-up needs the file that the experiment was run from, and that is gone or not "
            "known. --file FILE.toml names it.",
            field="--follow-up",
        )
    with open(path, encoding="utf-8-sig", opener=regular_opener) as file:
        return follow_up_text(file.read(), path, proposed)


def follow_up_text(text: str, path: str, proposed: Sequence[str]) -> str:
    """The file of the experiment that follows, as TOML.

    Parameters
    ----------
    text, path : str
        The file of the screening, and what it is called.
    proposed : sequence of str
        Names of its factors: they are varied in a full factorial. The others are held at their
        first level.

    Raises
    ------
    UsageError
        Nothing is proposed, or something that is no factor of the file.
    """
    known = [entry.name for entry in experiment_file_of(text, path).factors]
    strange = [name for name in proposed if name not in known]
    if strange or not proposed:
        raise UsageError(
            f"{path} has no factor {strange[0]!r}: is it the file of this experiment?"
            if strange
            else "No factor is proposed, so that there is no experiment to write.",
            field="--follow-up",
        )
    data = tomllib.loads(text)
    factors = cast("list[dict[str, Any]]", data.pop("factor"))
    named = [(entry.get("name", entry["factor"]), entry) for entry in factors]
    held = [
        {**entry, "levels": entry["levels"][:1]} for name, entry in named if name not in proposed
    ]
    settings = _settings(data.get("experiment", {}), proposed)
    settings["name"] = f"after screening: {settings.get('name', path)}"
    analysis = {k: v for k, v in data.get("analysis", {}).items() if k in ("response", "quantiles")}
    return toml_text(
        {
            "experiment": settings,
            "benchmark": data["benchmark"],
            "factor": [entry for name, entry in named if name in proposed],
            "nuisance": [*held, *data.get("nuisance", [])],
            "design": {"kind": "full-factorial"},
            "analysis": {"method": "anova", **analysis},
            **({"hosts": data["hosts"]} if "hosts" in data else {}),
        }
    )


def _settings(said: Mapping[str, Any], proposed: Sequence[str]) -> dict[str, Any]:
    """The table ``[experiment]`` without effects of factors that are not varied any more."""
    settings = dict(said)
    if "power" in settings:
        settings["power"] = _of_effect(settings["power"], proposed)
    return _of_effect(settings, proposed)


def _of_effect(table: Mapping[str, Any], proposed: Sequence[str]) -> dict[str, Any]:
    varied = all(name in proposed for name in table.get("effect", "").split(":"))
    return {name: value for name, value in table.items() if varied or name != "effect"}
