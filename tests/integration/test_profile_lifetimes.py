"""How recordings begin and end: with what runs already, and by signals; what files have before."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.conftest import User
from tests.integration.profiling import NO_SAMPLES, sampled, samples_of
from tests.needs import need
from tests.patience import awaited, line_of, said_by

BUSY = "while :; do :; done"
CHANGED = "changed-files"
COUNTING = (sys.executable, "-c", "sum(i * i for i in range(2_000_000))")
# It tells that it runs, and goes on for as long as it is let.
ENDLESS = (sys.executable, "-uc", "print('runs')\nwhile True: pass")


def test_a_program_finds_signals_as_it_would_without_the_sampler(user: User) -> None:
    told = sampled(user, "record", "--", "grep", "SigIgn", "/proc/self/status")
    ignored = int(told.out.split()[1], 16)
    # What ran these tests may ignore others. Signal n is bit n - 1.
    changed = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)
    assert not [number for number in changed if ignored >> (number - 1) & 1]


def test_a_program_that_ctrl_c_ends_has_that_as_its_status(user: User) -> None:
    sampled(user, "record", "--", *COUNTING)
    recording = user.start("profile", "record", "--", *ENDLESS, start_new_session=True)
    assert line_of(recording) == b"runs\n"
    os.killpg(recording.pid, signal.SIGINT)
    _, err = said_by(recording)
    # Python takes the signal for itself first, and then ends by it.
    assert recording.returncode == 128 + signal.SIGINT, err.decode()
    assert samples_of(user.types("profile", "report", "--json", "-").document())


def test_a_sampler_that_is_told_to_end_takes_the_program_along(user: User) -> None:
    sampled(user, "record", "--", *COUNTING)
    recording = user.start("profile", "record", "--", *ENDLESS)
    assert line_of(recording) == b"runs\n"
    recording.terminate()
    out, err = said_by(recording)
    assert recording.returncode == 128 + signal.SIGTERM, err.decode()
    assert out == b""
    assert samples_of(user.types("profile", "report", "--json", "-").document())


def objects_of(user: User) -> set[str]:
    """The files that had samples; none where the program had no turn while it was recorded."""
    document = user.types("profile", "report", "--json", "-").document()
    if "functions" not in document:
        assert "no sample of the program" in document["message"]
    return {
        os.path.realpath(item["object"])
        for item in document.get("functions", [])
        if item["samples"]
    }


@pytest.mark.parametrize("scope", ["cpus", "threads"])
def test_what_a_process_had_started_before_is_seen_with_its_code(user: User, scope: str) -> None:
    need("sh")
    only = ("--threads-only",) if scope == "threads" else ()
    words = ["sh", "-c", f"(echo runs; {BUSY}); :"]
    objects: set[str] = set()
    with subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True) as parent:
        line_of(parent)
        try:
            # How long it waits for a processor is the machine's.
            for duration in ("300ms", "3s", "30s"):
                sampled(user, "record", *only, "--duration", duration, "--pid", str(parent.pid))
                if objects := objects_of(user):
                    break
        finally:
            os.killpg(parent.pid, signal.SIGKILL)
    assert os.path.realpath(shutil.which("sh") or "") in objects


def test_a_process_that_is_dead_but_not_waited_for_ends_its_recording(user: User) -> None:
    need("sh")
    # The grandchild is waited for by nobody while its parent sleeps.
    end = shlex.quote(str(user.home / "end"))
    script = f"sh -c 'while [ ! -e {end} ]; do :; done' & echo $!; exec sleep 1000"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE) as parent:
        watched = line_of(parent).decode().strip()
        try:
            recording = user.start("profile", "record", "--pid", watched)
            profile = user.home / "steelyard.profile"
            awaited(lambda: recording.poll() is not None or profile.exists())
            (user.home / "end").touch()
            _, err = said_by(recording)
            if recording.returncode == NO_SAMPLES:
                pytest.skip(f"this machine gives no samples: {err.decode()}")
            assert recording.returncode == 0, err.decode()
            assert parent.poll() is None
        finally:
            parent.kill()


def test_a_process_that_was_dead_before_its_recording_began_has_nothing_to_record(
    user: User,
) -> None:
    dead = os.fork()
    if dead == 0:
        os._exit(0)
    try:
        os.waitid(os.P_PID, dead, os.WEXITED | os.WNOWAIT)
        for options in ((), ("--threads-only",)):
            told = user.types("profile", "record", *options, "--pid", str(dead))
            assert told.status == 2
            assert f"Process {dead} has ended" in told.err
    finally:
        os.waitpid(dead, 0)


def test_a_thread_is_no_process_to_watch(user: User) -> None:
    script = "import threading\nthreading.Thread(target=input).start()\nprint('runs', flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as program:
        line_of(program)
        (thread,) = set(os.listdir(f"/proc/{program.pid}/task")) - {str(program.pid)}
        told = user.types("profile", "record", "--pid", thread)
        program.kill()
    assert told.status == 2
    assert f"give --pid {program.pid}" in told.err


def test_a_recording_that_never_begins_leaves_the_older_one(user: User, tmp_path: Path) -> None:
    sampled(user, "record", "--", *COUNTING)
    before = (user.home / "steelyard.profile").read_bytes()
    script = tmp_path / "script"
    script.write_text("#!/nowhere\n")
    script.chmod(0o755)
    told = user.types("profile", "record", "--", str(script))
    assert told.status == 2
    assert "cannot be started" in told.err
    assert (user.home / "steelyard.profile").read_bytes() == before


def test_a_program_that_changed_after_its_recording_is_told_of(user: User) -> None:
    need("sh", "objcopy", "true")
    program = user.home / "program"
    # Without a build id, by which it would be known for another one.
    shell = shutil.which("sh") or ""
    command = ["objcopy", "--remove-section=.note.gnu.build-id", shell, str(program)]
    subprocess.run(command, check=True)
    counting = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
    sampled(user, "record", "--", str(program), "-c", counting)

    def warned() -> dict[str, str]:
        document = user.types("profile", "report", "--json", "-").document()
        return {item["code"]: item["message"] for item in document["warnings"]}

    assert not {CHANGED, "foreign-files"} & warned().keys()
    with open(program, "ab") as file:
        file.write(b"more")
    assert str(program) in warned()[CHANGED]
    # As a linker does: another file in its place, whose own time may be older.
    shutil.copy2(shutil.which("true") or "", user.home / "built anew")
    (user.home / "built anew").replace(program)
    assert str(program) in warned()["foreign-files"]


def test_a_recording_is_not_mixed_with_an_older_one_to_the_same_file(user: User) -> None:
    sampled(user, "record", "--rotate", "1k", "--period", "100us", "--", *COUNTING)
    assert (user.home / "steelyard.profile.1").exists()
    (user.home / "steelyard.profile.7").write_text("something else\n")
    (user.home / "steelyard.profile.java-1").write_text("a map of another recording\n")
    sampled(user, "record", "--seed", "5", "--", *COUNTING)
    document = user.types("profile", "report", "--json", "-").document()
    assert document["recording"]["seed"] == 5
    assert document["samples"] == document["recording"]["samples"]


def test_a_watched_thread_that_ends_before_its_process_costs_nothing_after(user: User) -> None:
    profile = user.home / "steelyard.profile"
    script = (
        "import os, threading\n"
        "def work():\n"
        f"    while not os.path.exists({str(profile)!r}):\n"
        "        pass\n"
        "    sum(i * i for i in range(1_000_000))\n"
        "thread = threading.Thread(target=work)\n"
        "thread.start()\n"
        "print('runs', flush=True)\n"
        "thread.join()\n"
        "sum(i * i for i in range(4_000_000))\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as program:
        line_of(program)
        try:
            sampled(user, "record", "--threads-only", "--pid", str(program.pid))
        finally:
            program.kill()
    recording = user.types("profile", "report", "--json", "-").document()["recording"]
    # Processor time of the sampler: one that is told of the end again and again takes all it gets.
    assert recording["handling_ns"] < recording["elapsed_ns"] / 3
