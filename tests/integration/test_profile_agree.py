import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.needs import need
from tests.profiled_programs import HOT_IN_PYTHON


def folded(user, name, **counts):
    (user.home / name).write_text(
        "".join(f"main (p.py);{k} (p.py) {v}\n" for k, v in counts.items())
    )
    return f"py-spy={name}"


def profiled(user, script):
    subprocess.run(
        ["python3", "-S", "-m", "cProfile", "-o", "c.prof", script, "100000"],
        cwd=user.home,
        check=True,
        capture_output=True,
    )
    return "cprofile=c.prof"


@pytest.fixture
def files(user):
    (user.home / "p.py").write_text(HOT_IN_PYTHON)
    first = folded(user, "1.txt", hot=80, cold=20)
    second = folded(user, "2.txt", hot=70, cold=30)
    return ["--profile", first, "--profile", second, "--profile", profiled(user, "p.py")]


def test_profiles_that_are_there_are_compared(user, files):
    document = user.types("profile", "agree", *files, "--name", "p", "--json", "-").document()
    (program,) = document["programs"]
    assert program["hottest"] == {"py-spy": "hot (p.py)", "cprofile": "hot (p.py)"}
    assert program["unions"][0]["estimate"] == 1
    shares = {(h["profiler"], h["function"]): h["share"] for h in program["hotness"]}
    assert shares["py-spy", "hot (p.py)"]["estimate"] == pytest.approx(0.75)
    assert document["relations"] == {"agree": 1, "caller-callee": 0, "disagree": 0}


def test_documents_are_taken_in_again_and_shown_together(user, files):
    wrong = ["--profile", folded(user, "w.txt", cold=90, hot=10), *files[-2:]]
    for name, words in (("one", files), ("two", wrong)):
        told = user.types("profile", "agree", *words, "--name", name, "--json", f"{name}.json")
        assert told.status == 0, told.err
    load = ["--load", "one.json", "--load", "two.json"]
    told = user.types("profile", "agree", *load, "--html", "page.html")
    assert told.status == 0, told.err
    # cProfile saw that hot calls cold.
    assert "Of 2 pairs of profilers: 1 agree, 1 one calls the other, 0 disagree." in told.out
    assert "Pairs of profilers over all programs" in told.out
    both = user.types("profile", "agree", *load, "--json", "-").document()
    alone = json.loads((user.home / "one.json").read_text())
    assert both["programs"][0]["unions"] == alone["programs"][0]["unions"]
    (pair,) = both["pairs"]
    assert pair["profilers"] == ["cprofile", "py-spy"]
    assert pair["relations"] == {"agree": 1, "caller-callee": 1, "disagree": 0}
    assert 0 < pair["distance"]["estimate"] < 1
    page = (user.home / "page.html").read_text()
    assert "Is the disagreement harmless?" in page
    assert "http://" not in page.split('<script id="figures"')[0]


def test_a_program_is_run_under_each_profiler(user):
    if shutil.which("py-spy") is None and not Path(sys.executable).with_name("py-spy").exists():
        pytest.skip("no py-spy here")
    (user.home / "p.py").write_text(HOT_IN_PYTHON)
    command = ("--runs", "2", "--json", "-", "--", "python3", "-S", "p.py", "3000000")
    told = user.types("profile", "agree", *command)
    (program,) = told.document()["programs"]
    assert program["hottest"] == {"py-spy": "hot (p.py)", "cprofile": "hot (p.py)"}
    assert {len(runs) for runs in program["runs"].values()} == {2}


DOCUMENT = {"kind": "agreement", "programs": [{"name": "p", "setting": "", "calls": []}]}


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ({}, "its program 'p' has not two profilers with a run of each"),
        ({"perf": [{"a": 1}]}, "its program 'p' has not two profilers with a run of each"),
        ({"perf": [{"a": 1}], "gprof": []}, "has not two profilers with a run of each"),
        ({"perf": [{"a": 1}], "gprof": [{}]}, "a run has no share"),
        ({"perf": [{"a": 1}], "gprof": [{"a": 0}]}, "a run has no share"),
        ({"perf": [{"a": 1}], "gprof": [{"a": 10**400}]}, "int too large"),
        ({"perf": [{"a": 1}], "gprof": [{"a": -1}]}, "one that is not between 0 and 1"),
        ({"perf": [{"a": 1}], "gprof": [{"a": float("nan")}]}, "not between 0 and 1"),
        (None, "it has no 'runs'"),
    ],
)
def test_a_document_that_says_nothing_is_one_clear_error(user, runs, message):
    program = {**DOCUMENT["programs"][0], **({} if runs is None else {"runs": runs})}
    (user.home / "d.json").write_text(json.dumps({**DOCUMENT, "programs": [program]}))
    told = user.types("profile", "agree", "--load", "d.json")
    assert told.status == 2
    assert "d.json is not a document of `steelyard profile agree --json`" in told.err
    assert message in told.err
    assert told.err.count("\n") == 1


def test_a_program_that_comes_twice_is_one_clear_error(user, files):
    words = ("--name", "p", "--setting", "-O2", "--json", "p.json")
    assert user.types("profile", "agree", *files, *words).status == 0
    told = user.types("profile", "agree", "--load", "p.json", "--load", "p.json")
    assert told.status == 2
    assert "The program 'p' with the setting '-O2' comes twice." in told.err


def test_profiles_without_a_common_function_are_one_clear_error(user, files):
    other = folded(user, "other.txt", another=9, stranger=1)
    told = user.types("profile", "agree", "--profile", other, *files[-2:])
    assert told.status == 2
    assert "No function of py-spy's (another (p.py), stranger (p.py)) is in any" in told.err
    assert "Are these profiles of one program?" in told.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Name a program after --"),
        (("--", "./none"), "There is no program './none'"),
        (("--profiler", "perf", "--", "true"), "Agreement takes two profilers; there is perf"),
        (("--profiler", "cprofile", "--", "true"), "cprofile profiles python programs"),
        (("--profile", "perf", "--", "true"), "--profile wants NAME=FILE"),
        (("--profile", "gprof=gmon.out"), "Which program was it?"),
        (("--profile", "gprof=p.py", "--", "true"), "true was not built for gprof"),
        (("--profile", "gperftools=."), "The profile . is not a regular file"),
        (("--profile", "perf=."), "The profile . is not a regular file"),
        (("--profile", "perf=p.py"), "p.py is not a profile of perf: it does not begin as one"),
        (("--profile", "jfr=p.py"), "p.py is not a recording of the flight recorder"),
        (("--html", "no/p.html", "--", "true"), "there is no folder no"),
        (("--profile", "perf=p.py", "--runs", "2"), "--runs has nothing to act on: --profile"),
        (("--profile", "perf=p.py", "--profiler", "jfr"), "--profiler has nothing to act on"),
        (("--load", "p.py", "--name", "p"), "--name has nothing to act on: --load reads"),
        (("--load", "none.json"), "none.json cannot be read"),
        (("--load", "p.py"), "p.py is not JSON"),
        (("--load", "list.json"), "list.json is not a document of `steelyard profile agree"),
        (("--command", "perf", "--", "true"), "--command wants NAME=CMD"),
        (("--command", "perf='a", "--", "true"), "--command cannot be read"),
    ],
)
def test_a_wrong_call_is_one_clear_error(user, arguments, message):
    (user.home / "p.py").write_text(HOT_IN_PYTHON)
    (user.home / "list.json").write_text("[1, 2]")
    told = user.types("profile", "agree", *arguments)
    if told.status == 4:
        pytest.skip(told.err)
    assert told.status == 2
    assert message in told.err
    assert told.err.count("error:") == 1


def test_a_program_that_a_signal_ends_is_one_clear_error(user):
    need("valgrind")
    profilers = ("--profiler", "steelyard", "--profiler", "callgrind")
    told = user.types("profile", "agree", *profilers, "--", "sh", "-c", "kill -ABRT $$")
    assert told.status == 3
    assert "`sh -c 'kill -ABRT $$'` was ended by signal SIGABRT: " in told.err
    assert told.err.count("\n") == 1


def test_runs_that_nobody_counted_end_within_a_minute_and_are_announced(user):
    from steelyard.app.profile.profiler_agreement import FEWEST_RUNS, USUAL_BUDGET_S, USUAL_RUNS

    (user.home / "p.py").write_text(HOT_IN_PYTHON)
    arguments = ("--profiler", "cprofile", "--profiler", "py-spy")
    told = user.types("profile", "agree", *arguments, "--", sys.executable, "p.py", "300000")
    assert told.status in (0, 3), told.err
    assert "10 runs under each of 2 profilers (cprofile, py-spy) or as many as 60 s" in told.err
    shown = user.types("show", "latest", "--json", "-").document()
    stopping = shown["specification"]["stopping"]
    assert (stopping["runs"], stopping["budget_s"]) == (USUAL_RUNS, USUAL_BUDGET_S)
    assert stopping["budget_blocks"] == FEWEST_RUNS
