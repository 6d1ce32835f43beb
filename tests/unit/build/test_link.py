"""Which linker is the real one, and what a link is refused for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.build.code_layout import Layout, Module
from steelyard.build.link import LinkSettings, arranged, find_linker, refusal
from steelyard.build.link_line import LinkLine
from steelyard.build.modules import ReadModule
from steelyard.build.randomizations import RANDOMIZATIONS

LINK_ORDER, FUNCTION_ORDER = RANDOMIZATIONS.get("link-order"), RANDOMIZATIONS.get("function-order")


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str, str], Path]:
    """Makes an executable in a folder."""

    def make(path: str, text: str = "") -> Path:
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
        return file

    return make


def test_the_linker_is_the_one_that_the_driver_would_call(
    program: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = program("wrappers/ld.lld")
    real = program("real/ld.lld")
    says = f'if [ -n "$COMPILER_PATH" ]; then echo {wrapper}; else echo {real}; fi'
    monkeypatch.setenv("STEELYARD_DRIVER", str(program("bin/clang", says)))
    monkeypatch.setenv("COMPILER_PATH", str(wrapper.parent))
    assert find_linker(str(wrapper), ("/other/ld",)) == (str(real),)


def test_a_call_that_comes_from_no_driver_goes_to_the_linker_of_the_environment(
    program: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STEELYARD_DRIVER", raising=False)
    assert find_linker(str(program("wrappers/ld")), ("/other/ld", "-x")) == ("/other/ld", "-x")


def test_a_wrapper_never_finds_itself(
    program: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    wrapper = program("wrappers/ld.gold")
    driver = program("bin/cc", f"echo {wrapper}")
    monkeypatch.setenv("STEELYARD_DRIVER", str(driver))
    monkeypatch.setenv("PATH", str(wrapper.parent))
    with pytest.raises(SystemExit):
        find_linker(str(wrapper), ())
    assert "no such linker" in capsys.readouterr().err


def module(label: str, source: str = "a.c", lto: bool = False, lumped_count: int = 1) -> ReadModule:
    return ReadModule(Module(label, label, ()), source, lto, lumped_count)


def test_order_of_objects_is_not_refused_for_what_stands_against_order_of_functions() -> None:
    whole = [module(f"{name}.o", lumped_count=3) for name in "abcde"]
    line = LinkLine((), script="-T", order_option="--shuffle-sections")
    assert refusal(line, whole, [LINK_ORDER]) is None
    assert "linker script (-T)" in str(refusal(line, whole, [LINK_ORDER, FUNCTION_ORDER]))
    told = str(refusal(LinkLine(()), whole, [FUNCTION_ORDER]))
    assert told.startswith("a.o, b.o, c.o and 2 more were compiled without -ffunction-sections")


def test_assembly_with_several_functions_is_not_refused() -> None:
    assert refusal(LinkLine(()), [module("a.o", "", lumped_count=9)], [FUNCTION_ORDER]) is None


def test_link_time_optimisation_is_refused_for_every_order() -> None:
    told = refusal(LinkLine(()), [module("a.o"), module("b.o", lto=True)], [LINK_ORDER])
    assert str(told).startswith("b.o was compiled for link-time optimisation")


def test_every_output_and_every_randomisation_has_a_stream_of_its_own() -> None:
    layout = Layout(tuple(Module(f"{number}.o", "", ()) for number in range(9)))
    settings = LinkSettings("", "", 1, ())
    drawn = [arranged(layout, [LINK_ORDER], settings, output) for output in ("a", "b", "a")]
    assert drawn[0] == drawn[2] != drawn[1]


def test_a_randomisation_may_have_a_seed_of_its_own() -> None:
    layout = Layout(tuple(Module(f"{number}.o", "", ()) for number in range(9)))
    alone = arranged(layout, [LINK_ORDER], LinkSettings("", "", 7, ()), "a")
    named = LinkSettings("", "", 1, (), seeds={"link-order": 7})
    assert arranged(layout, [LINK_ORDER], named, "a") == alone
