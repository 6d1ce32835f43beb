"""`steelyard history bisect`: the revision that made a change, by builds and runs."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.integration.conftest import User, validate
from tests.repositories import Planned, make_repository

COUNT, CULPRIT = 24, 15
MEASURE = "cost=cost: ([0-9.]+):units"
RUN = "sh -c 'grep -q 1 works && cat cost.txt'"


def _planned(slow, broken, count=COUNT):
    for n in range(count):
        files = {
            "cost.txt": f"cost: {slow if n >= CULPRIT else 100}\n",
            "works": str(int(n not in broken)),
            "n.txt": str(n),
        }
        yield Planned(f"c{n}", (f"c{n - 1}",) if n else (), files)


def _repository(user: User, slow=110, broken=()):
    names = make_repository(user.home / "r", list(_planned(slow, broken)))
    return [names[f"c{n}"] for n in range(COUNT)]


def _bisect(user: User, good: str, *more: str, run=RUN):
    return user.types(
        *("history", "bisect", "--repository", "r", "--good", good, "--run", run),
        *("--build", "true", "--measure", MEASURE, "--json", "answer.json", *more),
    )


def _answer(user: User):
    document = json.loads((user.home / "answer.json").read_text())
    validate(document)
    return document


def test_the_revision_is_found_with_its_size_and_the_tests_that_led_to_it(user):
    names = _repository(user)
    told = _bisect(user, names[0])
    assert told.status == 0, told.err
    answer = _answer(user)
    assert answer["revision"] == names[CULPRIT]
    assert answer["inseparable"] == [names[CULPRIT]]
    assert answer["probability"] > 0.99
    assert answer["size"]["estimate"] == pytest.approx(1.1)
    assert len(answer["tests"]) <= 7
    assert names[CULPRIT][:12] in told.out
    kept = user.types("list", "--json", "-").document()["experiments"]
    assert len(kept) == len(answer["tests"]) + 2
    worktrees = ["git", "-C", str(user.home / "r"), "worktree", "list"]
    assert len(subprocess.check_output(worktrees).splitlines()) == 1


def test_what_gets_better_is_found_as_well(user):
    names = _repository(user, slow=80)
    assert _bisect(user, names[2], "--prior", "uniform").status == 0
    assert _answer(user)["revision"] == names[CULPRIT]


def test_revisions_that_cannot_be_tested_are_named_with_the_one_they_hide(user):
    names = _repository(user, broken=(CULPRIT - 1, CULPRIT - 2))
    told = _bisect(user, names[0])
    assert told.status == 0, told.err
    answer = _answer(user)
    assert answer["inseparable"] == names[CULPRIT - 2 : CULPRIT + 1]
    assert "no test can tell apart" in told.out
    assert "can't be tested" in told.out


def test_a_side_of_a_merge_is_searched_too(user):
    def at(n, parents, cost):
        return Planned(n, parents, {"cost.txt": f"cost: {cost}\n", "works": "1", "n": n})

    planned = [at("a", (), 100), at("b", ("a",), 100), at("c", ("b",), 100)]
    planned += [at("x", ("a",), 100), at("y", ("x",), 120), at("m", ("c", "y"), 120)]
    names = make_repository(user.home / "r", [*planned, at("z", ("m",), 120)])
    assert _bisect(user, names["a"]).status == 0
    assert _answer(user)["revision"] == names["y"]


def test_a_search_whose_budget_ended_goes_on_by_the_same_call(user):
    names = _repository(user)
    told = _bisect(user, names[0], "--budget", "1ms")
    assert told.status == 0, told.err
    cut_off = _answer(user)
    assert (cut_off["stopped"], len(cut_off["tests"]), cut_off["size"]) == ("budget", 1, None)
    assert "goes on from here" in told.out
    told = _bisect(user, names[0])
    assert told.status == 0, told.err
    assert "goes on after 1 test of a search that was cut off" in told.err
    answer = _answer(user)
    assert (answer["revision"], answer["stopped"]) == (names[CULPRIT], "confidence")
    assert answer["tests"][0] == cut_off["tests"][0]


def test_a_search_that_is_killed_goes_on_with_the_tests_that_had_ended(user):
    names = _repository(user)
    hold = f"[ $(cat n.txt) != {CULPRIT} ] || [ ! -e {user.home}/hold ] || sleep 900"
    run = f"sh -c 'cat cost.txt; {hold}'"
    (user.home / "hold").touch()
    words = ("history", "bisect", "--repository", "r", "--good", names[0], "--run", run)
    words += ("--build", "true", "--measure", MEASURE, "--prior", "uniform")
    search = user.start(*words)
    told = b""
    while told.count(b"seems to be") < 2:
        told += search.stderr.readline()
    search.kill()
    search.communicate()
    (user.home / "hold").unlink()
    again = user.types(*words, "--json", "answer.json")
    assert again.status == 0, again.err
    assert "goes on after" in again.err
    assert _answer(user)["revision"] == names[CULPRIT]


def test_what_is_known_before_saves_tests(user):
    names = _repository(user)
    weights = dict.fromkeys(names, 0.001)
    weights[names[CULPRIT]] = 1000.0
    (user.home / "weights.json").write_text(json.dumps(weights))
    assert _bisect(user, names[0], "--weights", "weights.json").status == 0
    answer = _answer(user)
    assert (answer["revision"], len(answer["tests"])) == (names[CULPRIT], 0)


def test_values_of_the_history_are_adopted(user):
    names = _repository(user)
    rows = [
        f"prog,cost,{name},{(110 if n >= CULPRIT else 100) + 0.1 * (n % 3)}"
        for n, name in enumerate(names)
        if n % 2 or n == 0
    ]
    (user.home / "t.csv").write_text("\n".join(["series,metric,revision,value", *rows, ""]))
    added = user.types("history", "add", "t.csv", "--repository", "r")
    assert added.status == 0, added.err
    told = _bisect(user, names[1], "--adopt", "prog")
    assert told.status == 0, told.err
    answer = _answer(user)
    assert answer["revision"] == names[CULPRIT]
    assert len(answer["tests"]) <= 2


WRONG = {
    "no such revision": (("no-such",), "no-such"),
    "not behind": (("HEAD", "--bad", "HEAD~3"), "is no ancestor"),
    "one revision": (("HEAD",), "are one revision"),
    "no number": (("HEAD~5", "--confidence", "2"), "--confidence"),
    "no weights": (("HEAD~5", "--weights", "nothing.json"), "nothing.json"),
    "wrong weights": (("HEAD~5", "--weights", "w.json"), "a number from 0 on"),
    "unknown weights": (("HEAD~5", "--weights", "u.json"), "git does not know"),
    "no track": (("HEAD~5", "--adopt", "prog"), "no values yet"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_is_one_error(user, name):
    _repository(user)
    (user.home / "w.json").write_text('{"HEAD": true}')
    (user.home / "u.json").write_text('{"nobody": 1}')
    words, message = WRONG[name]
    told = _bisect(user, *words)
    assert told.status == 2
    assert message in told.err, told.err
    assert "Traceback" not in told.err


def test_ends_that_do_not_differ_leave_nothing_to_search(user):
    names = _repository(user, slow=100.5)
    told = _bisect(user, names[0])
    assert told.status == 2
    assert "does not differ" in told.err
