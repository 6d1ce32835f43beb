import json
import os
import stat
import subprocess
import sys
import threading

import pytest

from steelyard.cli.console.output import write_json
from steelyard.core.errors import DataError


def test_a_document_replaces_the_file_as_a_whole(tmp_path):
    target = tmp_path / "answer.json"
    target.write_text("old and much longer than the new one")
    write_json({"a": 1}, str(target))
    assert json.loads(target.read_text()) == {"a": 1}
    assert list(tmp_path.iterdir()) == [target]


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    target = tmp_path / "pipe"
    os.mkfifo(target)
    taken = []
    reader = threading.Thread(target=lambda: taken.append(target.read_text()))
    reader.start()
    write_json({"a": 1}, str(target))
    reader.join()
    assert json.loads(taken[0]) == {"a": 1}
    assert stat.S_ISFIFO(target.stat().st_mode)


def test_a_link_keeps_pointing_at_the_file_that_is_written(tmp_path):
    target, link = tmp_path / "answer.json", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_json({"a": 1}, str(link))
    assert link.is_symlink()
    assert json.loads(target.read_text()) == {"a": 1}


def test_a_directory_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match="nowhere"):
        write_json({}, str(tmp_path / "nowhere" / "answer.json"))


def test_numbers_that_json_lacks_are_never_written(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_json({"a": float("nan")}, str(tmp_path / "answer.json"))
    assert list(tmp_path.iterdir()) == []


def run_with(redirection, *words):
    """Run `steelyard` by a shell that redirects its streams."""
    command = ("sh", "-c", f'"$@" {redirection}', "sh", sys.executable, "-m", "steelyard.cli.main")
    return subprocess.run((*command, *words), capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [("list",), ("list", "--json", "-")])
def test_an_answer_that_finds_no_room_is_one_clear_error(words, tmp_path):
    done = run_with(">/dev/full", *words, "--store", str(tmp_path / "store"))
    assert done.returncode == 2
    assert "error: Standard output cannot be written: No space left on device." in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [("--help",), ("measure", "--help"), ("--version",), ()])
def test_help_that_finds_no_room_is_one_clear_error(words):
    done = run_with(">/dev/full", *words)
    assert done.returncode == 2
    assert done.stderr.startswith("steelyard: error: ")
    assert "No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_lead_nowhere(closed, tmp_path):
    target = tmp_path / "answer.json"
    words = ("list", "--store", str(tmp_path / "store"), "--json")
    done = run_with(closed, *words, str(target))
    assert (done.returncode, done.stderr) == (0, "")
    # Nothing but the answer is in the file that was opened next.
    assert json.loads(target.read_text())["kind"] == "experiments"


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-"])
def test_an_error_that_cannot_be_told_keeps_its_status(redirection):
    assert run_with(redirection, "no-such-command").returncode == 2


def test_an_error_that_nobody_reads_keeps_its_status() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = (sys.executable, "-m", "steelyard.cli.main", "show", "--json", "-", "--nonsense")
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert done.returncode == 2
    assert done.stderr.startswith("steelyard: error: ")
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", "a\ufffd[2Jb"),
        ("\x1b]0;title\x07", "\ufffd]0;title\ufffd"),
        ("a\u202eb\u2066c", "a\ufffdb\ufffdc"),
        ("a\rb\x08\x9bc", "a\ufffdb\ufffd\ufffdc"),
        ("two\nlines\tand tabs", "two\nlines\tand tabs"),
        ("\x1b[31mred\x1b[0m", "\ufffdred\ufffd"),
        ("--password hush", "--password ***"),
    ],
)
def test_what_a_terminal_would_obey_and_what_is_secret_is_not_printed(text, shown):
    from steelyard.cli.console.output import shown_text

    assert shown_text(text) == shown


def test_our_own_colours_stay_on_a_terminal():
    from steelyard.cli.console.output import shown_text

    text = "\x1b[31mred\x1b[0m \x1b[2J"
    assert shown_text(text, colours=True) == "\x1b[31mred\x1b[0m \ufffd[2J"
