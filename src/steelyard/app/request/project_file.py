"""`steelyard.toml`: what a project wants of every call, and its benchmarks by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from steelyard.app.experiment.toml_lines import field_place
from steelyard.core.decoding import fault_text, open_regular
from steelyard.core.errors import DataError, UsageError
from steelyard.core.registry import nearest

NAME = "steelyard.toml"
VARIABLE = "STEELYARD_CONFIG"
# Paths in the file are from where it lies, wherever the command is called.
PATHS = frozenset({"store", "directory", "stdin", "build_source"})
# What every call may take without being asked: nothing that runs a program or names one. A file of
# a stranger's checkout can make a call slower, or its answer another, and no more.
DEFAULTS = frozenset(
    {
        *("budget", "confidence", "cpus", "fail_if", "margin", "method", "metric", "min_runs"),
        *("note", "order", "precision", "quiet", "require", "runs", "seed", "store", "timeout"),
        *("wait", "warmup"),
    }
)
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Benchmark:
    """A benchmark by name: its commands, and the options that it is weighed with."""

    name: str
    commands: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ProjectFile:
    """What a `steelyard.toml` says; `path` is the file."""

    path: str
    defaults: Mapping[str, Any]
    benchmarks: Mapping[str, Benchmark]

    def benchmark(self, name: str) -> Benchmark:
        """The benchmark of this name.

        Raises
        ------
        UsageError
            There is none; the message lists them.
        """
        if name in self.benchmarks:
            return self.benchmarks[name]
        known = ", ".join(self.benchmarks) or "none"
        raise UsageError(
            f"{self.path} has no benchmark {name!r}.{nearest(name, self.benchmarks)} "
            f"It has: {known}.",
            field="--bench",
        )


def find_project_file(folder: str, environment: Mapping[str, str]) -> str | None:
    """The file that holds for calls in `folder`; None where there is none.

    It is the one that ``STEELYARD_CONFIG`` names (none where that is empty), else the nearest of
    the folder and those above it up to the top of the git work tree; outside of one only the
    folder's own, since anyone may put a file into a folder such as /tmp.
    """
    chosen = environment.get(VARIABLE)
    if chosen is not None:
        return chosen or None
    above: list[str] = []
    at = os.path.abspath(folder)
    while True:
        above.append(os.path.join(at, NAME))
        if os.path.exists(os.path.join(at, ".git")):
            break
        up = os.path.dirname(at)
        if up == at:
            above = above[:1]
            break
        at = up
    return next((path for path in above if os.path.isfile(path)), None)


def read_project_file(path: str) -> ProjectFile:
    """What the file says.

    Raises
    ------
    DataError
        It cannot be read, belongs to another user, is no TOML, or has a table or key that means
        nothing.
    """
    data = _parsed(path)
    for key in data:
        if key not in ("defaults", "bench"):
            raise DataError(
                f"{path}: {key} means nothing: the tables are [defaults] and [bench.NAME].",
                field=key,
            )
    defaults = _table(path, data, "defaults")
    for key in defaults:
        if key not in DEFAULTS:
            raise DataError(
                f"{field_place(path, 'defaults', key)} is no default.{nearest(key, DEFAULTS)} "
                f"Defaults are: {', '.join(sorted(DEFAULTS))}. All else goes into a [bench.NAME].",
                field=key,
            )
    benchmarks = {
        name: _benchmark(path, name, _table(path, data["bench"], name))
        for name in _table(path, data, "bench")
    }
    return ProjectFile(path, _placed(path, defaults), benchmarks)


def _parsed(path: str) -> dict[str, Any]:
    import tomllib  # Most calls have no file.

    try:
        with os.fdopen(open_regular(path), "rb") as file:
            owner = os.fstat(file.fileno()).st_uid
            data = file.read(_MOST_BYTES + 1)
        if owner not in (0, os.geteuid()):
            raise DataError(f"{path} belongs to another user; {VARIABLE}= leaves it out.")
        if len(data) > _MOST_BYTES:
            raise DataError(f"{path} has more than {_MOST_BYTES} bytes.")
        return tomllib.loads(data.decode("utf-8-sig"))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:  # A number of 5,000 digits is no TOMLDecodeError.
        raise DataError(f"{path} is not TOML: {fault_text(error)}.") from None


def _table(path: str, data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = data.get(name, {})
    if not isinstance(found, dict):
        raise DataError(f"{path}: {name} is a table, [{name}]; it is {found!r}.", field=name)
    return found


def _benchmark(path: str, name: str, table: Mapping[str, Any]) -> Benchmark:
    given = [key for key in ("command", "commands") if key in table]
    if len(given) != 1:
        raise DataError(
            f"{field_place(path, f'bench.{name}', 'command')}: a benchmark has a command, or "
            "commands in a list, and not both.",
            field="command",
        )
    commands = table[given[0]]
    texts = [commands] if given[0] == "command" else commands
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
        raise DataError(
            f"{field_place(path, f'bench.{name}', given[0])} takes "
            f"{'a text' if given[0] == 'command' else 'texts in a list'}; it got {commands!r}.",
            field=given[0],
        )
    options = {key: value for key, value in table.items() if key not in given}
    options.setdefault("directory", ".")
    return Benchmark(name, tuple(texts), _placed(path, options))


def _placed(path: str, options: Mapping[str, Any]) -> dict[str, Any]:
    folder = os.path.dirname(os.path.abspath(path))

    def placed(value: Any) -> Any:
        if isinstance(value, list):
            return [placed(item) for item in value]
        return os.path.normpath(os.path.join(folder, value)) if isinstance(value, str) else value

    return {key: placed(value) if key in PATHS else value for key, value in options.items()}
