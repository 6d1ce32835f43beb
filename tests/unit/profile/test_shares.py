import marshal
import struct

import pytest

from steelyard.core.errors import DataError
from steelyard.profile.profilers import PROFILERS, shares_of

DIGITS = "9" * 400


def callgrind(*costs):
    """A profile of a function for each of the costs."""
    functions = [f"fn=(1{at}) f{at}\n1 {cost}\n" for at, cost in enumerate(costs)]
    return "".join(["version: 1\npositions: line\n", *functions, "totals: 1\n"]).encode()


def cprofile(*times_s):
    """A profile of a function for each of the times."""
    return marshal.dumps({("p.py", at, f"f{at}"): (1, 1, s, s, {}) for at, s in enumerate(times_s)})


def gperftools(mapping):
    """A profile of one sample in the file that is mapped as the line says."""
    words = [0, 3, 0, 1000, 0, *(1, 1, 0x401000), *(0, 1, 0)]
    return struct.pack(f"<{len(words)}Q", *words) + mapping.encode()


DAMAGED = {
    "callgrind, 400 digits": ("callgrind", callgrind(DIGITS, 1)),
    "callgrind, together too many": ("callgrind", callgrind(10**308, 10**308)),
    "callgrind, negative": ("callgrind", callgrind(10, -1)),
    "py-spy, 400 digits": ("py-spy", f"main (p.py);f (p.py) {DIGITS}\n".encode()),
    "py-spy, no digits": ("py-spy", "main (p.py);f (p.py) ²\n".encode()),
    "async-profiler, 400 digits": ("async-profiler", f"[main tid=1];A.f {DIGITS}\n".encode()),
    "safepoint, 400 digits": ("safepoint", f"STEELYARD-SAFEPOINT 1\nN\t{DIGITS}\tf\n".encode()),
    "safepoint, no digits": ("safepoint", "STEELYARD-SAFEPOINT 1\nN\t²\tf\n".encode()),
    "cprofile, 400 digits": ("cprofile", cprofile(10**400)),
    "cprofile, NaN": ("cprofile", cprofile(1.0, float("nan"))),
    "cprofile, infinity": ("cprofile", cprofile(1.0, float("inf"))),
    "cprofile, negative": ("cprofile", cprofile(1.0, -0.1)),
    "cprofile, together too many": ("cprofile", cprofile(1e308, 1e308)),
    "gperftools, behind all files": (
        "gperftools",
        gperftools("400000-500000 r-xp ffffffffffffffff 08:01 7 /bin/true\n"),
    ),
    "gperftools, backwards": (
        "gperftools",
        gperftools("500000-400000 r-xp 00000000 08:01 7 /bin/true\n"),
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_profile_with_numbers_that_none_has_is_one_clear_error(name, tmp_path):
    profiler, data = DAMAGED[name]
    path = tmp_path / "profile"
    path.write_bytes(data)
    with pytest.raises(DataError, match=str(path)) as told:
        PROFILERS.get(profiler).read(str(path), ())
    assert "\n" not in told.value.message


def test_these_profiles_are_read_where_their_numbers_are_right(tmp_path):
    path = tmp_path / "profile"
    path.write_bytes(callgrind(1, 2**64 - 1))
    assert PROFILERS.get("callgrind").read(str(path), ()).shares["f1"] == pytest.approx(1)
    path.write_bytes(cprofile(3.0, 1.0))
    assert PROFILERS.get("cprofile").read(str(path), ()).shares["f0 (p.py)"] == 0.75
    path.write_bytes(gperftools("400000-500000 r-xp 00000000 08:01 7 /none\n"))
    assert PROFILERS.get("gperftools").read(str(path), ()).shares == {"[none]": 1.0}


def test_a_count_that_is_none_is_named():
    with pytest.raises(DataError, match=r"p\.txt is damaged: what it counts of 'g' is no finite"):
        shares_of({"f": 2.0, "g": -1.0}, "p.txt")
    with pytest.raises(DataError, match=r"p\.txt is damaged: what it counts all together is no"):
        shares_of({"f": 1e308, "g": 1e308}, "p.txt")
    with pytest.raises(DataError, match=r"p\.txt has no sample"):
        shares_of({"f": 0.0}, "p.txt")
