"""Benchmark packages for tests: folders with scripts, and whether this machine can contain them."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

import pytest

from steelyard.service.package.environments import container_program
from tests.needs import need_root
from tests.patience import PATIENCE_S

RESULTS = "echo 'value (count)' > results.csv; echo 1 >> results.csv\n"
COLLECT = "tar -cf results.tar results.csv; echo results.tar\n"


def package(folder: Path, run: str = RESULTS, collect: str = COLLECT, **others: str) -> Path:
    """A package whose scripts are shell's; `others` by name, with _sh for .sh."""
    folder.mkdir(parents=True, exist_ok=True)
    scripts = {"run_sh": run, "collect_sh": collect, **others}
    for name, text in scripts.items():
        path = folder / name.replace("_sh", ".sh")
        path.write_text(f"#!/bin/sh\n{text}\n" if path.suffix == ".sh" else text)
        path.chmod(0o755)
    return folder


@cache
def why_not_contained(folder: str) -> str:
    """Why no container can be had here, tried in `folder`; empty where one can."""
    state = Path(folder) / "tried"
    try:
        tried = subprocess.run(
            [container_program(), "build", str(state)],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "a container does not begin"
    return "" if tried.returncode == 0 else tried.stderr


def need_containers(folder: Path) -> None:
    """Skip where this user may make no user namespace."""
    why = why_not_contained(str(folder))
    if "namespace" in why:
        pytest.skip(f"this user may make no namespaces: {why}")
    assert why == ""


def need_trusted() -> None:
    """Skip where no package may be trusted: without root, or without loop devices."""
    need_root()
    if not os.path.exists("/dev/loop-control"):
        pytest.skip("nothing can be mounted here: there is no loop device")
