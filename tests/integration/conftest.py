"""A user with a home of their own, who types commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from steelyard.report.documents.schemas import schema
from tests.integration.host_sandbox import changer_where_needed, may_run_on, only_changer
from tests.patience import PATIENCE_S


def validate(document: dict[str, Any]) -> None:
    """Fail unless the document keeps the schema of its kind."""
    shared = Registry().with_resource(
        "definitions.json", Resource.from_contents(schema("definitions"))
    )
    Draft202012Validator(schema(document["kind"]), registry=shared).validate(document)


@dataclass(frozen=True)
class Told:
    """What a command said, and its exit status."""

    status: int
    out: str
    err: str

    def document(self) -> dict[str, Any]:
        """The JSON that it printed, checked against its schema."""
        document = json.loads(self.out)
        validate(document)
        return document


# A test run in the background or under nohup ignores these, and so would its programs.
INTERRUPTIBLE = ("/usr/bin/env", "--default-signal=INT,HUP")


@dataclass(frozen=True)
class User:
    """Runs `steelyard` with a store, a lock and a working directory of the test's own."""

    home: Path
    environment: dict[str, str]

    def start(
        self, *arguments: str, prefix: tuple[str, ...] = (), **options: Any
    ) -> subprocess.Popen[bytes]:
        """A command that runs on, started by the words of a prefix; the caller waits for it."""
        assert may_run_on(arguments), "it changes the machine: the test needs the fixture 'alone'"
        process: Any = subprocess.Popen(
            [*prefix, *INTERRUPTIBLE, sys.executable, "-m", "steelyard.cli.main", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.home,
            env=self.environment,
            **options,
        )
        return process

    def types(self, *arguments: str) -> Told:
        """A command from its start to its end."""
        with changer_where_needed(arguments):
            process = self.start(*arguments)
            out, err = process.communicate(timeout=PATIENCE_S)
        return Told(process.returncode, out.decode(), err.decode())


@pytest.fixture
def user(tmp_path: Path) -> User:
    """A user whose home is empty."""
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "STEELYARD_LOCK": str(tmp_path / "lock"),
        "STEELYARD_CONFIG": "",
        "PYTHONWARNINGS": "error",
    }
    for name in ("STEELYARD_STORE", "STEELYARD_SUITE_CACHE"):
        environment.pop(name, None)
    return User(tmp_path, environment)


@pytest.fixture
def alone() -> Iterator[None]:
    """No other test changes this machine meanwhile: Steelyard refuses a second session of root."""
    with only_changer():
        yield


@pytest.fixture
def script(user: User) -> Callable[[str], str]:
    """Makes an executable shell script in the user's home and gives its path."""

    def make(body: str, name: str = "program") -> str:
        path = user.home / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return str(path)

    return make
