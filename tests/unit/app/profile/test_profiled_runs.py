import os
import re
import subprocess
import sys

import pytest

from steelyard.app.profile.profiled_runs import program_runs, runs_of_builds
from steelyard.core.errors import TrialsFailedError, UsageError
from steelyard.profile.profilers import Launch, Profiler, Reading


@pytest.fixture
def script(tmp_path):
    """Makes a command of a shell script."""

    def make(name, body, first="#!/bin/sh"):
        path = tmp_path / name
        path.write_text(f"{first}\n{body}\n")
        path.chmod(0o755)
        return (str(path), "a b")

    return make


def test_a_program_that_a_signal_ends_is_refused_by_its_name(script, tmp_path):
    crash = script("crash", "echo it hurts >&2; kill -ABRT $$")
    with pytest.raises(TrialsFailedError, match=r"crash 'a b'` was ended by signal SIGABRT: it hu"):
        program_runs(crash, str(tmp_path), 1)


def test_builds_that_end_otherwise_than_the_first_are_refused(script, tmp_path):
    before, same = script("before", "exit 3"), script("same", "exit 3")
    after = script("after", "echo no input >&2; exit 9")
    assert set(runs_of_builds(before, [before, same], str(tmp_path), 1)) == {before, same}
    message = r"after 'a b'` ended with status 9: no input\. `.*before 'a b'` ends with status 3: "
    with pytest.raises(TrialsFailedError, match=message):
        runs_of_builds(before, [same, after], str(tmp_path), 1)


def test_a_run_that_fails_names_the_program_and_not_only_what_it_is_run_by(script, tmp_path):
    program, flag = script("program", f"test -e {tmp_path}/flag && exit 7; exit 0"), "flag"
    runs = program_runs(program, str(tmp_path), 1)
    (tmp_path / flag).touch()
    with pytest.raises(TrialsFailedError, match=r"program 'a b'` under env ended with status 7: "):
        runs.run(Launch(("env", *program)))


def test_a_run_that_fails_tells_what_the_program_said_and_not_what_gperftools_adds(
    script, tmp_path
):
    adds = "echo PROFILE: interrupts/evictions/bytes = 1/0/9 >&2"
    program = script("program", f"test -e {tmp_path}/flag || exit 0; echo why >&2; {adds}; exit 7")
    runs = program_runs(program, str(tmp_path), 1)
    (tmp_path / "flag").touch()
    with pytest.raises(TrialsFailedError, match="ended with status 7: why"):
        runs.run(Launch(program))


def test_a_file_that_the_kernel_cannot_run_is_one_clear_error(script, tmp_path):
    broken = script("broken", "", first="\x7fELF")
    with pytest.raises(UsageError, match=re.escape(f"{broken[0]} cannot be run: Exec format")):
        program_runs(broken, str(tmp_path), 1)


def test_what_a_program_leaves_behind_is_not_waited_for(script, tmp_path):
    held = tmp_path / "held"
    os.mkfifo(held)
    runs = program_runs(script("starter", f"cat {held} & exit 3"), str(tmp_path), 1)
    assert runs.statuses == {0, 3}
    # It ends now.
    held.write_text("")


def test_an_interrupted_run_ends_with_all_that_it_started(script, tmp_path, monkeypatch):
    held, opened, wait = tmp_path / "held", [], subprocess.Popen.wait
    os.mkfifo(held)

    def interrupted(*_):
        monkeypatch.setattr(subprocess.Popen, "wait", wait)
        opened.append(held.open("rb"))
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        program_runs(script("starter", f"tail -f /dev/null > {held} & wait"), str(tmp_path), 1)
    # To the end, which there is when nobody can write to it any more.
    with opened[0] as file:
        assert file.read() == b""


def test_a_run_gives_the_processor_time_of_the_program(tmp_path):
    program = (sys.executable, "-S", "-c", "sum(range(10**6))")
    assert program_runs(program, str(tmp_path), 1).run(Launch(program)) > 0


def test_every_run_under_a_profiler_has_a_seed_of_its_own_from_that_of_all(script, tmp_path):
    program = script("program", "exit 0")

    def seeds(seed):
        found = []

        def launch(path, argv, drawn):
            found.append(drawn)
            return Launch(tuple(argv))

        stub = Profiler("stub", "", "native", lambda _: None, launch, lambda *_: Reading({}))
        runs = program_runs(program, str(tmp_path), seed)
        for _ in range(3):
            runs.profile(stub)
        return found

    first = seeds(5)
    assert len({*first, *seeds(6)}) == 6
    assert seeds(5) == first
