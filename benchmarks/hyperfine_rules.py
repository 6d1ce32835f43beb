"""Hyperfine's two usual rules, on its own runs and on the trials of the tool."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats


def own_runs(first: str, second: str, runs: int, directory: Path) -> list[list[float]]:
    """The times of two commands, as many runs each, by hyperfine, in seconds."""
    target = directory / "hyperfine.json"
    subprocess.run(
        [
            "hyperfine",
            "-N",
            "--style",
            "none",
            "--runs",
            str(runs),
            "--export-json",
            str(target),
            first,
            second,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return [result["times"] for result in json.loads(target.read_text())["results"]]


def exported_times(home: Path) -> list[list[float]]:
    """The times of the last comparison, through its export to hyperfine's format, in seconds."""
    target = home / "exported.json"
    steelyard = str(Path(sys.executable).with_name("steelyard"))
    options = ["--format", "hyperfine", "-o", str(target), "--store", str(home / "store.sqlite")]
    subprocess.run(
        [steelyard, "export", "latest", *options],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,  # It names the metrics that hyperfine's format has no place for.
    )
    return [result["times"] for result in json.loads(target.read_text())["results"]]


def judge(whose: str, times: Sequence[Sequence[float]], told: dict[str, list[str]]) -> None:
    """Note what each of hyperfine's rules says of these times."""
    for name, rule in (("mean ± sigma overlap", overlap_rule), ("Welch", welch_rule)):
        told.setdefault(f"{whose}, {name} rule", []).append(rule(times))


def overlap_rule(times: Sequence[Sequence[float]]) -> str:
    """The reading of hyperfine's 'mean +- sigma': different where the two do not overlap."""
    (a, b), (da, db) = ([np.mean(t) for t in times], [np.std(t, ddof=1) for t in times])
    if a - da > b + db:
        return "faster"
    return "slower" if b - db > a + da else "undecided"


def welch_rule(times: Sequence[Sequence[float]]) -> str:
    """The rule of hyperfine's scripts/welch_ttest.py: different where p < 0.05."""
    test: Any = stats.ttest_ind(times[0], times[1], equal_var=False)
    if test.pvalue >= 0.05:
        return "undecided"
    return "slower" if np.mean(times[1]) > np.mean(times[0]) else "faster"
