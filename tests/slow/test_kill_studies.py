"""`kill -9` of Steelyard and of its launcher, at random instants of causal analyses and of studies
of events.

What must hold after each: no finished trial is lost, `resume` runs the others, and the answer is
that of all of them.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from tests.slow.test_kill import KILLS, Victim, kill_at_a_random_instant

BLOCKS, LEVELS = 4, "16,200,3000"
# Of a trial that counts: it tells of an event, and what it was told to do.
PROGRAM = """#!/bin/sh
sleep 0.02
echo "step one" >> {log_of_events}
echo "units $((1000 + $(printf %s "$STEELYARD_PADDING" | wc -c)))"
echo . >> {log}
"""
CAUSE = ("cause", "--factor", "environment-size", "--levels", LEVELS, "--intervene", "aslr=off")
TRIALS = {"cause": 2 * 3 * BLOCKS, "events": 2 * BLOCKS}


class Study(Victim):
    """A study whose programs note on a file of their own that they have ended."""

    def __init__(self, home: Path, kind: str) -> None:
        super().__init__(home)
        events = home / "events"
        self.program.write_text(PROGRAM.format(log=self.log, log_of_events=events))
        self.kind = kind
        self.options = CAUSE if kind == "cause" else ("events", "--log", f"{events}=step (\\w+)")

    def start(self) -> subprocess.Popen[bytes]:
        options = ("--runs", str(BLOCKS), "--metric", "units=units ([0-9]+):units")
        return subprocess.Popen(
            self.steelyard("experiment", *self.options, *options, "--", str(self.program)),
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )


@pytest.mark.parametrize("kind", TRIALS)
@pytest.mark.parametrize("instant", range(KILLS))
def test_a_killed_study_loses_no_finished_trial_and_is_answered_whole(tmp_path, instant, kind):
    study = Study(tmp_path, kind)
    kill_at_a_random_instant(study.start(), random.Random(instant))
    ended = study.ended_count()
    if not study.asks("list")["experiments"]:
        assert ended == 0
        return
    kept = study.asks("show", "latest", "--trials")["trials"]
    # The last one to end may have been killed before the launcher could see it end.
    assert ended - 1 <= len(kept) <= ended
    study.asks("experiment", "resume", "latest")
    trials = study.asks("show", "latest", "--trials")["trials"]
    assert [trial["position"] for trial in trials] == list(range(TRIALS[kind]))
    assert {trial["status"] for trial in trials} == {"ok"}
    answer = study.asks("experiment", kind, "--experiment", "latest")
    if kind == "cause":
        assert answer["blocks"] == BLOCKS
    else:
        assert [sum(found["counts"]) for found in answer["kinds"]] == [BLOCKS]
