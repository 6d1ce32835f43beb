import os

import pytest

from steelyard.core.errors import DataError
from steelyard.profile.profilers import jfr


def test_a_tool_that_does_not_end_is_one_clear_error(tmp_path, monkeypatch):
    tool = tmp_path / "jfr"
    tool.write_text("#!/bin/sh\nread never < pipe\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(jfr, "_PATIENCE_S", 0.05)
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    recording = tmp_path / "long.jfr"
    recording.write_bytes(b"FLR")
    with pytest.raises(DataError, match=r"did not read .*long\.jfr within 0\.05 s"):
        jfr.EXTENSION.read(str(recording), ())
