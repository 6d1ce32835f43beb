"""What a machine refuses is one clear error, whichever command asked for it."""

from __future__ import annotations

import errno
import os

import pytest

from steelyard.cli import main as command_line


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.EACCES, "as the user whose it is"),
        (errno.EROFS, "for writing"),
        (errno.EMFILE, "ulimit -n"),
        (errno.ENFILE, "fs.file-max"),
        (errno.EIO, "dmesg"),
        (errno.ENOSPC, "Make room"),
    ],
)
def test_what_a_machine_refuses_is_said_with_what_one_can_do(
    monkeypatch, capsys, number, advice
) -> None:
    def refuse(*_given):
        raise OSError(number, os.strerror(number), "/a/file")

    monkeypatch.setattr(command_line, "_result", refuse)
    assert command_line.run(["list"]) == 2
    told = capsys.readouterr().err
    assert f"{os.strerror(number)}: /a/file. " in told
    assert advice in told


def test_a_slip_of_steelyard_is_no_trouble_of_the_machine(monkeypatch) -> None:
    def slip(*_given):
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    monkeypatch.setattr(command_line, "_result", slip)
    with pytest.raises(OSError, match="Bad file descriptor"):
        command_line.run(["list"])
