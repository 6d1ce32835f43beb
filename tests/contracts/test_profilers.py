import pytest

from steelyard.profile.profilers import PROFILERS


@pytest.mark.parametrize("name", PROFILERS.names())
def test_a_profiler_says_how_it_is_run_and_where_it_comes_from(name):
    profiler = PROFILERS.get(name)
    assert profiler.name == name
    assert profiler.package
    command = profiler.command("profile.out", ["./program", "-x"])
    assert command[-2:] == ["./program", "-x"]
    assert "profile.out" in command
