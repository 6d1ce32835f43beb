"""Every option of every command with a wrong value, without one and twice, from the command table.

Each call is made in this process. A wrong value ends in one message that names it, whichever way
the command is called; so an option that nothing reads cannot pass either.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from steelyard.app.request.project_file import DEFAULTS, VARIABLE
from steelyard.cli.main import COMMANDS, program, run

NOWHERE = "/dev/null/none"
# By what an option's help says that it takes: something that it cannot take.
WRONG = {
    "all|N|none": "some",
    "ADAPTER[:FILE]": "no-such-adapter",
    "A,B": "garbage",
    "A,B,C": "a,,b",
    "BENCHMARK": "no such",
    "BYTES": "x",
    "COLUMN": "no such",
    "COMPILER,...": "no-such-compiler=",
    "DIR": NOWHERE,
    "DIRECTORY": NOWHERE,
    "FOLDER": NOWHERE,
    "EXPERIMENT": "no-such-experiment",
    "FACTOR=LEVEL": "garbage",
    "FILE": NOWHERE,
    "FILE.toml": NOWHERE,
    "FILE=REGEX": "garbage",
    "GOOD..BAD": "garbage",
    "K": "x",
    "LEVEL=COUNT": "garbage",
    "LEVEL=TIME": "garbage",
    "LINE": "garbage",
    "LIST": "garbage",
    "MAP": NOWHERE,
    "BINARY": NOWHERE,
    "FUNCTION": "no-such-function",
    "FUNCTION@HEIGHT": "garbage",
    "PROBE": "garbage",
    "METRIC": "no such metric",
    "N": "x",
    "N,M": "x",
    "N|+N": "garbage",
    "NAME": "no such name",
    "DETECTOR": "no-such-detector",
    "URL": "nowhere",
    "TEXT": "",
    "worse[:SHARE]": "garbage",
    "NAME FILE": f"base {NOWHERE}",
    "NAME,NAME": "garbage",
    "NAME=CMD": "garbage",
    "NAME=FILE": "garbage",
    "NAME=V,V": "no-value",
    "NAME=VALUE": "=x",
    "NAME[=CMD]": "=",
    "P,Q": "7",
    "ADDRESS": "nonsense",
    "FILE|URL": "mysql://a/b",
    "PATTERN": "no such*",
    "PAIRS": NOWHERE,
    "PARTS": "garbage",
    "PARTS[@TIME]": "garbage",
    "RATIO": "x",
    "REV": "no such revision",
    "REVISION": "no such revision",
    "BENCHMARK[:METRIC]": "no such benchmark",
    "SHARE": "2h",
    "SIZE": "-3",
    "method": "no-such-method",
    "model": "no-such-model",
    "TIME": "10%",
    "TIME|RUNS": "garbage",
    "[FILE:]NAME": f"{NOWHERE}:",
    "[FILE:]PROVIDER:NAME": "garbage",
    "slower[:SHARE]": "garbage",
    "not-slower[:SHARE]": "garbage",
}
# What takes any words: wrong is only to leave them out.
ANY_WORDS = {"CMD", "COMMAND", "FLAGS", "UNIT"}
# Names of the user's own, and options of any words without a word for what they take.
FREE = {
    *(("measure", "--name"), ("compare", "--name"), ("dimension", "--name")),
    *(("measure", "--note"), ("compare", "--note"), ("dimension", "--note")),
    *(("profile agree", "--name"), ("profile agree", "--setting")),
    *(("history acknowledge", name) for name in ("--note",)),
    ("history snooze", "--note"),
    *(("history add", name) for name in ("--branch", "--host", "--benchmark")),
    *(
        (f"predict commits {name}", option)
        for name in ("ask", "indicators", "plan")
        for option in ("--known", "--unknown", "--project")
    ),
    # Names of services are asked of the system, which says for each that it is not there.
    *(("host quiet", "--stop-service"), ("host study", "--stop-service")),
    ("package run", "--note"),
    # The memory that a RAM disk copies; a run that cannot start there fails as a trial.
    ("host study", "--directory"),
    *(("worker", "--name"), ("worker", "--tag"), ("worker", "--directory")),
    # A study is looked for beside the store, and may be nowhere.
    ("host status", "--store"),
    # A function that is nowhere is told when the program is looked at, which runs it.
    *(("profile check", "--function"), ("profile check", "--control")),
}
# How each command is called: what stands behind its options. Nothing of it runs for long.
CALLS: dict[str, list[list[str]]] = {
    "analyze": [["levels.csv", "--method", "states"], ["trials.csv", "--method", "groups"]],
    "c++": [["x.cpp"]],
    "cc": [["x.c"]],
    "compare": [["--", "true", "true -x"]],
    "delete": [["none"]],
    "dimension": [["--", "true"], ["--import", "levels.csv"], ["latest"], ["--kept"]],
    "experiment analyze": [["latest"]],
    "experiment cause": [["--file", "none.toml"], ["--experiment", "latest"]],
    "experiment events": [["--file", "none.toml"], ["--experiment", "latest"]],
    "experiment init": [["no-folder/none.toml"]],
    "experiment plan": [["none.toml"]],
    "experiment resume": [["none"]],
    "experiment run": [["none.toml"], ["--dry-run", "none.toml"]],
    "experiment schema": [[]],
    "export": [["--format", "csv", "none"]],
    "fc": [["x.f90"]],
    "history acknowledge": [["r1"]],
    "history add": [["tracks.csv"]],
    "history bisect": [["--good", "HEAD", "--run", "true"]],
    "history check": [[]],
    "history list": [[]],
    "history report": [[]],
    "history snooze": [["r1"]],
    "host quiet": [["--knob", "aslr", "--", "true"]],
    "host restore": [[]],
    "host status": [[]],
    "host study": [["--dry-run"], ["--resume", "latest"]],
    "import": [["trials.csv"]],
    "layout audit": [["none"]],
    "layout run": [["--", "true"]],
    "list": [[]],
    "measure": [["--", "true"]],
    "package check": [["none"]],
    "package init": [["/dev/null/none"]],
    "package run": [["none"]],
    "predict commits ask": [["predictor.json", "--pairs", "pairs.csv"]],
    "predict commits evaluate": [["pairs.csv", "--design", "folds", "--folds", "2"]],
    "predict commits indicators": [["--old", "none", "--new", "none", "--use", "b=none"]],
    "predict commits learn": [["pairs.csv", "--output", "learnt.json"]],
    "predict commits plan": [["predictor.json", "--pairs", "pairs.csv"]],
    "predict platforms ask": [["times.csv", "--application", "b1"]],
    "predict platforms choose": [["times.csv", "--application", "b1"]],
    "predict platforms evaluate": [["times.csv"]],
    "predict platforms fit": [["times.csv", "--application", "b1"]],
    "predict platforms next": [["times.csv", "--application", "b1"]],
    "predict platforms suite": [["times.csv"]],
    "profile agree": [["--profile", "cprofile=none", "--profile", "callgrind=none"]],
    "profile check": [["--", "none"]],
    "profile paths compare": [["none", "none"]],
    "profile paths crash": [["none", "--core", "none"], ["--static", "--core", "none"]],
    "profile paths judge": [["none"]],
    "profile paths learn": [["-o", "p", "--", "none"]],
    "profile paths map": [["none"], ["--static", "none"]],
    "profile paths resize": [["none"]],
    "profile record": [["-o", "p", "--", "none"], ["-o", "p", "--", "true"]],
    "profile report": [["none"]],
    "report": [["--format", "text", "latest"]],
    "resume": [["none"]],
    "serve": [[]],
    "show": [["none"]],
    "submit": [["none.toml"]],
    "suite accept": [["none"]],
    "suite add": [["none.toml"]],
    "suite build": [["none"]],
    "suite describe": [["none"]],
    "suite doctor": [["none"]],
    "suite fetch": [["none"]],
    "suite list": [["none"]],
    "suite run": [["none"]],
    "trial run": [["spec.json"]],
    "worker": [["--once"]],
}


def commands() -> Iterator[tuple[str, click.Command]]:
    """All commands by what is typed for them, those of groups too."""
    context = click.Context(program)
    waiting = [((name,), program.get_command(context, name)) for name in COMMANDS]
    while waiting:
        path, command = waiting.pop()
        assert command is not None
        if isinstance(command, click.Group):
            waiting += [((*path, name), inner) for name, inner in command.commands.items()]
        else:
            yield " ".join(path), command


def options(command: click.Command) -> list[click.Option]:
    return [item for item in command.params if isinstance(item, click.Option) and item.name]


ALL = sorted(commands(), key=lambda pair: pair[0])
OPTIONS = [(name, option) for name, command in ALL for option in options(command)]
VALUED = [(name, option) for name, option in OPTIONS if not option.is_flag]


def named(pairs):
    return pytest.mark.parametrize(
        ("name", "option"), pairs, ids=[f"{name} {option.opts[0]}" for name, option in pairs]
    )


def wrong_values(option: click.Option) -> list[str]:
    """Values that an option cannot take."""
    if isinstance(option.type, click.IntRange | click.FloatRange):
        low = option.type.min
        below = [] if low is None else [str(low - 1)]
        return ["x", "nan", *below, "99999999999999999999", "-99999999999999999999"]
    if isinstance(option.type, click.Choice):
        return ["garbage"]
    return [] if option.metavar in ANY_WORDS else [WRONG[option.metavar or option.type.name]]


class _Stream(io.TextIOWrapper):
    """Standard output or error that is read afterwards."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def text(self) -> str:
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined]


@pytest.fixture
def type_command(tmp_path, monkeypatch):
    """Types a command in a directory of its own; its status and what it said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_STORE", str(tmp_path / "store.sqlite"))
    monkeypatch.setenv("STEELYARD_LOCK", str(tmp_path / "lock"))
    monkeypatch.setenv("STEELYARD_HOST_JOURNAL", str(tmp_path / "host.journal"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rows = [f"{e},{i},1.{i}" for e in range(3) for i in range(20)]
    Path("levels.csv").write_text("\n".join(["execution,iteration,value", *rows, ""]))
    Path("trials.csv").write_text("variant,value\n" + "a,1\na,2\nb,2\nb,3\n" * 3)
    Path("tracks.csv").write_text("series,revision,value\na,r1,1\na,r2,2\n")
    times = [f"h{h},b{b},{2 + h * b + b % 3}.5" for h in range(4) for b in range(4)]
    Path("times.csv").write_text("\n".join(["host,benchmark,value", *times, ""]))
    pairs = [f"b,r{at},{'yes' if at % 3 else 'no'},{at % 7}" for at in range(12)]
    Path("pairs.csv").write_text("\n".join(["benchmark,unknown,changed,rank", *pairs, ""]))
    run(["predict", "commits", "learn", "pairs.csv", "--output", "predictor.json"])
    Path("spec.json").write_text("{}")

    def typed(*arguments: str) -> tuple[int, str]:
        out, err = _Stream(), _Stream()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            status = run(list(arguments))
        return status, err.text()

    return typed


def refused(status: int, told: str) -> bool:
    """Whether that is one clear error for a call that is wrong, or for what is not here."""
    lines = [line for line in told.splitlines() if line.startswith("steelyard: error: ")]
    return status in (2, 4) and len(lines) == 1 and "Traceback" not in told


def test_every_command_is_called_here():
    assert sorted(CALLS) == [name for name, _ in ALL]


@pytest.mark.parametrize("name", [name for name, command in ALL if options(command)])
def test_every_number_that_an_option_takes_has_bounds(name):
    for option in options(dict(ALL)[name]):
        if isinstance(option.type, click.IntRange):
            assert option.type.min is not None, option.opts
            assert option.type.max is not None, option.opts
        assert type(option.type) not in (click.types.IntParamType, click.types.FloatParamType)


@named([(name, option) for name, option in VALUED if (name, option.opts[0]) not in FREE])
def test_a_wrong_value_is_refused_however_the_command_is_called(name, option, type_command):
    if name in ("dimension", "report", "experiment analyze") or "latest" in str(CALLS[name]):
        type_command("import", "trials.csv")
    for value in wrong_values(option):
        for call in CALLS[name]:
            flag = option.opts[0]
            if flag in call:
                continue
            given = [f"{flag}={value}"] if flag.startswith("--") else [flag, value]
            status, told = type_command(*name.split(), *given, *call)
            assert refused(status, told), (given, call, status, told)


def in_a_file(option: click.Option, value: object) -> str:
    """The line of a project file that gives an option this value."""
    assert option.name
    key = next(flag for flag in option.opts if flag.startswith("--")).lstrip("-").replace("-", "_")
    return f"{key} = {json.dumps([value] if option.multiple else value)}\n"


@named([(n, o) for n, o in VALUED if n in ("compare", "measure") and (n, o.opts[0]) not in FREE])
def test_a_wrong_value_in_a_project_file_is_refused(name, option, type_command, monkeypatch):
    monkeypatch.setenv(VARIABLE, "steelyard.toml")
    command = "commands = ['true', 'true -x']" if name == "compare" else "command = 'true'"
    for value in wrong_values(option):
        Path("steelyard.toml").write_text(f"[bench.b]\n{command}\n{in_a_file(option, value)}")
        status, told = type_command(name, "--bench", "b")
        assert refused(status, told), (value, status, told)
        assert "steelyard.toml" in told, told
        assert "there is none" not in told


@pytest.mark.parametrize("key", sorted(DEFAULTS))
def test_a_wrong_default_of_a_project_file_is_refused(key, type_command, monkeypatch):
    monkeypatch.setenv(VARIABLE, "steelyard.toml")
    flag = f"--{key.replace('_', '-')}"
    option = next(o for o in options(dict(ALL)["compare"]) if flag in (*o.opts, *o.secondary_opts))
    free = option.metavar in ANY_WORDS or ("compare", option.opts[0]) in FREE
    values = ["x"] if option.is_flag else [[["nested"]]] if free else wrong_values(option)
    for value in values:
        Path("steelyard.toml").write_text(f"[defaults]\n{in_a_file(option, value)}")
        status, told = type_command("compare", "true", "true -x")
        assert refused(status, told), (value, status, told)
        assert "steelyard.toml" in told, told


@named(VALUED)
def test_an_option_without_its_value_is_refused(name, option, type_command):
    status, told = type_command(*name.split(), option.opts[0])
    assert refused(status, told), (status, told)


@named([(name, option) for name, option in OPTIONS if not option.multiple])
def test_an_option_of_one_value_that_is_given_twice_is_refused(name, option, type_command):
    given = [option.opts[0]] if option.is_flag else [option.opts[0], "1"]
    status, told = type_command(*name.split(), *given, *given, *CALLS[name][0])
    assert status == 2
    assert f"Given twice: {option.opts[-1]}" in told


@pytest.mark.parametrize("name", [name for name, command in ALL if options(command)])
def test_an_option_that_there_is_not_is_refused(name, type_command):
    status, told = type_command(*name.split(), "--no-such-option")
    assert refused(status, told), (status, told)


IDLE = [
    ["dimension", "--import", "levels.csv", "--layout", "garbage"],
    ["dimension", "--import", "levels.csv", "--build-timeout", "10s"],
    ["dimension", "--import", "levels.csv", "--env-padding", "5"],
    ["dimension", "--import", "levels.csv", "--env-padding", "0"],
    ["dimension", "--import", "levels.csv", "--exit-code", "3"],
    ["dimension", "--import", "levels.csv", "--note", "words"],
    ["dimension", "--import", "levels.csv", "--store", "s.sqlite"],
    ["dimension", "--kept", "--layout", "none"],
    ["dimension", "latest", "--exit-code", "3"],
    ["dimension", "--unit", "ms", "--", "true"],
    ["dimension", "--variant", "a", "--", "true"],
    ["measure", "--build-timeout", "10s", "--", "true"],
    ["analyze", "levels.csv", "--method", "states", "--response", "value"],
    ["analyze", "levels.csv", "--method", "states", "--factors", "execution"],
    ["analyze", "levels.csv", "--method", "states", "--quantiles", "0.5"],
    ["analyze", "levels.csv", "--method", "states", "--store", "s.sqlite"],
    *(
        [
            *[
                "analyze",
                "trials.csv",
                "--method",
                "groups",
                "--response",
                "value",
                "--factors",
                "variant",
            ],
            *idle,
        ]
        for idle in (["--seed", "3"], ["--quantiles", "0.5"], ["--store", "s.sqlite"])
    ),
    ["host", "study", "--dry-run", "--confidence", "200%"],
    ["host", "study", "--dry-run", "--html", "page.html"],
    ["host", "study", "--dry-run", "--shell"],
    ["host", "study", "--dry-run", "--knob", "aslr", "--cpus", "0"],
    ["host", "study", "--resume", "latest", "--runs", "5"],
    ["host", "study", "--resume", "latest", "--dry-run"],
    ["host", "quiet", "--all", "--knob", "aslr", "--", "true"],
    ["host", "quiet", "--realtime-priority", "20", "--", "true"],
    ["profile", "record", "--spread", "fixed", "--ratio", "0.5", "-o", "p", "--", "true"],
    ["profile", "record", "--keep", "3", "-o", "p", "--", "true"],
    ["suite", "list", "--generators", "lua"],
    ["history", "check", "--import", "tracks.csv", "--no-confirm"],
    ["history", "check", "--import", "tracks.csv", "--webhook", "http://localhost/"],
    ["history", "check", "--budget", "1m"],
    ["history", "check", "--run", "true", "--no-confirm"],
    ["history", "add", "tracks.csv", "--metric", "all", "--metric", "value"],
    ["history", "add", "tracks.csv", "--revision", "HEAD", "--range", "a..b"],
    ["history", "report", "--import", "tracks.csv", "--store", "s.sqlite"],
    ["import", "trials.csv", "--margin", "2%"],
    ["import", "trials.csv", "--fail-if", "slower"],
    ["import", "trials.csv", "--require", "not-slower"],
    ["import", "--as", "a", "trials.csv"],
    ["import", "--as", "a", "trials.csv", "--as", "b", "trials.csv", "trials.csv"],
    ["compare", "--require", "not-slower", "--dry-run", "--", "true", "true -x"],
    ["measure", "--require", "not-slower", "--", "true"],
    ["predict", "commits", "ask", "predictor.json", "--pairs", "pairs.csv", "--known", "r1"],
    ["predict", "commits", "ask", "predictor.json", "--pairs", "pairs.csv", "--old", "x"],
    *(
        ["predict", "commits", "evaluate", "pairs.csv", "--design", design, *idle]
        for design, idle in (
            ("chronological", ("--folds", "3")),
            ("chronological", ("--seed", "3")),
            ("folds", ("--learnt", "50%")),
            ("all-learnt", ("--folds", "3")),
        )
    ),
    ["suite", "list", "--markdown", "--json", "-"],
]


@pytest.mark.parametrize("arguments", IDLE, ids=" ".join)
def test_an_option_that_would_do_nothing_is_refused(arguments, type_command):
    type_command("import", "trials.csv")
    status, told = type_command(*arguments)
    assert refused(status, told), (status, told)
    assert not os.path.exists("p")


def test_the_error_of_a_wrong_value_is_a_document_too(type_command, tmp_path):
    type_command("measure", "--warmup", "99999999999999999999", "--json", "e.json", "--", "true")
    document = json.loads((tmp_path / "e.json").read_text())
    assert (document["kind"], document["field"]) == ("error", "--warmup")
