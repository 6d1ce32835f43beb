"""What benchmarks do in a program, by profiles of it."""

from __future__ import annotations

import json
from dataclasses import replace

from steelyard.app.predict.benchmark_uses import read_uses
from steelyard.predict.commits.program_code import ProgramCode

CODE = ProgramCode("x86-64", "", False, *((),) * 17, source="/program")


def test_functions_that_a_profile_tells_apart_by_their_source_are_those_of_the_program(tmp_path):
    names = {"init [main.c]": 3, "init [net.c]": 4, "main": 2, "[program]": 1}
    rows = [{"object": "/program", "name": name, "samples": n} for name, n in names.items()]
    (tmp_path / "p.json").write_text(json.dumps({"kind": "profile", "functions": rows}))
    (use,) = read_uses([f"one={tmp_path / 'p.json'}"], CODE)
    assert dict(use.instructions) == {"init": 7, "main": 2, "[program]": 1}


def test_names_as_programmers_write_them_are_those_of_the_linker(tmp_path):
    symbols = ["_ZN5scale4Beam3sumEi", "_ZN5scale4BeamC1Ev", "_ZN5scale4BeamC2Ev", "main"]
    code = replace(CODE, names=symbols)
    counts = {"scale::Beam::sum(int)": 5, "scale::Beam::Beam()": 2, "main": 1, "other()": 1}
    rows = [{"object": "/program", "name": name, "samples": n} for name, n in counts.items()]
    (tmp_path / "p.json").write_text(json.dumps({"kind": "profile", "functions": rows}))
    (use,) = read_uses([f"one={tmp_path / 'p.json'}"], code)
    assert dict(use.instructions) == {symbols[0]: 5, symbols[1]: 2, "main": 1, "other()": 1}
