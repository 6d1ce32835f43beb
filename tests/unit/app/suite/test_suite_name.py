import pytest

from steelyard.app.suite.suite_name import SuiteName, parse_suite_name
from steelyard.core.errors import UsageError
from steelyard.suite.suite_compilers import Toolchain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("suite:zstd", SuiteName("zstd")),
        ("zstd@size=ref", SuiteName("zstd", size="ref")),
        ("suite:native@-O3", SuiteName("native", Toolchain(flags="-O3"))),
        ("suite:a@cc=gcc,-O1", SuiteName("a", Toolchain(cc="gcc", flags="-O1"))),
        (
            "suite:a@flags=-O2 -Wl,-z,now,cc=gcc",
            SuiteName("a", Toolchain(cc="gcc", flags="-O2 -Wl,-z,now")),
        ),
        ("suite:a@ld=lld,fc=f,cxx=c", SuiteName("a", Toolchain(ld="lld", fc="f", cxx="c"))),
    ],
)
def test_a_name_says_program_tools_and_size(text, expected):
    found = parse_suite_name(text)
    assert (found.name, found.toolchain, found.size) == (
        expected.name,
        expected.toolchain,
        expected.size,
    )


@pytest.mark.parametrize(
    "text", ["suite:", "suite:a@", "a@cc=", "a@cc=x,cc=y", "a@what", "a@size=big", "a@flags="]
)
def test_a_wrong_name_is_refused(text):
    with pytest.raises(UsageError, match=r"suite|Sizes"):
        parse_suite_name(text)


def test_what_a_name_leaves_open_comes_from_the_default():
    default = SuiteName("", Toolchain(cc="clang-19", flags="-O2"), "test")
    found = parse_suite_name("lua@-O3", default)
    assert (found.toolchain, found.size) == (Toolchain(cc="clang-19", flags="-O3"), "test")


@pytest.mark.parametrize(
    ("cc", "cxx", "fc"),
    [
        ("gcc", "g++", "gfortran"),
        ("gcc-12", "g++-12", "gfortran-12"),
        ("clang-19", "clang++-19", "gfortran"),
        ("/opt/bin/gcc-14", "/opt/bin/g++-14", "gfortran-14"),
        ("tcc", "g++", "gfortran"),
        ("/opt/bin/steelyard cc", "/opt/bin/steelyard c++", "/opt/bin/steelyard fc"),
    ],
)
def test_other_compilers_follow_from_that_of_c(cc, cxx, fc):
    assert Toolchain(cc=cc).compilers() == {"CC": cc, "CXX": cxx, "FC": fc}


def test_what_is_not_asked_for_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("CC", "my-cc")
    monkeypatch.setenv("CFLAGS", "-g")
    monkeypatch.setenv("MAKEFLAGS", "-j9")
    environment = dict(Toolchain(ld="lld").environment())
    assert Toolchain().compilers()["CC"] == "my-cc"
    assert environment["CXXFLAGS"] == "-g"
    assert environment["LDFLAGS"] == "-fuse-ld=lld"
    assert environment["MAKEFLAGS"] is None
