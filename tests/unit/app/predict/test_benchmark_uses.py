"""What benchmarks do in a program, by profiles of it."""

from __future__ import annotations

import json

from steelyard.app.predict.benchmark_uses import read_uses
from steelyard.predict.commits.program_code import ProgramCode

CODE = ProgramCode("x86-64", "", False, *((),) * 17, source="/program")


def test_functions_that_a_profile_tells_apart_by_their_source_are_those_of_the_program(tmp_path):
    names = {"init [main.c]": 3, "init [net.c]": 4, "main": 2, "[program]": 1}
    rows = [{"object": "/program", "name": name, "samples": n} for name, n in names.items()]
    (tmp_path / "p.json").write_text(json.dumps({"kind": "profile", "functions": rows}))
    (use,) = read_uses([f"one={tmp_path / 'p.json'}"], CODE)
    assert dict(use.instructions) == {"init": 7, "main": 2, "[program]": 1}
