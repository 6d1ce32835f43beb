"""The readers of foreign files, each with what holds of whatever it reads.

A reader either raises an error of Steelyard's or gives something that keeps the schema. Profiles of
Steelyard's own have fuzzers of their own.
"""

from __future__ import annotations

import gzip
import json
import marshal
import os
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.profile_fuzz.__main__ import corpus_of
from benchmarks.profile_fuzz.profile_readers import READERS
from steelyard.app.experiment.experiment_file import read_experiment_file
from steelyard.app.experiment.sent_part import read_sent_part
from steelyard.app.history.bisection_prior import read_weights
from steelyard.app.history.source_file import read_source_file
from steelyard.app.predict.benchmark_uses import read_uses
from steelyard.app.predict.commit_pairs import PairOptions, read_pairs, read_predictor_pairs
from steelyard.app.predict.commit_verdicts import read_verdicts
from steelyard.app.predict.platform_table import TableOptions, read_platform_table
from steelyard.app.request.project_file import read_project_file
from steelyard.app.service.service_settings import read_service_settings
from steelyard.cli.profile.agree_command import loaded_profiles
from steelyard.core.decoding import decoding
from steelyard.core.errors import DataError
from steelyard.core.experiment_check import check_experiment
from steelyard.core.json_codec import to_json
from steelyard.design.plan_part import part_document, plan_part
from steelyard.harness.adapter import Source, read_series, text_of
from steelyard.harness.adapters import ADAPTERS
from steelyard.harness.track_reader import read_track_file, recognised_reader
from steelyard.harness.track_readers import TRACK_READERS
from steelyard.host.host_journal import HostJournal
from steelyard.measure.journal_reader import read_journal, salvage_journal
from steelyard.predict.commits.program_code import ProgramCode
from steelyard.profile.paths.core_file import CoreFile
from steelyard.profile.paths.map_file import read_map
from steelyard.profile.profilers import PROFILERS, read_profile
from steelyard.store.choices import read_choices
from steelyard.store.data_table import read_data_table
from steelyard.store.file_format import detect_format, reader_of
from steelyard.store.formats import FORMATS
from steelyard.store.kept_study import kept_study
from steelyard.store.level_table import read_level_table
from steelyard.store.trial_chunk import ChunkReader, chunks_of
from steelyard.suite.read_recipe import read_recipe
from tests.experiments import failed_trial, make_experiment, make_trial
from tests.fuzz.archived_build import shared_build_readers
from tests.fuzz.files_of_programs import program_readers
from tests.fuzz.reader import Reader

HERE = Path(__file__).parent
TRACK_DATA = HERE.parent / "data" / "track_readers"
ADAPTER_DATA = HERE.parent / "data" / "adapters"
RECIPES = HERE.parent.parent / "src" / "steelyard" / "suite" / "recipes"
EXAMPLES = HERE.parent.parent / "examples"
# Formats that a process of its own reads are tested with whole files, not with millions of them.
IN_ANOTHER_PROCESS = {"parquet"}
PROFILES = ("callgrind", "cprofile", "gperftools", "py-spy", "async-profiler", "safepoint")
_PATH_MAP = {
    "schema": "steelyard/1",
    "kind": "path-map",
    "program": "p",
    "build": "ab",
    "runs": 1,
    "lost": 0,
    "guessed": 0,
    "functions": {"16": "main", "32": "f"},
    "unwatched": {"g": "too short"},
    "marks": [[16, 32, 7]],
    "nodes": {
        "parent": [-1, 0],
        "function": [16, 32],
        "height_bytes": [256, 288],
        "call_count": [1, 7],
    },
}


def _experiment_keeps_schema(experiment: Any) -> None:
    check_experiment(experiment)
    json.dumps(to_json(experiment), allow_nan=False)


def _format(name: str | None) -> Callable[[str], None]:
    def read(path: str) -> None:
        chosen = detect_format(path, FORMATS) if name is None else FORMATS.get(name)
        if chosen.name in IN_ANOTHER_PROCESS:
            return
        experiment = reader_of(chosen)(path)
        try:
            check_experiment(experiment)
        except DataError:  # As the import refuses it.
            return
        _experiment_keeps_schema(experiment)

    return read


def _adapter(name: str, pattern: str | None = None) -> Callable[[str], None]:
    def read(path: str) -> None:
        source = Source(text_of(Path(path).read_bytes()), path, pattern)
        series = read_series(ADAPTERS.get(name), source, ADAPTERS)
        assert series
        assert all(len(item.values) >= item.warmup_count for item in series)

    return read


def _track_reader(name: str | None) -> Callable[[str], None]:
    def read(path: str) -> None:
        source = Source(text_of(Path(path).read_bytes()), path)
        chosen = (
            recognised_reader(source.text, TRACK_READERS)
            if name is None
            else TRACK_READERS.get(name)
        )
        if chosen is None:
            return
        for row in read_track_file(chosen, source).rows:
            assert abs(row.value) < float("inf")
            assert row.low is None or row.high is None or row.low <= row.value <= row.high

    return read


def _profile(name: str) -> Callable[[str], None]:
    def read(path: str) -> None:
        shares = read_profile(PROFILERS.get(name), path, ()).shares
        assert abs(sum(shares.values()) - 1) < 1e-6

    return read


def _part(path: str) -> None:
    part = read_sent_part(Path(path).read_bytes(), path)
    assert all(0 <= trial.variant < len(part.experiment.variants) for trial in part.trials)
    json.dumps(part_document(part), allow_nan=False)


def _predictor(path: str) -> None:
    table, wanted, _ = read_predictor_pairs(path)
    assert 0 < wanted < 1
    assert not np.isinf(table.values).any()
    assert not (table.values < 0).any()
    assert len(table.values) == len(table.benchmarks)


def _pairs(path: str) -> None:
    table = read_pairs(path, PairOptions())
    assert not np.isinf(table.values).any()
    assert not (table.values < 0).any()


def _platforms(path: str) -> None:
    table = read_platform_table(path, TableOptions())
    assert not np.isinf(table.costs).any()


def _verdict(path: str) -> None:
    (found,) = read_verdicts([f"b={path}"], ("b",)).values()
    assert found in ("faster", "slower", "equivalent", "undecided")


def _use(path: str) -> None:
    (use,) = read_uses([f"a={path}"], _CODE)
    assert all(0 <= count < float("inf") for count in use.instructions.values())


def _history_source(path: str) -> None:
    assert all(abs(row.value) < float("inf") for row in read_source_file(path, None).rows)


def _journal(path: str) -> None:
    salvaged = salvage_journal(path)
    if salvaged is not None:
        _experiment_keeps_schema(salvaged)
    _experiment_keeps_schema(read_journal(path))


def _chunk(path: str) -> None:
    with decoding("the chunk"):
        trials = ChunkReader(variant_count=2).trials(Path(path).read_bytes())
    assert all(trial.variant in (0, 1) for trial in trials)
    json.dumps(to_json(trials), allow_nan=False)


def _host_journal(path: str) -> None:
    assert all(change.number >= 0 for change in HostJournal(path).pending)


def _kept_study(path: str) -> None:
    found = kept_study(os.path.join(os.path.dirname(path), "store"), {})
    assert found is None or isinstance(found, dict)


def _levels(path: str) -> None:
    table = read_level_table(path, times=True)
    assert len(table.data.values) > 0


def _data_table(path: str) -> None:
    assert read_data_table(path).columns


def _written(name: str) -> bytes:
    """A file of the format `name`, as it is written."""
    import tempfile

    experiment = make_experiment(
        trials=(
            make_trial(-1, variant=0, block=0, warmup=True),
            *map(make_trial, range(3)),
            failed_trial(3),
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        write = FORMATS.get(name).write
        assert write is not None
        write(experiment, path)
        return Path(path).read_bytes()


def _journal_seed() -> bytes:
    record = {
        **{"trial": 0, "block": 0, "variant": 0, "build": 0, "warmup": False, "status": "ok"},
        **{"reason": None, "exit_code": 0, "signal": None, "started_unix_ns": 1700000000500000000},
        **{"wall_ns": 2000000, "spent_ns": 3000000, "rusage": {"max_rss_kib": 1}, "counters": {}},
        **{"output": None, "stderr_tail": "", "leftover_processes": 0, "realised": {}},
    }
    spec = to_json(make_experiment(1).spec)
    lines = [
        {
            "journal": 1,
            "created_unix_s": 100.5,
            "experiment": spec,
            "provenance": {},
            "files": None,
        },
        record,
        {**record, "trial": 1, "status": "failed", "reason": "exit", "exit_code": 3},
        {"printed": 1, "values": {"wall_time": [0.5]}, "warmups": {"wall_time": [0.4]}},
        {"built": 0, "variant": 1, "cost_s": 2.5},
        {"entered": "boot", "index": 0, "cost_s": 1.0},
        {"at_levels": 0, "realised": {"aslr": "on"}},
        {"resumed_unix_s": 200.5, "spec": spec, "provenance": {}, "files": None},
        {"stopped": "runs"},
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _part_seed() -> bytes:
    part = plan_part(make_experiment(2).spec, [0, 1])
    return json.dumps(part_document(part)).encode()


def _gperftools_seed() -> bytes:
    words = [0, 3, 0, 1000, 0, *(2, 2, 0x401000, 0x401010), *(0, 1, 0)]
    maps = "400000-500000 r-xp 00000000 08:01 7 /none\n"
    return struct.pack(f"<{len(words)}Q", *words) + maps.encode()


def _cprofile_seed() -> bytes:
    key = ("p.py", 3, "f")
    return marshal.dumps({key: (1, 1, 0.5, 0.75, {("~", 0, "<exec>"): (1, 1, 0.5, 0.75)})})


_PROFILE_SEEDS = {
    "callgrind": b"version: 1\npositions: line\nevents: Ir\n\nfn=(1) main\n1 5\ncfn=(2) f\n"
    b"calls=1 7\n2 9\nfn=(2)\n+3 9\ntotals: 14\n",
    "cprofile": _cprofile_seed(),
    "gperftools": _gperftools_seed(),
    "py-spy": b"main (p.py:1);f (p.py:3) 12\nmain (p.py:1) 3\n",
    "async-profiler": b"[main tid=7];A.main;A.f 12\n[GC Thread#0 tid=8];x 3\n",
    "safepoint": b"STEELYARD-SAFEPOINT 1\nN\t12\tA.f\nT\t1000\n",
}
_CODE = ProgramCode("x86-64", "", False, *((),) * 17, source="/program")
_PROFILE = {
    "kind": "profile",
    "functions": [
        {"object": "/program", "name": "main", "samples": 7},
        {"object": "/lib/libc.so.6", "name": "free", "samples": 2},
    ],
}
_COMPARISON = {"kind": "comparison", "comparisons": [{"candidate": "B", "verdict": "faster"}]}
_PAIR = {
    **{"benchmark": "b", "known": "1", "unknown": "2", "project": "p", "order": 1.0},
    **{"distance": 1.0, "cost_s": 2.0, "values": [0.5], "changed": 1.0},
}
_PREDICTOR = {
    **{"kind": "commit-predictor", "indicators": ["edits"], "rows": [_PAIR, _PAIR]},
    **{"wanted_hit_rate": 0.99, "model_named": None},
}
_PAIRS = b"benchmark,known,unknown,changed,edits\nb,1,2,yes,3\nb,2,3,no,0\n"
_PLATFORMS = b"host,benchmark,variant,value\na,x,gcc,1.5\na,y,gcc,2\nb,x,clang,3\nb,y,clang,4\n"
_PROJECT = b"""[defaults]
runs = 20
margin = "2%"
[bench.sort]
commands = ["./sort a", "./sort b"]
metric = ["wall_time"]
stdin = "data"
"""
_CHOICES = {"schema": "steelyard/1", "kind": "choices", "digest": "a1", "chosen": {"0": 3}}
_CHANGE = {"change": 0, "knob": "aslr", "boot_id": "b", "previous": "2", "wanted": "0"}
_HOST = [{"host_journal": 1}, _CHANGE, {"failed": 0, "reason": "no"}, {"restored": 0}]


def _adapter_seeds(name: str) -> tuple[bytes, ...]:
    found = [*ADAPTER_DATA.glob(f"{name}*"), *(ADAPTER_DATA / name).glob("**/*")]
    if name == "json-lines":
        found = [ADAPTER_DATA / "lines.jsonl"]
    return tuple(path.read_bytes() for path in sorted(found) if path.is_file())


def readers() -> Mapping[str, Reader]:
    """Every reader by its name."""
    hyperfine = HERE.parent / "integration" / "data"
    table = _written("csv")
    found = {
        "journal": Reader(_journal, (_journal_seed(),)),
        "trial-chunk": Reader(
            _chunk, tuple(data for _, data in chunks_of(make_experiment().trials))
        ),
        "host-journal": Reader(
            _host_journal, (b"".join(json.dumps(r).encode() + b"\n" for r in _HOST),)
        ),
        "kept-study": Reader(_kept_study, (b'{"a | b": {"kind": "noise"}}',), "host-study.json"),
        "plan-part": Reader(_part, (_part_seed(),)),
        "path-map": Reader(lambda p: _ignore(read_map(p)), (json.dumps(_PATH_MAP).encode(),)),
        "core-file": Reader(_core, (_core_seed(),)),
        "predictor": Reader(_predictor, (json.dumps(_PREDICTOR).encode(),)),
        "commit-pairs": Reader(_pairs, (_PAIRS,), "input.csv"),
        "platform-table": Reader(_platforms, (_PLATFORMS,), "input.csv"),
        "benchmark-use": Reader(_use, (json.dumps(_PROFILE).encode(), _PROFILE_SEEDS["callgrind"])),
        "verdict": Reader(_verdict, (json.dumps(_COMPARISON).encode(),)),
        "history-source": Reader(
            _history_source,
            tuple(gzip.compress(path.read_bytes()) for path in sorted(TRACK_DATA.iterdir())),
        ),
        "choices": Reader(lambda p: _ignore(read_choices(p)), (json.dumps(_CHOICES).encode(),)),
        "level-table": Reader(
            _levels, (b"build,execution,iteration,value,cost_build_s\n0,0,0,1.5,2\n0,0,1,1.25,\n",)
        ),
        "data-table": Reader(_data_table, (b"a,b\n1,x\n2,y\n,z\n",)),
        "experiment-file": Reader(
            lambda p: _ignore(read_experiment_file(p)),
            tuple(path.read_bytes() for path in sorted(EXAMPLES.glob("**/*.toml"))),
        ),
        "service-settings": Reader(
            lambda p: _ignore(read_service_settings(p)),
            (b'[service]\ndatabase = "postgresql://me@db/bench"\nport = 0\nworker = false\n',),
        ),
        "recipe": Reader(
            lambda p: _ignore(read_recipe(p)), ((RECIPES / "lua.toml").read_bytes(),), "lua.toml"
        ),
        "format-by-content": Reader(_format(None), (table, _written("steelyard-json"))),
        "format-csv": Reader(_format("csv"), (table,)),
        "format-steelyard-json": Reader(_format("steelyard-json"), (_written("steelyard-json"),)),
        "format-hyperfine": Reader(
            _format("hyperfine"),
            tuple((hyperfine / f"hyperfine_{n}.json").read_bytes() for n in (1, 2)),
        ),
        "project-file": Reader(lambda p: _ignore(read_project_file(p)), (_PROJECT,)),
        "bisection-weights": Reader(
            lambda p: _ignore(read_weights(p)), (b'{"a1b2": 2, "HEAD~3": 0.5}',)
        ),
        "agreement": Reader(lambda p: _ignore(loaded_profiles(p)), tuple(corpus_of("agreement"))),
        "adapter-regex": Reader(
            _adapter("regex", "took (?P<value>[0-9.e+-]+) (?P<unit>[a-z]+)"), (b"took 1.5 ms\n",)
        ),
    }
    for name in PROFILES:
        found[f"profile-{name}"] = Reader(_profile(name), (_PROFILE_SEEDS[name],))
    for adapter in ADAPTERS:
        if not adapter.takes_pattern:
            seeds = _adapter_seeds(adapter.name)
            found[f"adapter-{adapter.name}"] = Reader(_adapter(adapter.name), seeds)
            if adapter.name in FORMATS:
                found[f"format-{adapter.name}"] = Reader(_format(adapter.name), seeds)
    return {
        **found,
        **_track_readers(),
        **_profile_readers(),
        **program_readers(),
        **shared_build_readers(),
    }


def _track_readers() -> dict[str, Reader]:
    """The readers of values along revisions: each one's samples, and all of them by content."""
    samples: dict[str, list[bytes]] = {reader.name: [] for reader in TRACK_READERS}
    for path in sorted(TRACK_DATA.iterdir()):
        text = text_of(path.read_bytes())
        chosen = recognised_reader(text, TRACK_READERS)
        assert chosen is not None
        samples[chosen.name].append(text.encode())
    every = tuple(data for found in samples.values() for data in found)
    named = {
        f"tracks-{name}": Reader(_track_reader(name), tuple(found), "input.csv")
        for name, found in samples.items()
    }
    return {**named, "tracks-by-content": Reader(_track_reader(None), every, "input.csv")}


def _profile_readers() -> dict[str, Reader]:
    """Those that `benchmarks.profile_fuzz` damages files for, with its corpus as seeds."""
    return {
        f"recording-{name}": Reader(_reading(READERS[name].read), tuple(corpus_of(name)))
        for name in ("steelyard", "java-map", "perf-map", "gprof", "jfr", "perf")
    }


def _reading(read: Callable[[str], object]) -> Callable[[str], None]:
    return lambda path: _ignore(read(path))


def _core(path: str) -> None:
    core = CoreFile(path)
    core.stack_start()
    core.close()


def _core_seed() -> bytes:
    """One thread, a list of one file, and a stack with one argument and no environment."""
    auxiliary = struct.pack("<4Q", 9, 0x1000, 0, 0)
    files = struct.pack("<5Q", 1, 4096, 0x1000, 0x2000, 0) + b"/p\0\0"
    status = bytes(32) + struct.pack("<I", 7) + bytes(300)
    contents = ((1, status), (6, auxiliary), (0x46494C45, files))
    notes = b"".join(
        struct.pack("<III", 5, len(data), kind) + b"CORE\0\0\0\0" + data for kind, data in contents
    )
    stack = struct.pack("<4Q", 1, 0x7000, 0, 0) + auxiliary
    head = b"\x7fELF\2\1\1" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    parts = struct.pack("<IIQQQQQQ", 4, 0, 176, 0, 0, len(notes), 0, 4)
    parts += struct.pack("<IIQQQQQQ", 1, 6, 176 + len(notes), 0x7000, 0, len(stack), len(stack), 8)
    return head + parts + notes + stack


def _ignore(_: object) -> None:
    """Give nothing."""
