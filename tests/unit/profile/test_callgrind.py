from steelyard.profile.profilers import callgrind

# As Valgrind 3.19 writes a function that calls itself, its second depth under a name of its own.
PROFILE = """\
# callgrind format
version: 1
creator: callgrind-3.19.0
positions: line
events: Ir

fn=(1) main
1 10
cfn=(2) fib
calls=1 0
1 90

fn=(2)
2 30
cfn=(3) fib'2
calls=2 0
2 60

fn=(3)
2 60

totals: 100
"""


def test_all_depths_of_a_recursion_are_one_function(tmp_path):
    path = tmp_path / "callgrind.out"
    path.write_text(PROFILE)
    reading = callgrind.EXTENSION.read(str(path), ())
    assert reading.shares == {"main": 0.1, "fib": 0.9}
    assert reading.calls == {("main", "fib"), ("fib", "fib")}
