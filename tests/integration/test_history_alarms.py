"""What of many tracks is told, and as what."""

import pytest

from tests.repositories import Planned, make_repository

COUNT, STEP = 46, 42


def _rows(names, steps, days=None):
    """Tracks with a little spread that step at `STEP`; one for each of `steps`."""
    head = "series,metric,host,revision,value" + (",time" if days else "")
    rows = [head]
    for (benchmark, host), step in steps.items():
        for n, name in enumerate(names):
            value = 100.0 + 0.3 * ((n * 7 + len(benchmark)) % 5) + (step if n >= STEP else 0.0)
            rows.append(f"{benchmark},cost,{host},{name},{value}")
            if days:
                rows[-1] += f",{1.7e9 + 86400 * days * n}"
    return "\n".join([*rows, ""])


@pytest.fixture
def tracks(user):
    """Adds tracks of one repository to the store."""
    planned = [
        Planned(f"c{n}", (f"c{n - 1}",) if n else (), {"n.txt": str(n)}) for n in range(COUNT)
    ]
    names = make_repository(user.home / "r", planned)
    ordered = [names[f"c{n}"] for n in range(COUNT)]

    def add(steps, days=None):
        (user.home / "t.csv").write_text(_rows(ordered, steps, days))
        assert user.types("history", "add", "t.csv", "--repository", "r").status == 0

    return add


def _alarms(user, *more):
    told = user.types("history", "check", "--no-confirm", "--json", "-", *more)
    assert told.status in (0, 1), told.err
    return told.document()["alarms"], told.status


def test_one_change_on_several_hosts_and_benchmarks_is_told_once(user, tracks):
    tracks({("sort", "lab1"): 10.0, ("sort", "lab2"): 11.0, ("parse", "lab1"): 9.0})
    (alarm,), status = _alarms(user, "--fail-if", "worse")
    assert (alarm["state"], alarm["reason"], len(alarm["changes"])) == ("new", "change", 3)
    assert status == 1


def test_a_change_of_the_host_is_no_alarm_where_a_reference_is_named(user, tracks):
    tracks({("sort", "lab1"): 10.0, ("loop", "lab1"): 10.0})
    (alarm,), status = _alarms(user, "--reference", "loop", "--fail-if", "any")
    assert (alarm["state"], alarm["reason"]) == ("host", "host")
    assert status == 0
    said = user.types("history", "report", "-o", "-", "--format", "text", "--reference", "loop")
    assert "0 new alarms" in said.out


def test_a_cost_that_moved_is_told_as_that(user, tracks):
    tracks({("lex", "lab1"): 10.0, ("parse", "lab1"): -10.0})
    (alarm,), _ = _alarms(user)
    assert (alarm["reason"], alarm["direction"]) == ("moved-cost", "neither")
    assert (
        "what some benchmarks lost others gained"
        in user.types("history", "check", "--no-confirm").out
    )


def test_a_budget_of_alarms_needs_times_and_then_decides(user, tracks):
    tracks({("sort", "lab1"): 10.0})
    told = user.types("history", "check", "--no-confirm", "--alarms-a-week", "1")
    # The commits of a repository made at once are not a day apart.
    assert told.status == 2
    assert "--false-alarms" in told.err
    both = ("--alarms-a-week", "1", "--false-alarms", "0.01")
    assert user.types("history", "check", "--no-confirm", *both).status == 2


def test_a_budget_of_alarms_is_met_by_a_rate_for_each_value(user):
    names = [f"{1000 + n}" for n in range(COUNT)]
    (user.home / "t.csv").write_text(_rows(names, {("sort", "lab1"): 10.0}, days=1))
    asked = ("history", "check", "--import", "t.csv", "--json", "-", "--alarms-a-week")
    assert len(user.types(*asked, "0.005").document()["alarms"]) == 1
    assert user.types(*asked, "1e-40").document()["alarms"] == []


@pytest.mark.parametrize("share", ["0", "100%", "many"])
def test_a_share_of_false_discoveries_lies_between_0_and_1(user, share):
    told = user.types("history", "check", "--import", "x.csv", "--false-discoveries", share)
    assert told.status == 2
    assert "--false-discoveries" in told.err


def test_a_check_of_the_newest_values_counts_them_in_the_whole_track(user):
    names = [f"{1000 + n}" for n in range(200)]
    rows = ["series,revision,value"]
    for n, name in enumerate(names):
        level = 100.0 + (20.0 if n >= 60 else 0.0) + (10.0 if n >= 195 else 0.0)
        rows.append(f"sort,{name},{level + 0.3 * ((n * 7) % 5)}")
    (user.home / "t.csv").write_text("\n".join([*rows, ""]))
    asked = ("history", "check", "--import", "t.csv", "--json", "-")
    every = [(c["index"], c["revision"]) for c in user.types(*asked).document()["changes"]]
    assert every == [(60, "1060"), (195, "1195")]
    newest = user.types(*asked, "--recent", "100").document()
    assert [(c["index"], c["revision"]) for c in newest["changes"]] == [(195, "1195")]
    assert [alarm["state"] for alarm in newest["alarms"]] == ["new"]
