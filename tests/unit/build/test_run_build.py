"""A build: a new directory, the source in it, the command, and nobody left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from steelyard.build.run_build import Build, remove_build, run_build
from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import BuildFailedError, UsageError
from tests.patience import PATIENCE_S


def sh(script: str, source: Path | None = None, timeout_s: float | None = None) -> BuildSpec:
    return BuildSpec(
        ("/bin/sh", "-c", script), str(source) if source else None, timeout_s=timeout_s
    )


def build(tmp_path: Path, spec: BuildSpec) -> Build:
    return run_build(spec, 1, str(tmp_path / "build"))


def test_a_command_that_stops_its_keeper_does_not_stop_the_build(tmp_path: Path) -> None:
    found = build(tmp_path, sh("kill -STOP $PPID; echo made > result"))
    assert (Path(found.directory) / "result").read_text() == "made\n"


def wait_until_gone(pid: int) -> bool:
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                if b") Z " in file.read():
                    return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


def wait_for_number(file: Path) -> int:
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        if file.exists() and file.read_text().endswith("\n"):
            return int(file.read_text())
        time.sleep(0.01)
    raise AssertionError(f"{file} was not written")


def test_the_command_runs_in_a_new_directory_that_its_words_and_variables_name(
    tmp_path: Path,
) -> None:
    spec = BuildSpec(
        (
            "/bin/sh",
            "-c",
            'echo "$1 $OUT $STEELYARD_BUILD_DIR" > said; pwd >> said',
            "x",
            "{build}",
        ),
        environment=(("OUT", "{build}/out"),),
    )
    made = build(tmp_path, spec)
    here = str(tmp_path / "build")
    assert made.directory == here
    assert (tmp_path / "build/said").read_text() == f"{here} {here}/out {here}\n{here}\n"
    assert made.cost_s > 0
    assert made.realised["seed"] == 1


def test_what_it_says_is_in_the_log(tmp_path: Path) -> None:
    made = build(tmp_path, sh("echo one; echo two >&2"))
    assert Path(made.log).read_text() == "one\ntwo\n"


def test_its_input_is_empty(tmp_path: Path) -> None:
    made = build(tmp_path, sh("cat"))
    assert Path(made.log).read_text() == ""


def test_a_variable_without_value_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNWANTED", "1")
    spec = BuildSpec(
        ("/bin/sh", "-c", "test -z ${UNWANTED+set}"), environment=(("UNWANTED", None),)
    )
    build(tmp_path, spec)


def test_flags_of_a_make_around_steelyard_do_not_reach_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAKEFLAGS", "rR --no-print-directory")
    monkeypatch.setenv("MAKELEVEL", "1")
    made = build(tmp_path, sh("echo ${MAKEFLAGS-none} ${MAKELEVEL-none}"))
    assert Path(made.log).read_text().split()[-2:] == ["none", "none"]


def test_the_source_is_copied_with_its_links_and_without_its_history(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / ".git").mkdir(parents=True)
    (source / "sub").mkdir()
    (source / "sub/tool").write_text("#!/bin/sh\n")
    (source / "sub/tool").chmod(0o755)
    (source / "link").symlink_to("sub/tool")
    build(tmp_path, sh("./link && echo changed > sub/tool", source))
    made = tmp_path / "build"
    assert os.readlink(made / "link") == "sub/tool"
    assert not (made / ".git").exists()
    assert (source / "sub/tool").read_text() == "#!/bin/sh\n"


def test_a_source_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(BuildFailedError, match="nowhere: No such file"):
        build(tmp_path, sh("true", tmp_path / "nowhere"))


def test_a_directory_inside_the_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="inside the source"):
        build(tmp_path, sh("true", tmp_path))


def test_a_directory_that_exists_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    with pytest.raises(UsageError, match="already"):
        build(tmp_path, sh("touch file"))
    assert not list((tmp_path / "build").iterdir())


def test_a_failure_names_the_log_and_shows_its_end(tmp_path: Path) -> None:
    with pytest.raises(BuildFailedError) as failure:
        build(tmp_path, sh("echo early; seq 100; echo 'a.c:1: error: no' >&2; exit 7"))
    message = failure.value.message
    assert "exit code 7" in message
    assert "a.c:1: error: no" in message
    assert "  early" not in message
    log = tmp_path / "build.steelyard/log"
    assert str(log) in message
    assert log.read_text().startswith("early\n")
    assert failure.value.exit_status == 3


def test_a_command_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(BuildFailedError, match="No such file"):
        build(tmp_path, BuildSpec(("no-such-program",)))


def test_a_signal_is_told(tmp_path: Path) -> None:
    with pytest.raises(BuildFailedError, match="signal 11"):
        build(tmp_path, sh("kill -SEGV $$"))


def test_a_build_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    script = f"sleep 1000 & echo $! > {tmp_path}/pid; wait"
    # On a busy machine it has not begun to wait when its time is over, and is given longer.
    for timeout_s in (0.3, 3.0, 30.0, 300.0):
        with pytest.raises(BuildFailedError, match=f"longer than {timeout_s:g} s"):
            run_build(sh(script, timeout_s=timeout_s), 1, str(tmp_path / f"build-{timeout_s}"))
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
            break
    assert wait_until_gone(wait_for_number(tmp_path / "pid"))


def test_a_daemon_that_the_build_leaves_is_ended(tmp_path: Path) -> None:
    daemon = f"setsid sh -c 'echo $$ > {tmp_path}/pid; exec sleep 1000' &"
    build(tmp_path, sh(f"{daemon} while [ ! -s {tmp_path}/pid ]; do :; done"))
    assert wait_until_gone(wait_for_number(tmp_path / "pid"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_when_steelyard_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    script = f"(trap '' INT TERM; echo $$ > {tmp_path}/pid; while :; do sleep 1000; done) & wait"
    code = (
        "from steelyard.build.run_build import run_build\n"
        "from steelyard.core.build_spec import BuildSpec\n"
        f"run_build(BuildSpec(('/bin/sh', '-c', {script!r})), 1, {str(tmp_path / 'build')!r})\n"
    )
    process = subprocess.Popen(
        ["/usr/bin/env", "--default-signal=INT", sys.executable, "-c", code],
        stderr=subprocess.DEVNULL,
    )
    pid = wait_for_number(tmp_path / "pid")
    process.send_signal(number)
    process.wait(PATIENCE_S)
    assert process.returncode != 0
    assert wait_until_gone(pid)


def test_a_build_is_removed_with_what_lies_beside_it(tmp_path: Path) -> None:
    made = build(tmp_path, sh("mkdir closed && touch closed/file && chmod 500 closed"))
    remove_build(made)
    assert list(tmp_path.iterdir()) == []
