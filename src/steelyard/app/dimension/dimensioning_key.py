"""What a dimensioning holds for: benchmark, its content, platform and runtime.

The same for a stored experiment and for one that is about to run, because both are described by
a specification and its provenance.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.hashing import sha256_of
from steelyard.core.json_codec import to_json

# Facts of the host that programs' times hang on and that stay over reboots.
_PLATFORM = ("machine", "cpu_model", "cpu_count", "smt", "virtualisation", "kernel")
_LAUNCH = ("argv", "environment", "working_directory", "stdin_file", "environment_padding_bytes")
_BUILD = ("argv", "environment", "compilers", "randomize")
_ITERATIONS = ("adapter", "file", "pattern", "benchmark", "warmup_count")


@dataclass(frozen=True)
class DimensioningKey:
    """Of a benchmark: what it is asked for by, and its programs, machine and tools by content."""

    benchmark: Mapping[str, Any]
    content: Mapping[str, Any]
    platform: Mapping[str, Any]
    runtime: Mapping[str, Any]

    def digests(self) -> dict[str, str]:
        """A digest of each part, by its name."""
        return {name: _digest(part) for name, part in self.parts().items()}

    def parts(self) -> dict[str, Mapping[str, Any]]:
        """The parts by their names."""
        return {
            "benchmark": self.benchmark,
            "content": self.content,
            "platform": self.platform,
            "runtime": self.runtime,
        }


def dimensioning_key(
    spec: ExperimentSpec, variant: int, provenance: Mapping[str, Any]
) -> DimensioningKey | None:
    """The key of one variant; None for an experiment that was imported.

    Notes
    -----
    A program found through the ``PATH`` that is given files (``python bench.py``, ``java -jar
    x.jar``) is the runtime of these; any other program is itself the content.
    """
    programs = provenance.get("programs")
    if not programs or not spec.variants[variant].launch.argv:
        return None
    chosen, program = spec.variants[variant], programs[variant]
    content: dict[str, Any] = {"files": program.get("files", ())}
    runtime: dict[str, Any] = {}
    if chosen.build is not None:
        content["source"] = program.get("build", {}).get("source")
        content["variables"] = program.get("build", {}).get("inherited")
        runtime["tools"] = program.get("build", {}).get("tools")
    else:
        own = {name: program.get(name) for name in ("path", "sha256", "release")}
        is_tool = "/" not in chosen.launch.argv[0] and bool(program.get("files"))
        (runtime if is_tool else content)["program"] = own
        runtime["compiler"] = None if is_tool else program.get("compiler")
        runtime["interpreter"] = _file(program.get("interpreter"))
    host = provenance.get("host", {})
    iterations = spec.iterations
    return DimensioningKey(
        benchmark={
            "launch": _fields(chosen.launch, _LAUNCH),
            "build": None if chosen.build is None else _fields(chosen.build, _BUILD),
            "iterations": None if iterations is None else _fields(iterations, _ITERATIONS),
            "levels": [level.name for level in spec.user_levels],
        },
        content=content,
        platform={name: host.get(name) for name in _PLATFORM},
        runtime=runtime,
    )


def changes(before: Mapping[str, Any], after: DimensioningKey) -> Iterator[str]:
    """What is no longer as it was, in a few words each; `before` holds the parts of a key."""
    words = {"content": "the benchmark", "platform": "the machine", "runtime": "the compiler"}
    if "program" in after.runtime or after.runtime.get("interpreter"):
        words["runtime"] = "the runtime"
    # Through JSON, as what is stored has gone.
    now = json.loads(_text(after.parts()))
    for part, what in words.items():
        names = sorted({*before[part], *now[part]})
        different = [name for name in names if before[part].get(name) != now[part].get(name)]
        if different:
            told = ", ".join(_change(name, before[part], now[part]) for name in different)
            yield f"{what} has changed ({told})"


def _change(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    old, new = before.get(name), after.get(name)
    if name == "files":
        paths = [f["argument"] for f in [*(old or ()), *(new or ())]]
        altered = [p for p in dict.fromkeys(paths) if _named(old, p) != _named(new, p)]
        return ", ".join(altered)
    plain = isinstance(old, str | int | None) and isinstance(new, str | int | None)
    short = plain and len(f"{old}{new}") < 100
    return f"{name}: {old}, now {new}" if short and name != "source" else name.replace("_", " ")


def _named(files: Any, argument: str) -> Any:
    return next((file for file in files or () if file["argument"] == argument), None)


def _file(about: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if about is None else {name: about.get(name) for name in ("path", "sha256")}


def _fields(value: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def _text(value: Any) -> str:
    return json.dumps(to_json(value), sort_keys=True)


def _digest(part: Mapping[str, Any]) -> str:
    return sha256_of(_text(part).encode()).hex()
