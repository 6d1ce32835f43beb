"""A sample within the wrapper or the mark of a call has the path of the caller."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.profile.paths.frame_sizes import write_program
from steelyard.profile.paths.map_file import read_map, write_map
from steelyard.profile.paths.marked_program import marks_of
from steelyard.profile.paths.wrapped_program import read_calls, with_wrappers
from tests.integration.conftest import User
from tests.needs import needs, needs_x86_64

pytestmark = [
    needs_x86_64,
    needs("gcc"),
]
# Most of its time passes in what leads to `leaf`, when that is wrapped.
PROGRAM = r"""
#define FUNCTION __attribute__((noinline, noclone))
volatile long sink;
FUNCTION void leaf(long n) { sink = n; }
FUNCTION void left(long n) { for (long i = 0; i < n; i++) leaf(i); sink += 1; }
FUNCTION void right(long n) { leaf(n); sink += 1; }
int main(int count, char** words) {
    for (int k = 0; k < (count > 1 ? 60 : 2); k++) { left(count > 1 ? 1000000 : 5); right(3); }
    return 0;
}
"""


@pytest.mark.parametrize(("size", "number"), [(32, None), (0, 5), (32, 5)])
def test_a_sample_in_what_leads_a_call_has_the_path_of_the_caller(
    user: User, tmp_path: Path, size: int, number: int | None
):
    (tmp_path / "program.c").write_text(PROGRAM)
    program, changed = str(tmp_path / "program"), str(tmp_path / "changed")
    subprocess.run(["gcc", "-O2", "program.c", "-o", program], cwd=tmp_path, check=True)
    first, path_map = str(tmp_path / "first"), str(tmp_path / "map")
    learn = ("profile", "paths", "learn", "-o")
    assert user.types(*learn, first, "--", program).status == 0
    at = {name: address for address, name in read_map(first).functions.items()}
    call = at["left"], at["leaf"]
    sizes, numbers = ({call: size} if size else {}), ({} if number is None else {call: number})
    data = with_wrappers(
        Path(program).read_bytes(), read_calls(program), sizes, {at["leaf"]: "leaf"}, numbers
    )
    write_program(data, program, changed)
    told = user.types(*learn, path_map, "--", changed)
    assert told.status == 0, told.err
    write_map(replace(read_map(path_map), marks=marks_of(changed)), path_map)
    profile = str(tmp_path / "profile")
    asked = ("--paths", path_map, "--period", "300us", "-o", profile)
    told = user.types("profile", "record", *asked, "--", changed, "x")
    assert told.status == 0, told.err
    shown = user.types("profile", "report", profile, "--format", "folded", "-o", "-").out
    stacks = [line.rpartition(" ")[0].split(";") for line in shown.splitlines()]
    within = [frames for frames in stacks if ".steelyard" in frames[-1]]
    assert within
    for frames in within:
        assert frames[:-1] == ["main", "left"]
    document = user.types("profile", "report", profile, "--json", "-").document()
    assert not [one for one in document["missing_in"] if ".steelyard" in one["function"]]


ALIKE = r"""
#define FUNCTION __attribute__((noinline, noclone))
volatile long sink;
FUNCTION void leaf(long n) { for (long i = 0; i < n; i++) sink += i; }
FUNCTION void left(long n) { leaf(n); sink += 1; }
FUNCTION void right(long n) { leaf(n); sink += 1; }
int main(void) {
    for (int k = 0; k < 60; k++) { left(1000000); right(1000000); }
    return 0;
}
"""


def test_walks_leave_out_what_leads_calls(user: User, tmp_path: Path):
    (tmp_path / "program.c").write_text(ALIKE)
    program, changed = str(tmp_path / "program"), str(tmp_path / "changed")
    subprocess.run(["gcc", "-O2", "program.c", "-o", program], cwd=tmp_path, check=True)
    first, path_map = str(tmp_path / "first"), str(tmp_path / "map")
    learn = ("profile", "paths", "learn", "-o")
    assert user.types(*learn, first, "--", program).status == 0
    at = {name: address for address, name in read_map(first).functions.items()}
    sizes = {(at[name], at["leaf"]): 32 for name in ("left", "right")}
    data = with_wrappers(Path(program).read_bytes(), read_calls(program), sizes, {})
    write_program(data, program, changed)
    assert user.types(*learn, path_map, "--", changed).status == 0
    profile = str(tmp_path / "profile")
    asked = ("profile", "record", "--paths", path_map, "--period", "300us", "-o", profile)
    told = user.types(*asked, "--walk-ambiguous", "--", changed)
    assert told.status == 0, told.err
    walks = user.types("profile", "report", profile, "--json", "-").document()["walked"]
    assert walks["told"] == walks["stacks"] > 10
    # `leaf`, its wrapper, and the caller that tells.
    assert walks["frames"] == 3 * walks["stacks"]
    told = user.types(*asked, "--stacks=dwarf", "--", changed)
    assert told.status == 0, told.err
    checked = user.types("profile", "report", profile, "--json", "-").document()["checked"]
    assert checked["samples"] > 10
    assert checked["wrong"] == 0
