"""What the launcher says of programs that end by themselves."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from steelyard.core.errors import MissingCapabilityError, UsageError
from steelyard.core.experiment_spec import LaunchSpec, Variant
from steelyard.measure.launcher_process import launcher_path
from tests.launching import command, launcher, run, sh
from tests.needs import needed


def test_a_trial_that_ends_well_has_a_whole_record(tmp_path: Path) -> None:
    (record,) = run(tmp_path, command("true"))
    assert record["trial"] == record["block"] == record["variant"] == record["build"] == 0
    assert (record["status"], record["reason"]) == ("ok", None)
    assert (record["exit_code"], record["signal"]) == (0, None)
    assert 0 < record["wall_ns"] <= record["spent_ns"]
    assert record["started_unix_ns"] > 1_700_000_000 * 10**9
    assert record["rusage"]["max_rss_kib"] > 0
    assert record["rusage"]["minor_faults"] > 0
    assert (record["output"], record["stderr_tail"], record["leftover_processes"]) == (None, "", 0)


def test_records_come_in_the_order_of_the_queue_and_equal_the_journal(tmp_path: Path) -> None:
    with launcher(tmp_path, [command("true"), command("false")]) as running:
        for position in range(200):
            running.queue(position, position // 2, position % 2, warmup=position < 2)
        records = running.finish()
    assert [record["trial"] for record in records] == list(range(200))
    assert [record["warmup"] for record in records[:3]] == [True, True, False]
    lines = (tmp_path / "journal").read_text().splitlines()
    assert [json.loads(line) for line in lines] == records


def test_records_are_had_while_more_trials_run(tmp_path: Path) -> None:
    with launcher(tmp_path, [command("true")]) as running:
        running.queue(0, 0, 0)
        assert [record["trial"] for record in running.records()] == [0]
        assert running.records(timeout_s=0) == []
        running.queue(1, 1, 0)
        assert [record["trial"] for record in running.finish()] == [1]


def test_a_queue_larger_than_every_pipe_is_worked_off(tmp_path: Path) -> None:
    count = 3000
    with launcher(tmp_path, [sh("exit 9")]) as running:
        for position in range(count):
            running.queue(position, 10**15, 0)
        assert len(running.finish()) == count


def test_an_unexpected_exit_code_fails_the_trial(tmp_path: Path) -> None:
    (record,) = run(tmp_path, sh("exit 7"))
    assert (record["status"], record["reason"], record["exit_code"]) == ("failed", "exit", 7)
    assert record["wall_ns"] > 0


def test_an_expected_exit_code_does_not(tmp_path: Path) -> None:
    variants = [sh(f"exit {code}", expected_exit_codes=(0, 7)) for code in (7, 0, 1)]
    assert [r["status"] for r in run(tmp_path, *variants)] == ["ok", "ok", "failed"]


def test_a_signal_fails_the_trial(tmp_path: Path) -> None:
    (record,) = run(tmp_path, sh("kill -SEGV $$"))
    assert (record["reason"], record["signal"], record["exit_code"]) == ("signal", 11, None)


def test_a_failed_trial_keeps_the_end_of_its_errors_and_only_its_own(tmp_path: Path) -> None:
    variants = [
        sh("i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1"),
        sh("echo quiet success >&2"),
        sh("exit 1"),
        sh("echo short >&2; exit 1"),
    ]
    tails = [record["stderr_tail"] for record in run(tmp_path, *variants)]
    assert tails[0].endswith("line 1999\n")
    assert len(tails[0]) == 4096
    assert tails[1:] == ["", "", "short\n"]


def test_errors_that_are_not_utf8_make_valid_json(tmp_path: Path) -> None:
    (record,) = run(tmp_path, sh(r"""printf 'a\377\000\342\202\254"\\\n' >&2; exit 1"""))
    assert record["stderr_tail"] == 'a\ufffd\0€"\\\n'


def test_any_bytes_pass_in_arguments_environment_and_directory(tmp_path: Path) -> None:
    strange = os.fsdecode(b"\xff\n\x01 '\"$(x)")
    directory = tmp_path / strange.replace("/", "")
    directory.mkdir()
    script = 'printf %s "$1" > argument; printf %s "$STRANGE" > environment; cat > input'
    given = tmp_path / f"in{strange}"
    given.write_bytes(b"\0\xfe")
    launch = LaunchSpec(
        ("/bin/sh", "-c", script, "sh", strange),
        environment=(("STRANGE", strange),),
        working_directory=str(directory),
        stdin_file=str(given),
    )
    (record,) = run(tmp_path, Variant("strange", launch))
    assert record["status"] == "ok"
    assert (directory / "argument").read_bytes() == os.fsencode(strange)
    assert (directory / "environment").read_bytes() == os.fsencode(strange)
    assert (directory / "input").read_bytes() == b"\0\xfe"


def test_output_is_kept_where_asked_for_even_at_a_strange_path(tmp_path: Path) -> None:
    directory = tmp_path / os.fsdecode(b"work\xff")
    directory.mkdir()
    (record,) = run(directory, sh(r"printf 'a\377'; echo no >&2"), keep_output=True)
    assert Path(record["output"]) == directory / "0.out"
    assert Path(record["output"]).read_bytes() == b"a\xff"


def test_the_first_argument_is_as_given_and_the_program_is_found_by_its_own_path(
    tmp_path: Path,
) -> None:
    tool = tmp_path / "bin" / "sneaky-tool"
    tool.parent.mkdir()
    tool.symlink_to(needed("sh"))
    launch = LaunchSpec(
        ("sneaky-tool", "-c", 'tr "\\0" "\\n" < /proc/$$/cmdline'),
        environment=(("PATH", f"{tool.parent}:/usr/bin:/bin"),),
    )
    (record,) = run(tmp_path, Variant("tool", launch), keep_output=True)
    assert Path(record["output"]).read_text().splitlines()[0] == "sneaky-tool"


def test_a_program_that_is_nowhere_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no program 'no-such-program' in the PATH"):
        run(tmp_path, command("no-such-program"))
    with pytest.raises(UsageError, match=r"no program '\./absent'"):
        run(tmp_path, command("./absent"))


def test_a_launcher_that_is_not_installed_is_a_missing_capability(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_LAUNCHER", str(tmp_path / "absent"))
    with pytest.raises(MissingCapabilityError, match="make native"):
        launcher_path()


def test_a_program_can_be_defined_anew_between_two_trials(tmp_path: Path) -> None:
    with launcher(tmp_path, [sh("exit 1")]) as running:
        running.queue(0, 0, 0)
        running.define(0, sh("exit 2"))
        running.queue(1, 0, 0)
        assert [record["exit_code"] for record in running.finish()] == [1, 2]


def test_programs_inherit_no_descriptors_and_no_ignored_signals(tmp_path: Path) -> None:
    descriptor = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    try:
        script = "ls /proc/self/fd | wc -l; exec grep -E 'Sig(Blk|Ign)' /proc/self/status"
        (record,) = run(tmp_path, sh(script), keep_output=True)
    finally:
        os.close(descriptor)
    count, blocked, ignored = Path(record["output"]).read_text().splitlines()
    assert int(count) == 4  # the three streams, and the directory that ls reads
    assert int(blocked.split()[1], 16) == 0
    reserved = 0b11 << 31  # 32 and 33 belong to the C library, which lets nobody set them
    assert int(ignored.split()[1], 16) & ~reserved == 0
