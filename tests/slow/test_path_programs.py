"""Two hundred programs with hard call paths: what is learnt is what a logger saw."""

from __future__ import annotations

import platform

import pytest

from steelyard.analysis.paths.path_map import PathNumbers
from steelyard.profile.paths.learning_run import learning_run
from tests.path_programs import built_logger, built_program, counted_paths, flags_of, logged_paths

PROGRAM_COUNT = 200


@pytest.mark.skipif(platform.machine() != "x86_64", reason="paths are learnt on x86-64")
def test_every_path_of_two_hundred_programs_is_learnt(tmp_path, monkeypatch):
    built_logger(tmp_path)
    monkeypatch.setenv("LOGGED_PATHS", str(tmp_path / "logged"))
    wrong = []
    for seed in range(PROGRAM_COUNT):
        program = built_program(tmp_path, seed, *flags_of(seed))
        found = learning_run([str(program)], str(program)).path_map
        numbers = PathNumbers()
        truth = counted_paths(logged_paths(tmp_path / "logged"), numbers)
        if counted_paths(found.nodes, numbers) != truth or found.guessed_count:
            wrong.append(seed)
        program.unlink()
    assert wrong == []
