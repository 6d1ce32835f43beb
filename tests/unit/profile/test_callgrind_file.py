"""What a file of callgrind counts, by the manual's own words of its format."""

import pytest

from steelyard.core.errors import DataError
from steelyard.profile.callgrind_file import read_callgrind

TEXT = """# callgrind format
version: 1
positions: line
events: Ir I1mr D1mr Bcm
ob=(1) /tmp/program
fl=(1) a.c
fn=(1) main
1 10 1 2 3
cob=(2) /lib/libc.so.6
cfn=(2) puts
calls=4 0
2 400 9 9 9
cfn=(3) hot
calls=2 0
+1 90
fn=(3)
5 40
+1 50 0 1
fn=(4) hot'2
7 5
cfn=(3)
calls=3 0
8 5
ob=(2)
fn=(2)
9 400 9
totals: 505
"""


@pytest.fixture
def profile(tmp_path):
    path = tmp_path / "callgrind.out"
    path.write_text(TEXT)
    return read_callgrind(str(path))


def test_instructions_are_each_functions_own_by_its_object(profile):
    assert profile.instructions == {
        ("/tmp/program", "main"): 10,
        ("/tmp/program", "hot"): 95,
        ("/lib/libc.so.6", "puts"): 400,
    }


def test_calls_are_counted_and_recursion_is_a_call_of_the_function_itself(profile):
    main, hot = ("/tmp/program", "main"), ("/tmp/program", "hot")
    assert profile.calls == {(main, ("/lib/libc.so.6", "puts")): 4, (main, hot): 2, (hot, hot): 3}


def test_misses_of_caches_and_branches_come_together(profile):
    assert profile.misses == {
        ("/tmp/program", "main"): 6,
        ("/tmp/program", "hot"): 1,
        ("/lib/libc.so.6", "puts"): 9,
    }


BY_ADDRESS = """version: 1
positions: instr line
events: Ir
ob=(1) /tmp/program
fn=(1) main
0x1000 3 10
+4 * 20
cfn=(2) hot
calls=2 0x2000 9
* * 500
-4 -1 5
fn=(2)
0x2000 9 400
+0x10 +1 100
totals: 535
"""


def test_executions_of_each_instruction_are_by_its_address_without_those_of_callees(tmp_path):
    path = tmp_path / "callgrind.out"
    path.write_text(BY_ADDRESS)
    counts = {0x1000: 15, 0x1004: 20, 0x2000: 400, 0x2010: 100}
    found = read_callgrind(str(path))
    assert found.at_addresses == {("/tmp/program", at): count for at, count in counts.items()}
    assert sum(found.instructions.values()) == sum(counts.values())


def test_a_profile_by_lines_has_no_addresses(profile):
    assert profile.at_addresses == {}


@pytest.mark.parametrize("place", ["-4", "0xg", "+-4", "0x1ffffffffffffffff", "1_0x", "--4"])
def test_what_is_no_address_is_refused(place, tmp_path):
    path = tmp_path / "callgrind.out"
    path.write_text(f"version: 1\npositions: instr\nevents: Ir\nfn=(1) f\n{place} 9\ntotals: 9\n")
    with pytest.raises(DataError, match="not a profile of callgrind"):
        read_callgrind(str(path))


@pytest.mark.parametrize(
    "line",
    ["calls=", "calls= 8", "calls=-9 8", "calls=1_0 8", "calls=\u0663 8", "9 -9", f"9 {'9' * 400}"],
)
def test_what_is_no_count_is_refused(line, tmp_path):
    path = tmp_path / "callgrind.out"
    path.write_text(f"version: 1\nevents: Ir\nfn=(1) f\ncfn=(2) g\n{line}\ntotals: 1\n")
    with pytest.raises(DataError, match="no count"):
        read_callgrind(str(path))


def test_a_file_that_was_cut_off_is_refused(tmp_path):
    path = tmp_path / "callgrind.out"
    path.write_text(TEXT.partition("totals")[0])
    with pytest.raises(DataError, match="no totals"):
        read_callgrind(str(path))
