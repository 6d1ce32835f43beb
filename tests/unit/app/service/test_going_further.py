"""An experiment of a service goes on until it is precise, whoever looks and however often."""

from __future__ import annotations

import pytest

from steelyard.app.service.service import Service
from steelyard.core.errors import UsageError
from steelyard.design.plan_part import planned_trial
from steelyard.service.service_database import ServiceDatabase

FILE = """\
[experiment]
seed = 5
precision = "2%"
{more}
[[benchmark]]
name = "b"
command = "true"
[[factor]]
factor = "environment-size"
levels = [0, 64]
[hosts]
factors = {{worker = "100%"}}
"""
FACTS = {"architecture": "x", "cpus": 1}


@pytest.fixture
def service(tmp_path):
    database = ServiceDatabase(str(tmp_path / "service.sqlite"))
    yield Service(database, str(tmp_path / "packages"))
    database.close()


def worker(service, name):
    return service.access.worker(service.access.enrol(service.access.owner(), name, FACTS))


def run(service, workers, spec, spread):
    """Let workers ask in turn until there is nothing for any of them; their blocks in order."""
    ran = []
    while True:
        given = [(each, service.parts.give(each)) for each in workers]
        if not any(part for _, part in given):
            return ran
        for each, part in given:
            if part is not None:
                block = planned_trial(spec, part.positions[-1]).block
                ran.append((block, each.name))
                trials = [measured(spec, position, spread) for position in part.positions]
                body = {"part": part.id, "attempt": part.attempt, "experiment": part.experiment}
                body |= {"trials": trials, "provenance": {}}
                assert service.parts.take(each, body).outcome == "committed"


def measured(spec, position, spread):
    plan = planned_trial(spec, position)
    # Of a hash, so that the numbers are the same in whatever order blocks are run.
    wave = ((position * 2654435761) % 1000) / 1000 - 0.5
    return {
        **{"position": position, "block": plan.block, "variant": plan.variant, "warmup": False},
        **{"status": "ok", "reason": None, "started_unix_s": 1.0 + position, "spent_s": 2.0},
        "measurements": {"wall_time": [1 + spread * wave]},
        **{"build": 0, "realised": {}, "details": {}},
    }


def test_blocks_are_added_until_the_ratio_is_precise(service) -> None:
    workers = [worker(service, name) for name in ("one", "two", "three")]
    owner = service.access.owner()
    planned = service.submit(owner, FILE.format(more=""), "e.toml")
    assert (planned.summary.block_count, planned.summary.goes_on) == (12, True)
    ran = run(service, workers, planned.spec, 0.12)
    blocks = [block for block, _ in ran]
    assert sorted(blocks) == list(range(len(ran)))
    assert len(ran) > 12
    assert len(ran) % 3 == 0
    names = [name for _, name in ran]
    assert len({names.count(each.name) for each in workers}) == 1
    standing = service.standing(owner, planned.spec.identifier)
    sent = standing.sent
    assert (sent.state, sent.stopped, standing.parts) == ("done", "precision", {"done": len(ran)})
    assert sent.trial_count == sent.committed_count == 2 * len(ran)
    found = service.experiment(owner, planned.spec.identifier)
    assert found.stopped == "precision"
    assert found.spec.stopping.rule == "precision"
    assert len(found.spec.placement.blocks) == len(ran)


def test_what_is_precise_at_once_gets_no_further_block(service) -> None:
    one = worker(service, "one")
    planned = service.submit(service.access.owner(), FILE.format(more=""), "e.toml")
    assert len(run(service, [one], planned.spec, 0.001)) == 10


def test_a_budget_ends_it_before_it_is_precise(service) -> None:
    one = worker(service, "one")
    text = FILE.format(more='budget = "30runs"')
    planned = service.submit(service.access.owner(), text, "e.toml")
    assert len(run(service, [one], planned.spec, 1.5)) == 15
    sent = service.submission(service.access.owner(), planned.spec.identifier)
    assert (sent.state, sent.stopped) == ("done", "budget")


def test_it_stays_cancelled(service) -> None:
    one = worker(service, "one")
    owner = service.access.owner()
    planned = service.submit(owner, FILE.format(more=""), "e.toml")
    assert service.parts.give(one) is not None
    assert service.cancel(owner, planned.spec.identifier)
    assert run(service, [one], planned.spec, 5.0) == []
    sent = service.submission(owner, planned.spec.identifier)
    assert (sent.state, sent.stopped) == ("cancelled", "")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('order = "sequential"', "Leave `order` out"),
        ("runs = 3", "Give either"),
    ],
)
def test_what_does_not_go_with_a_precision_is_named(service, more, said) -> None:
    worker(service, "one")
    with pytest.raises(UsageError, match=said):
        service.plan(FILE.format(more=more), "e.toml")


def test_a_budget_without_a_precision_is_refused(service) -> None:
    worker(service, "one")
    text = FILE.format(more='budget = "1min"').replace('precision = "2%"\n', "")
    with pytest.raises(UsageError, match="Give `precision` with `budget`"):
        service.plan(text, "e.toml")


def test_an_experiment_that_cannot_go_on_ends_alone_and_says_why(service) -> None:
    owner, one = service.access.owner(), worker(service, "one")
    broken = service.submit(owner, FILE.format(more=""), "e.toml").spec
    good = service.submit(owner, FILE.format(more=""), "e.toml").spec
    while (part := service.parts.give(one)) is not None:
        # Unlike spreads, so that no number is taken for a copy of the other experiment's.
        spec, spread = (broken, 0.1) if part.experiment == broken.identifier else (good, 0.02)
        trials = [measured(spec, position, spread) for position in part.positions]
        body = {"part": part.id, "attempt": part.attempt, "experiment": part.experiment}
        # An earlier version took what this one does not read any more.
        with service.database.writing() as connection:
            connection.exec_driver_sql(
                "UPDATE submissions SET file = 'unread = 1' WHERE identifier = ?",
                (broken.identifier,),
            )
        body |= {"trials": trials, "provenance": {}}
        assert service.parts.take(one, body).outcome == "committed"
    ended = [service.submission(owner, each.identifier) for each in (broken, good)]
    assert [each.state for each in ended] == ["cancelled", "done"]
    assert "it cannot go on: " in ended[0].stopped
    assert "unread" in ended[0].stopped


def test_a_slip_in_the_look_at_one_experiment_stops_no_worker(service, monkeypatch) -> None:
    owner, one = service.access.owner(), worker(service, "one")
    sent = service.submit(owner, FILE.format(more=""), "e.toml").spec

    def slips(*_arguments):
        raise ZeroDivisionError

    monkeypatch.setattr("steelyard.app.service.going_further.further_blocks", slips)
    run(service, [one], sent, 0.1)
    ended = service.submission(owner, sent.identifier)
    assert (ended.state, "ZeroDivisionError" in ended.stopped) == ("cancelled", True)
