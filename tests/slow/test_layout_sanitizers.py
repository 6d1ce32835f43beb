"""The runtime of layout under the address, undefined-behaviour and thread sanitizers.

`make check-sanitizers` runs these alone; docs/layout.md says what each sees. What is built stays in
build/sanitized.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.layout.toolchain import NATIVE
from tests.needs import need

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "tests" / "integration" / "data" / "layout"
need("cmake", "c++", "clang-19", "ld.lld-19")
if not os.path.exists(os.path.join(NATIVE, "steelyard-relink")):
    pytest.skip("the native parts of layout are not built", allow_module_level=True)


def build(sanitizer: str, *targets: str) -> Path:
    """Builds them under a sanitizer, and gives their folder."""
    folder = ROOT / "build" / "sanitized" / sanitizer
    configure = ("cmake", "-S", str(ROOT / "native"), "-B", str(folder))
    options = ("-DCMAKE_BUILD_TYPE=Release", f"-DSTEELYARD_SANITIZER={sanitizer}")
    for words in ((*configure, *options), ("cmake", "--build", str(folder), "--target", *targets)):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "layout"


def drive(source: Path, *words: str, native: str = NATIVE) -> None:
    """Compiles with the project's driver, whose native parts are those of a folder."""
    language = "cc" if source.suffix == ".c" else "c++"
    script = (
        "import sys, steelyard.layout.toolchain as toolchain; toolchain.NATIVE = sys.argv.pop(1);"
        "from steelyard.cli.main import main; sys.exit(main())"
    )
    argv = [sys.executable, "-c", script, native, language, "-O2", str(source), *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def run(*words: str, **layout: str) -> str:
    changes = {f"STEELYARD_LAYOUT{name}": value for name, value in layout.items()}
    done = subprocess.run(
        words, env={**os.environ, **changes}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words} {layout}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("parts", ["code,stack,heap", "blocks,stack,heap"])
@pytest.mark.parametrize("sanitizer", ["address", "undefined", "thread"])
def test_copies_and_heap_are_clean_with_several_threads(
    sanitizer: str, parts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = build(sanitizer, "layout-runtime-tests")
    library = tmp_path / "liblibrary.so"
    drive(SOURCES / "library.cpp", "-std=c++20", "-fPIC", "-shared", "-o", str(library))
    monkeypatch.setenv("STEELYARD_MOVING_LIBRARY", str(library))
    out = run(str(folder / "layout-runtime-tests"), **{"": parts})
    assert "ok   threads run in copies that come and go" in out
    assert "names no library" not in out


@pytest.mark.parametrize("sanitizer", ["address", "undefined"])
def test_the_heap_over_the_c_librarys_is_clean(sanitizer: str) -> None:
    folder = build(sanitizer, "layout-runtime-tests")
    run(str(folder / "layout-runtime-tests"), _BASE="libc")


@pytest.mark.parametrize("sanitizer", ["address", "undefined"])
def test_the_relinker_and_the_pads_are_clean(sanitizer: str) -> None:
    run(str(build(sanitizer, "layout-tests") / "layout-tests"))


def test_programs_whose_whole_runtime_traps_on_undefined_behaviour_end_well(tmp_path: Path) -> None:
    folder = build("undefined", "steelyard-layout", "steelyard-module")
    native = tmp_path / "native"
    shutil.copytree(NATIVE, native)
    for name in ("steelyard-layout.o", "libsteelyard-module.a"):
        shutil.copy(folder / name, native / name)
    calls = {
        "everything.c": [("5",)],
        "exceptions.cpp": [()],
        "endurance.cpp": [("exceptions", "3"), ("mixture", "5"), ("depth", "50000")],
    }
    for name, arguments in calls.items():
        program = str(tmp_path / Path(name).stem)
        standard = () if name.endswith(".c") else ("-std=c++20",)
        drive(SOURCES / name, *standard, "-pthread", "-o", program, native=str(native))
        for words in arguments:
            for parts in ("code,stack,heap", "blocks,stack,heap"):
                run(program, *words, _INTERVAL="1ms", **{"": parts})
