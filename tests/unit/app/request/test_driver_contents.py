"""What Steelyard's compiler drivers put into programs: only what the languages take is asked."""

from __future__ import annotations

import os

import pytest

from steelyard.app.request.layout_levels import driver_contents
from steelyard.core.errors import MissingCapabilityError
from steelyard.layout.toolchain import NATIVE

needs_native = pytest.mark.skipif(not os.path.isdir(NATIVE), reason="native parts are for x86-64")


@pytest.fixture
def only_fortran(tmp_path, monkeypatch):
    """A machine with gfortran and the linker, without clang."""
    for name in ("gfortran", "ld.lld-19", "as"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))


@needs_native
def test_fortran_alone_does_not_ask_for_clang(only_fortran):
    assert driver_contents({"FC": "steelyard fc"})


@needs_native
def test_c_asks_for_clang(only_fortran):
    with pytest.raises(MissingCapabilityError, match="clang-19 is not installed"):
        driver_contents({"CC": "steelyard cc", "FC": "steelyard fc"})


def test_other_compilers_bring_nothing():
    assert driver_contents({"CC": "gcc", "FC": "gfortran"}) == ()
