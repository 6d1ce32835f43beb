import pytest

from steelyard.profile.profilers import cprofile, py_spy


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        ("hot (p.py:3)", "hot (p.py)"),
        # As Python 3.11 and later name it, and as earlier ones do.
        ("Table.find.<locals>.<lambda> (/home/u/p.py:7)", "<lambda> (p.py)"),
        ("<lambda> (/home/u/p.py)", "<lambda> (p.py)"),
        ("_load (<frozen importlib._bootstrap>:1)", "_load (<frozen importlib._bootstrap>)"),
        ('process 12:"python3 p.py"', 'process 12:"python3 p.py"'),
    ],
)
def test_a_function_is_called_as_by_cprofile(frame, name, tmp_path):
    profile = tmp_path / "profile"
    profile.write_text(f"<module> (p.py:1);{frame} 4\n")
    reading = py_spy.EXTENSION.read(str(profile), ())
    assert reading.shares == {name: 1.0}
    assert reading.calls == {("<module> (p.py)", name)}


def test_cprofile_and_py_spy_agree_on_a_function_inside_another(tmp_path):
    import cProfile

    def outer():
        def inner():
            return sum(number * number for number in range(1000))

        return inner()

    profiler = cProfile.Profile()
    profiler.runcall(outer)
    profiler.dump_stats(tmp_path / "profile")
    names = cprofile.EXTENSION.read(str(tmp_path / "profile"), ()).shares
    assert {"inner (test_py_spy.py)", "outer (test_py_spy.py)"} <= names.keys()
