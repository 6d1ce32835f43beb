"""Runs of a program before the experiment on it is planned."""

import re
import sys

import pytest

from steelyard.app.profile.pilot_runs import Pilot, Program
from steelyard.core.errors import TrialsFailedError, UsageError
from steelyard.core.profiled_spec import ProfiledSpec
from steelyard.profile.profilers import PROFILERS, Launch, Profiler, Reading
from steelyard.run.run_experiment import Place


@pytest.fixture
def script(tmp_path):
    """Makes a command of a shell script."""

    def make(name, body, first="#!/bin/sh"):
        path = tmp_path / name
        path.write_text(f"{first}\n{body}\n")
        path.chmod(0o755)
        return (str(path), "a b")

    return make


@pytest.fixture
def pilot(tmp_path, monkeypatch):
    monkeypatch.setenv("STEELYARD_LOCK", str(tmp_path / "lock"))
    return Pilot(Place(str(tmp_path / "store")), 1)


@pytest.fixture
def stub(monkeypatch):
    """A profiler that runs programs under `env`, and keeps what it drew by."""
    drawn = []

    def launch(path, argv, seed):
        drawn.append(seed)
        return Launch(("env", *argv))

    made = Profiler("stub", "", "native", lambda _: None, launch, lambda *_: Reading({"f": 1.0}))
    found = PROFILERS.get
    monkeypatch.setattr(PROFILERS, "get", lambda name: made if name == "stub" else found(name))
    return drawn


def test_a_program_that_a_signal_ends_is_refused_by_its_name(script, pilot):
    crash = script("crash", "echo it hurts >&2; kill -ABRT $$")
    with pytest.raises(TrialsFailedError, match=r"crash 'a b'` was ended by signal SIGABRT: it hu"):
        pilot.ending(crash)


def test_builds_that_end_otherwise_than_the_first_are_refused(script, pilot):
    before, same = script("before", "exit 3"), script("same", "exit 3")
    after = script("after", "echo no input >&2; exit 9")
    assert set(pilot.endings(before, [before, same])) == {before, same}
    message = r"after 'a b'` ended with status 9: no input\. `.*before 'a b'` ends with status 3: "
    with pytest.raises(TrialsFailedError, match=message):
        pilot.endings(before, [same, after])


def test_a_build_that_a_signal_ends_is_refused_by_its_name(script, pilot):
    before, after = script("before", "exit 3"), script("after", "kill -SEGV $$")
    with pytest.raises(TrialsFailedError, match="after 'a b'` was ended by signal SIGSEGV"):
        pilot.endings(before, [after])


def test_a_run_that_fails_names_the_program_and_its_profiler(script, pilot, tmp_path, stub):
    program = script("program", f"test -e {tmp_path}/flag && exit 7; exit 0")
    found = pilot.ending(program)
    (tmp_path / "flag").touch()
    with pytest.raises(TrialsFailedError, match=r"program 'a b'` under stub ended with status 7: "):
        pilot.profile(found, ProfiledSpec("stub"))


def test_a_run_that_fails_tells_what_the_program_said_and_not_what_gperftools_adds(
    script, pilot, tmp_path, stub
):
    adds = "echo PROFILE: interrupts/evictions/bytes = 1/0/9 >&2"
    program = script("program", f"test -e {tmp_path}/flag || exit 0; echo why >&2; {adds}; exit 7")
    found = pilot.ending(program)
    (tmp_path / "flag").touch()
    with pytest.raises(TrialsFailedError, match="ended with status 7: why"):
        pilot.profile(found, ProfiledSpec("stub"))


def test_a_file_that_the_kernel_cannot_run_is_one_clear_error(script, pilot):
    broken = script("broken", "", first="\x7fELF")
    with pytest.raises(UsageError, match=re.escape(f"{broken[0]} cannot be run: ")):
        pilot.ending(broken)


def test_what_a_program_leaves_behind_is_not_waited_for(script, pilot):
    assert pilot.ending(script("starter", "sleep 1000 & exit 3")).statuses == (0, 3)


def test_a_run_gives_the_processor_time_of_the_program(pilot):
    busy = "import time\nwhile time.process_time() < 0.05: pass"
    idle = "import time\ntime.sleep(0.5)"

    def measured(text):
        trial = pilot.trial(Program((sys.executable, "-S", "-c", text)))
        return trial.measurements["cpu_time"][0], trial.measurements["wall_time"][0]

    cpu_s, wall_s = measured(busy)
    assert 0.05 <= cpu_s <= wall_s
    cpu_s, wall_s = measured(idle)
    assert cpu_s + 0.5 <= wall_s


def test_every_run_under_a_profiler_has_a_seed_from_that_of_all(script, pilot, stub):
    program = Program(script("program", "exit 0"))
    for seed in (5, 5, 6):
        Pilot(pilot.place, seed).profile(program, ProfiledSpec("stub"))
    first, again, other = stub
    assert first == again
    assert first != other
