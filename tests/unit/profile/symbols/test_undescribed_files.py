"""Where files that tell of inlined functions are gone, a report says that their time is missing."""

from __future__ import annotations

import subprocess

from steelyard.analysis.profiles.profile_answer import Recorded, profile_answer
from steelyard.profile.attribution import attribute
from steelyard.profile.symbols.debug_files import read_build_id
from tests.needs import need
from tests.unit.profile.symbols.test_mapped_files import place_of, recorded

SOURCE = """
static inline int inner(int n) { for (int i = 0; i < n; ++i) n ^= i * 3; return n; }
__attribute__((noinline)) int outer(int n) { return inner(n); }
int main(int n, char **words) { return outer(n); }
"""


def test_a_split_unit_that_is_gone_is_told_with_the_time_that_it_would_name(tmp_path):
    need("gcc")
    (tmp_path / "a.c").write_text(SOURCE)
    flags = ("-O2", "-g", "-gsplit-dwarf", "-Wl,--build-id=sha1")
    subprocess.run(["gcc", *flags, "-c", "a.c"], cwd=tmp_path, check=True)
    subprocess.run(["gcc", *flags, "a.o", "-o", "program"], cwd=tmp_path, check=True)
    path = tmp_path / "program"
    known = {"build_id": read_build_id(str(path))}
    raw = recorded(tmp_path, path, place_of(path, "outer"), **known)

    def told() -> dict[str, str]:
        times_ns, cpus = raw.samples["time_ns"], raw.samples["cpu"]
        answer = profile_answer(attribute(raw), Recorded("p", raw.header, {}, times_ns, cpus))
        return {caution.code: caution.message for caution in answer.cautions}

    assert "missing-debug-files" not in told()
    (tmp_path / "a.dwo").unlink()
    message = told()["missing-debug-files"]
    assert f"{path} has 100.0 % of the samples" in message
    assert "a.dwo. The time of functions that were inlined is that of their callers" in message
