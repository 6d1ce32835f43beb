import platform
import zipfile

import pytest

from steelyard.core.errors import MissingCapabilityError
from steelyard.profile.profilers import PROFILERS
from steelyard.profile.profilers.async_profiler import _LIBRARY, _MACHINES


@pytest.fixture
def fetched(tmp_path, monkeypatch):
    """The folder of a version that Maven has fetched."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ASYNC_PROFILER_HOME", raising=False)

    def folder(version):
        found = tmp_path / ".m2/repository/tools/profiler/async-profiler" / version
        found.mkdir(parents=True)
        return found / f"async-profiler-{version}.jar"

    return folder


def test_a_jar_that_was_fetched_in_part_is_as_good_as_none(fetched):
    profiler = PROFILERS.get("async-profiler")
    fetched("4.0").write_bytes(b"PK\3\4 and no more")
    with pytest.raises(MissingCapabilityError, match="is not installed"):
        profiler.require(())
    inside = f"{_MACHINES.get(platform.machine(), '')}/{_LIBRARY}"
    with zipfile.ZipFile(fetched("3.0"), "w") as archive:
        archive.writestr(inside, b"")
    profiler.require(())
