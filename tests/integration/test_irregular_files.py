"""A pipe that nobody writes, a socket or a device in place of a file: one error at once."""

from __future__ import annotations

import gzip
import os
import re
import resource
import signal
import socket

import pytest

from steelyard.cli.main import run
from steelyard.store import gzip_content
from steelyard.store.database import Store
from tests.experiments import make_experiment

# Long enough for any machine; what waits for a writer waits for ever.
PATIENCE_S = 120
TRUE = "/bin/true"
ASKED = ("predict", "commits", "ask")
INDICATORS = ("predict", "commits", "indicators")
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
    ("profile", "report", "{input}"),
    ("suite", "add", "{input}"),
    ("list", "--store", "{input}"),
    ("trial", "run", "{input}"),
]


KINDS = ("pipe", "socket", "device", "directory")
# A device is a fine standard input.
CASES = [(w, kind) for w in INPUTS for kind in KINDS if kind != "device" or "--stdin" not in w]


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
    else:
        return "/dev/zero"
    return str(path)


@pytest.fixture
def _patience(monkeypatch, tmp_path):
    """Whoever waits for a writer is interrupted."""

    def waited(*_):
        raise AssertionError("it waits for somebody to write into the pipe")

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    before = signal.signal(signal.SIGALRM, waited)
    signal.alarm(PATIENCE_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("_patience")
@pytest.mark.parametrize(("words", "kind"), CASES)
def test_what_is_no_regular_file_is_refused(words, kind, tmp_path, capsys):
    given = irregular(kind, tmp_path / "given")
    table, store = tmp_path / "table.csv", tmp_path / "store.sqlite"
    table.write_text("execution,iteration,value\n0,0,1\n0,1,2\n")
    Store(str(store)).save(make_experiment())
    places = {"input": given, "table": table, "store": store, "new": tmp_path / "new"}
    status = run([word.format(**places) for word in words])
    said = capsys.readouterr().err
    assert status in (2, 4)
    assert "Traceback" not in said
    assert re.search(r"(?i)not a regular|is a (directory|pipe|socket)|no file", said), said
    assert "Errno" not in said


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
