import os

import pytest

from steelyard.core.errors import DataError
from steelyard.profile import profilers
from steelyard.profile.profilers import jfr, perf


@pytest.mark.parametrize(
    ("adapter", "program", "file", "head"),
    [(jfr, "jfr", "long.jfr", b"FLR\0"), (perf, "perf", "long.data", b"PERFILE2")],
)
def test_a_tool_that_does_not_end_is_one_clear_error(
    adapter, program, file, head, tmp_path, monkeypatch
):
    tool = tmp_path / program
    # It waits for what nobody writes.
    tool.write_text("#!/bin/sh\nmkfifo pipe\nread never < pipe\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(profilers, "TOOL_PATIENCE_S", 0.05)
    monkeypatch.chdir(tmp_path)
    recording = tmp_path / file
    recording.write_bytes(head)
    with pytest.raises(DataError, match=rf"{program} \w+. did not read .*{file} within 0\.05 s"):
        adapter.EXTENSION.read(str(recording), ())


@pytest.mark.parametrize("crashes", [2, 3])
def test_perf_reads_once_more_where_it_crashed_itself(tmp_path, monkeypatch, crashes):
    left, tool = tmp_path / "left", tmp_path / "perf"
    left.write_text(str(crashes))
    # A shell ends by the signal as perf does.
    tool.write_text(
        f"#!/bin/sh\nread left <{left}\n"
        f'[ "$left" = 0 ] && exec printf "  3\\t[.] main\\n"\n'
        f"echo $((left - 1)) >{left}\nkill -ABRT $$\n"
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    path = tmp_path / "profile"
    path.write_bytes(b"PERFILE2")
    if crashes == 2:
        assert perf.EXTENSION.read(str(path), ()).shares == {"main": 1.0}
        return
    with pytest.raises(DataError, match=r"ended by SIGABRT each of 3 times that it read"):
        perf.EXTENSION.read(str(path), ())


@pytest.mark.parametrize(
    ("release", "asked"),
    [("6.18.44-fc", True), ("5.12.0", True), ("5.10.0-28-amd64", False), ("odd", False)],
)
def test_perf_asks_for_build_ids_where_the_kernel_can_tell_them(monkeypatch, release, asked):
    # Unasked, kernel 6.18 marks mappings as if they had them, and perf 6.1 crashes at that.
    told = os.uname()
    monkeypatch.setattr(os, "uname", lambda: os.uname_result((*told[:2], release, *told[3:])))
    argv = perf.EXTENSION.launch("a.profile", ("./program",), 1).argv
    assert ("--buildid-mmap" in argv) is asked
