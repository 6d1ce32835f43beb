"""A pipe that nobody writes, a socket or a device in place of a file: one error at once."""

from __future__ import annotations

import gzip
import json
import os
import re
import resource
import signal
import socket
import subprocess

import click
import pytest

from steelyard.analysis.paths.path_map import PathMap, PathNode
from steelyard.cli.main import run
from steelyard.profile.paths.map_file import write_map
from steelyard.store import gzip_content
from steelyard.store.database import Store
from tests.experiments import make_experiment
from tests.integration.test_every_option import ALL

# Long enough for any machine; what waits for a writer waits for ever.
PATIENCE_S = 120
TRUE = "/bin/true"
ASKED = ("predict", "commits", "ask")
INDICATORS = ("predict", "commits", "indicators")
MAIN = {"object": "patchable", "name": "main", "samples": 7}
PROGRAMS = ("--old", "{patchable}", "--new", "{patchable}", "--use", "a={used}")
SEARCH = ("--good", "HEAD~1", "--bad", "HEAD", "--repository", "{repository}", "--run", "true")
# Each command that takes a store, called so that it looks at it.
STORED = {
    "analyze": ("latest", "--method", "groups", "--response", "wall_time", "--factors", "variant"),
    "compare": ("--runs", "2", TRUE, "true 1"),
    "delete": ("latest", "--yes"),
    "dimension": ("latest",),
    "experiment analyze": ("latest",),
    "experiment cause": (
        *("--runs", "3", "--factor", "environment-size", "--levels", "16,200"),
        *("--intervene", "aslr=off", "--", TRUE),
    ),
    "experiment events": ("--runs", "3", "--log", "log=a", "--", TRUE),
    "experiment resume": ("latest",),
    "experiment run": ("{experiment}",),
    "export": ("--format", "csv", "-o", "{new}", "latest"),
    "history acknowledge": ("r1",),
    "history add": ("{tracks}",),
    "history bisect": SEARCH,
    "history check": (),
    "history list": (),
    "history report": (),
    "history snooze": ("r1",),
    "host study": ("--knob", "aslr", "--runs", "3"),
    "import": ("{trials}",),
    "list": (),
    "measure": ("--runs", "2", TRUE),
    "package run": ("{package}", "--runs", "2"),
    "profile agree": ("--runs", "2", "--profiler", "steelyard", "--profiler", "perf", "--", TRUE),
    "report": ("--format", "text", "latest"),
    "resume": ("latest",),
    "serve": ("--port", "0"),
    "show": ("latest",),
    "submit": ("{experiment}",),
    "worker": ("--once",),
}
# A service that is nowhere: the token is read first.
FAR = ("--server", "http://127.0.0.1:9/", "--token-file")
INPUTS = [
    ("analyze", "{input}", "--method", "anova", "--response", "x", "--factors", "y"),
    ("analyze", "{input}", "--method", "states"),
    ("analyze", "{table}", "--method", "states", "--choices", "{input}"),
    ("compare", "--stdin", "{input}", "--runs", "2", TRUE, "true 1"),
    ("dimension", "--import", "{input}"),
    ("experiment", "analyze", "latest", "--file", "{input}", "--store", "{store}"),
    ("experiment", "cause", "--file", "{input}"),
    ("experiment", "events", "--file", "{input}"),
    ("experiment", "plan", "{input}"),
    ("experiment", "run", "{input}"),
    ("history", "add", "{input}"),
    ("history", "check", "--import", "{input}"),
    ("history", "report", "--import", "{input}"),
    ("import", "{input}"),
    ("import", "--format", "csv", "{input}"),
    ("import", "--format", "hyperfine", "{input}"),
    ("import", "--format", "jmh", "{input}"),
    ("import", "--format", "parquet", "{input}"),
    ("import", "--format", "steelyard-json", "{input}"),
    ("import", "--as", "a", "{input}", "--as", "b", "{input}"),
    ("measure", "--stdin", "{input}", "--runs", "2", TRUE),
    (*ASKED, "{input}", "--pairs", "{table}"),
    (*INDICATORS, "--old", "{input}", "--new", TRUE, "--use", "a={table}"),
    (*INDICATORS, "--old", TRUE, "--new", "{input}", "--use", "a={table}"),
    (*INDICATORS, "--old", TRUE, "--new", TRUE, "--use", "a={input}"),
    ("predict", "commits", "evaluate", "{input}"),
    ("predict", "commits", "learn", "{input}", "--output", "{new}"),
    ("predict", "platforms", "ask", "{input}", "--application", "x"),
    ("predict", "platforms", "suite", "{input}"),
    ("profile", "agree", "--load", "{input}"),
    ("profile", "agree", "--profile", "cprofile={input}", "--profile", "callgrind={input}"),
    ("profile", "agree", "--profile", "py-spy={input}", "--profile", "async-profiler={input}"),
    ("profile", "agree", "--profile", "gperftools={input}", "--profile", "steelyard={input}"),
    ("profile", "paths", "crash", "{input}", "--core", "{new}"),
    ("profile", "paths", "crash", "{path_map}", "--core", "{input}"),
    ("profile", "paths", "crash", "--static", "--core", "{input}"),
    ("profile", "paths", "crash", "{path_map}", "--pc", "1", "--sp", "1", "--program", "{input}"),
    ("profile", "paths", "crash", "{path_map}", "--core", "{new}", "--program", "{input}"),
    ("profile", "paths", "compare", "{input}", "{input}"),
    ("profile", "paths", "judge", "{input}"),
    ("profile", "paths", "judge", "{path_map}", "--evaluation", "{input}"),
    ("profile", "paths", "map", "{input}"),
    ("profile", "paths", "map", "--static", "{input}"),
    ("profile", "paths", "resize", "{input}"),
    ("profile", "paths", "resize", "{path_map}", "--program", "{input}"),
    ("profile", "paths", "learn", "--program", "{input}", "--", TRUE),
    ("profile", "record", "--paths", "{input}", "-o", "{new}", "--", TRUE),
    ("profile", "report", "{input}"),
    ("serve", "--port", "0", "--config", "{input}"),
    ("serve", "--port", "0", "--database", "{input}"),
    ("serve", "--check", "--config", "{input}"),
    ("serve", "--invite", "--config", "{input}"),
    ("submit", "{input}"),
    ("submit", *FAR, "{input}", "{experiment}"),
    ("suite", "add", "{input}"),
    ("trial", "run", "{input}"),
    ("worker", *FAR, "{input}"),
    ("import", "http://127.0.0.1:9/service/01M85SC0VHQM52GC8EDA4C9YQW", "--token-file", "{input}"),
    ("worker", "--directory", "{input}"),
    ("history", "bisect", *SEARCH, "--weights", "{input}"),
    ("layout", "audit", "{input}"),
    ("layout", "audit", "{moving}", "--profile", "{input}"),
    ("predict", "commits", "plan", "{input}", "--pairs", "{table}"),
    ("predict", "commits", "plan", "{predictor}", "--pairs", "{input}"),
    (*INDICATORS, *PROGRAMS, "--append", "{input}"),
    (*INDICATORS, *PROGRAMS, "--append", "{new}", "--verdict", "a={input}"),
    (*ASKED, "{predictor}", "--pairs", "{input}"),
    *(
        ("predict", "commits", name, *learnt, *words)
        for name, learnt in (
            ("ask", ["{predictor}"]),
            ("plan", ["{predictor}"]),
            ("indicators", []),
        )
        for words in (
            ("--old", "{input}", "--new", TRUE, "--use", "a={table}"),
            ("--old", TRUE, "--new", "{input}", "--use", "a={table}"),
            ("--old", TRUE, "--new", TRUE, "--use", "a={input}"),
            (*("--old", TRUE, "--new", TRUE, "--use", "a={used}"), "--changed-before", "{input}"),
        )
    ),
    ("predict", "platforms", "choose", "{input}", "--application", "x"),
    ("predict", "platforms", "evaluate", "{input}"),
    ("predict", "platforms", "fit", "{input}", "--application", "x"),
    ("predict", "platforms", "next", "{input}", "--application", "x"),
    ("dimension", "--budget", "1s", "--stdin", "{input}", "--", TRUE),
    ("experiment", "events", "--paths", "{input}", "--", TRUE),
    ("experiment", "events", "--function", "{input}:f", "--", TRUE),
    ("experiment", "events", "--probe", "{input}:a:b", "--", TRUE),
    ("package", "check", "{input}"),
    ("package", "check", "--image", "{input}", "{package}"),
    ("package", "run", "--image", "{input}", "{package}"),
    ("package", "run", "{input}"),
    *((*name.split(), "--store", "{input}", *words) for name, words in STORED.items()),
]
# Options and arguments of which the table of commands says FILE, and that are written.
WRITTEN = {
    *("--json", "--html", "--output", "-o", "--plot", "--plots", "--digest", "--follow-up"),
    *("--result", "--alerts"),
}
# What is read of a log is read while the program writes it; a service's output is its own.
READ_AS_IT_GROWS = {
    ("experiment events", "--log"),
    *((name, "--iterations") for name in ("compare", "dimension", "measure", "package run")),
}
# Arguments that are no files: programs, names, identifiers, revisions; and a file that is made.
NO_FILES = {
    *("argv", "arguments", "commands", "experiment", "experiments", "names", "program", "revision"),
    "words",
}
MADE = {
    ("experiment init", "file"),
    ("package init", "folder"),
    ("predict commits plan", "--weights"),
}
# The path of a store that may be nowhere: what is read lies beside it, and is fuzzed.
# And one of a command that runs the program before it looks at its store, as `profile agree` does.
BESIDE = {("host status", "--store"), ("profile check", "--store")}


SAID = re.compile(
    r"(?i)not a regular|is a (directory|pipe|socket)|no (such )?file|too many levels|not be read|"
    "does not exist|neither a file|nothing was written there|is a file\\.|"
    # A folder is a package, or an image; an empty one is none.
    "no run.sh at the top|is not there|there is no package|"
    # A store has its service beside it, and none runs.
    "no service runs here"
)
KINDS = ("pipe", "socket", "device", "directory", "loop")
# A device is a fine standard input.
CASES = [
    (words, kind)
    for words in INPUTS
    for kind in (("pipe",) if "--store" in words and "{store}" not in words else KINDS)
    if kind != "device" or "--stdin" not in words
]


def irregular(kind, path):
    """Something that is no regular file."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(path))
        listening.close()
    elif kind == "directory":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    else:
        return "/dev/zero"
    return str(path)


@pytest.fixture
def _patience(monkeypatch, tmp_path):
    """Whoever waits for a writer is interrupted."""

    def waited(*_):
        raise AssertionError("it waits for somebody to write into the pipe")

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("STEELYARD_LOCK", str(tmp_path / "lock"))
    before = signal.signal(signal.SIGALRM, waited)
    signal.alarm(PATIENCE_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """The other files of a call, which are all as they should be."""
    folder = tmp_path_factory.mktemp("beside")
    texts = {
        "table": "execution,iteration,value\n0,0,1\n0,1,2\n",
        "trials": "variant,value\n" + "a,1\na,2\nb,2\nb,3\n" * 3,
        "tracks": "series,revision,value\na,r1,1\na,r2,2\n",
        "pairs": "benchmark,unknown,changed,rank\n"
        + "".join(f"b,r{at},{'yes' if at % 3 else 'no'},{at % 7}\n" for at in range(12)),
        "used": json.dumps({"kind": "profile", "functions": [MAIN]}),
        "experiment": '[experiment]\nruns = 2\n[[benchmark]]\ncommand = "true"\n',
    }
    for name, text in texts.items():
        (folder / name).with_suffix(".toml" if name == "experiment" else ".csv").write_text(text)
    places = {path.stem: str(path) for path in folder.iterdir()}
    places["store"] = str(folder / "store.sqlite")
    Store(places["store"]).save(make_experiment())
    places["predictor"] = str(folder / "predictor.json")
    learn = ["predict", "commits", "learn", places["pairs"], "--output", places["predictor"]]
    assert run(learn) == 0
    places["path_map"] = str(folder / "path_map")
    write_map(
        PathMap("p", "ab", 1, {1: "main"}, {}, (PathNode(-1, 1, 256, 1),)), places["path_map"]
    )
    places["package"] = str(folder / "package")
    assert run(["package", "init", places["package"], "--", "true"]) == 0
    source, places["moving"] = folder / "moving.c", str(folder / "moving")
    source.write_text("int main(void) { return 0; }\n")
    assert run(["cc", str(source), "-o", places["moving"]]) == 0
    places["patchable"] = str(folder / "patchable")
    room = ["-fpatchable-function-entry=32", "-fno-ipa-ra", "-O1"]
    subprocess.run(["cc", *room, str(source), "-o", places["patchable"]], check=True)
    places["repository"] = str(folder / "repository")
    for words in (["init", "-q"], *(["commit", "-q", "--allow-empty", "-m", n] for n in "12")):
        folder.joinpath("repository").mkdir(exist_ok=True)
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", places["repository"], *who, *words], check=True)
    return places


@pytest.mark.usefixtures("_patience")
@pytest.mark.parametrize(("words", "kind"), CASES)
def test_what_is_no_regular_file_is_refused(words, kind, beside, tmp_path, capsys):
    given = irregular(kind, tmp_path / "given")
    places = {**beside, "input": given, "new": str(tmp_path / "new")}
    status = run([word.format(**places) for word in words])
    said = "".join(capsys.readouterr())
    assert status in (2, 4)
    assert "Traceback" not in said
    assert SAID.search(said), said
    assert "Errno" not in said


def _read(words):
    """What a call reads from ``{input}``: command and option, or command alone."""
    path = " ".join(words)
    name = next(n for n in sorted(dict(ALL), key=len, reverse=True) if path.startswith(f"{n} "))
    for at, word in enumerate(words):
        if "{input}" in word:
            flags = [before for before in words[max(0, at - 2) : at] if before.startswith("--")]
            yield (name, flags[-1]) if flags and flags[-1] != "--" else (name, "")


def _files_of_the_table():
    """Every option and argument of every command that is a file to be read."""
    for name, command in ALL:
        for item in command.params:
            words = item.metavar or ""
            flag = item.opts[0]
            if isinstance(item, click.Argument):
                if flag not in NO_FILES and (name, flag) not in MADE:
                    yield name, ""
            elif (
                ("FILE" in words or words in ("PAIRS", "PREDICTOR") or "Path" in str(item.type))
                and flag not in WRITTEN
                and (name, flag) not in READ_AS_IT_GROWS | MADE | BESIDE
            ):
                yield name, flag


def test_every_file_that_a_command_reads_is_tried_here():
    tried = {found for words in INPUTS for found in _read(words)}
    missing = set(_files_of_the_table()) - tried
    assert missing == set()


@pytest.mark.parametrize("name", ["platforms", "analysis", "history"])
def test_a_small_file_that_unpacks_to_a_large_one_is_refused(name, tmp_path, capsys):
    path = tmp_path / "bomb.csv.gz"
    line = b"host,benchmark,value\n" + b"a,b,1\n" * 50
    path.write_bytes(gzip.compress(line + b"a,b,1\n" * (gzip_content.LEAST_LIMIT_BYTES // 5), 9))
    words = {
        "platforms": ["predict", "platforms", "suite", str(path)],
        "analysis": ["analyze", str(path), "--method", "anova", "--response", "value"],
        "history": ["history", "check", "--import", str(path)],
    }[name]
    if name == "analysis":
        words += ["--factors", "host"]
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert run(words) == 2
    assert "more than 40 times its size" in capsys.readouterr().err
    grown_bytes = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib)
    assert grown_bytes < 300e6
