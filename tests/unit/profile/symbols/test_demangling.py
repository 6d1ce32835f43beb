"""Names of functions as their languages' own tools write them."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from steelyard.profile.symbols.demangling import function_name, is_part, readable_name
from steelyard.profile.symbols.legacy_rust_name import legacy_rust_name
from steelyard.profile.symbols.rust_names import rust_name
from tests.needs import need

RUST_NAMES = Path(__file__).parents[3] / "reference" / "rust_names.tsv"


def rust_names() -> list[list[str]]:
    lines = RUST_NAMES.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines]


def test_rust_names_are_read_as_rustfilt_reads_them():
    # What LLVM adds to a name is not part of it.
    pairs = [(mangled, plain) for mangled, plain in rust_names() if "." not in mangled]
    assert len(pairs) > 600
    assert [readable_name(mangled.encode()) for mangled, _ in pairs] == [
        plain for _, plain in pairs
    ]


def test_damaged_rust_names_stay_as_they_are():
    drawn = random.Random(1)
    for mangled, _ in rust_names():
        cut = mangled[: drawn.randrange(2, len(mangled))]
        place = drawn.randrange(2, len(mangled))
        changed = mangled[:place] + drawn.choice("_EBs0zNIuK9") + mangled[place + 1 :]
        for name in (cut, changed):
            assert readable_name(name.encode())
            for read in (rust_name, legacy_rust_name):
                assert read(name) != ""


def test_a_rust_name_that_refers_to_itself_ends():
    assert readable_name(b"_RNvB_3foo") == "_RNvB_3foo"
    nested = "_R" + "I" * 500
    assert readable_name(nested.encode()) == nested


def test_names_of_cplusplus_are_read_as_cxxfilt_reads_them():
    need("c++filt")
    names = [
        "_ZNSt6vectorIiSaIiEE9push_backEOi",
        "_ZZ4mainENKUliE0_clEi",
        "_ZNK3foo3barIJidEEEDTcl1fspfp_EEDpT_",
        "_ZN12_GLOBAL__N_16hiddenEv",
        "_ZL6staticPKc",
        "_Z3runi",
    ]
    told = subprocess.run(["c++filt", *names], capture_output=True, text=True, check=True).stdout
    assert [readable_name(name.encode()) for name in names] == told.splitlines()


@pytest.mark.parametrize(
    ("symbol", "apart", "whole"),
    [
        (b"step.part.0", "step [clone .part.0]", "step"),
        (b"step.isra.0.cold", "step [clone .isra.0] [clone .cold]", "step"),
        (b"step.constprop.12", "step [clone .constprop.12]", "step"),
        (b"_Z3runi.part.0", "run(int) [clone .part.0]", "run(int)"),
        (b"_Z3runi.cold", "run(int) [clone .cold]", "run(int)"),
        (b"read@@GLIBC_2.2.5", "read", "read"),
        (b"_RNvC1a3foo.llvm.123", "a::foo", "a::foo"),
        (b"main.part.func1", "main.part.func1", "main.part.func1"),
        (b"main.(*T).Step.func1.2", "main.(*T).Step.func1.2", "main.(*T).Step.func1.2"),
        (b".cold", ".cold", ".cold"),
        (b"_Z3runi.resume", "run(int) [clone .resume]", "run(int)"),
        (b"_Z3runPZ3runiE13_Z3runi.Frame.actor", "run(int) [clone .actor]", "run(int)"),
        (
            b"_ZN4deep3BoxIlE3runEPZNS1_3runElE27_ZN4deep3BoxIlE3runEl.Frame.destroy.cold",
            "deep::Box<long>::run(long) [clone .destroy] [clone .cold]",
            "deep::Box<long>::run(long)",
        ),
    ],
)
def test_what_compilers_make_of_a_function_is_that_function_unless_asked_for(symbol, apart, whole):
    assert function_name(symbol) == whole
    assert function_name(symbol, clones_apart=True) == apart


def test_the_rest_of_a_function_is_known_by_its_name():
    assert is_part(b"step.part.0")
    assert is_part(b"step.part.0.isra.0")
    assert not is_part(b"step.isra.0")
    assert not is_part(b"main.part.func1")


def test_procedures_of_fortran_modules_are_called_as_programmers_do():
    assert readable_name(b"__work_MOD_burn") == "work::burn"
    assert function_name(b"__work_MOD_burn.constprop.0") == "work::burn"
    # No name of gfortran has capitals.
    assert readable_name(b"__WORK_MOD_burn") == "__WORK_MOD_burn"


def test_functions_of_go_in_assembly_are_called_as_in_its_own_table():
    assert readable_name(b"runtime.futex.abi0") == "runtime.futex"
    assert function_name(b"runtime.memmove.abi0", clones_apart=True) == "runtime.memmove"
