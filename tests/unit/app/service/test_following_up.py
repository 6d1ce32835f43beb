"""A screening that was sent is followed by the full design of the factors that it proposes."""

from __future__ import annotations

import itertools
import json

import pytest

from steelyard.app.service.following_up import refuse_no_screening
from steelyard.app.service.planned_submission import Wishes
from steelyard.app.service.quotas import Quotas
from steelyard.app.service.service import Service
from steelyard.core.errors import UsageError
from steelyard.design.plan_part import planned_trial
from steelyard.service.service_database import ServiceDatabase

FILE = """\
[experiment]
seed = 7
runs = 3
name = "what matters?"

[[benchmark]]
name = "b"
command = "true"

[[factor]]
factor = "environment-size"
levels = [0, 64]
[[factor]]
factor = "nice"
levels = [0, 1]
[[factor]]
factor = "aslr"
levels = [true, false]

[design]
kind = "plackett-burman"

[analysis]
method = "screening"

[hosts]
factors = {worker = "100%"}
require = {cpus = ">= 1"}
"""
# No two trials begin at the same time.
CLOCK = itertools.count(1)
FACTS = {"architecture": "x", "cpus": 1}


@pytest.fixture
def service(tmp_path):
    database = ServiceDatabase(str(tmp_path / "service.sqlite"))
    yield Service(database, str(tmp_path / "packages"))
    database.close()


def workers(service, *names):
    return [
        service.access.worker(service.access.enrol(service.access.owner(), name, FACTS))
        for name in names
    ]


def sent_screening(service):
    return service.submit(
        service.access.owner(), FILE, "e.toml", "shared", Wishes(priority=4, is_followed=True)
    )


def run(service, hosts, specs, effects, slow=1.0):
    """Run all that waits; `effects` by the factor whose second level is slower, and each worker
    after the first is `slow` times as slow as the one before."""
    while any(run_one(service, each, specs, effects, slow**k) for k, each in enumerate(hosts)):
        pass


def run_one(service, host, specs, effects, speed):
    part = service.parts.give(host)
    if part is None:
        return False
    spec = specs(part.experiment)
    body = {"part": part.id, "attempt": part.attempt, "experiment": part.experiment}
    trials = [measured(spec, position, effects, speed) for position in part.positions]
    taken = service.parts.take(host, {**body, "trials": trials, "provenance": {}})
    assert taken.outcome == "committed", taken.message
    return True


def measured(spec, position, effects, speed):
    plan = planned_trial(spec, position)
    first = dict(spec.variants[0].parameters)
    levels = dict(spec.variants[plan.variant].parameters)
    time_s = 1.0 + 0.01 * (((position * 2654435761) % 1000) / 1000 - 0.5)
    for name, effect in effects.items():
        time_s *= 1 + effect * (levels.get(name) != first.get(name))
    return {
        **{"position": position, "block": plan.block, "variant": plan.variant, "warmup": False},
        **{"status": "ok", "reason": None, "started_unix_s": float(next(CLOCK)), "spent_s": 100.0},
        "measurements": {"wall_time": [speed * time_s]},
        **{"build": 0, "realised": {}, "details": {}},
    }


def specs_of(service):
    return lambda identifier: (
        service.trials(service.submission(service.access.owner(), identifier)).spec
    )


def of(service, identifier):
    return service.submission(service.access.owner(), identifier)


@pytest.mark.parametrize("slow", [1.0, 1.7])
def test_what_matters_gets_its_full_design_however_unlike_the_workers_are(service, slow) -> None:
    hosts = workers(service, "one", "two", "three")
    planned = sent_screening(service)
    run(service, hosts, specs_of(service), {"nice": 0.05, "aslr": 0.08}, slow)
    screening = of(service, planned.spec.identifier)
    second = of(service, screening.follow_up)
    assert (screening.state, second.state) == ("done", "done")
    spec = service.trials(second).spec
    assert [name for name, _ in spec.varied] == ["nice", "aslr"]
    assert len(spec.variants) == 4
    # What was asked of hosts holds for it too, and who sent it and who may see it stay.
    assert second.trial_count == second.committed_count == 3 * 3 * 4
    assert (second.account, second.visibility) == ("owner", "shared")
    assert "nuisance" in second.file
    assert second.follow_up == ""


def test_looking_again_sends_nothing_more(service) -> None:
    hosts = workers(service, "one")
    planned = sent_screening(service)
    run(service, hosts, specs_of(service), {"nice": 0.2})
    assert len(service.submissions(service.access.owner())) == 2
    service.follow_ups.look(None)
    assert len(service.submissions(service.access.owner())) == 2
    assert of(service, planned.spec.identifier).follow_up


def test_where_nothing_matters_nothing_follows_and_it_says_so(service) -> None:
    hosts = workers(service, "one", "two")
    planned = sent_screening(service)
    run(service, hosts, specs_of(service), {}, 2.0)
    told = of(service, planned.spec.identifier).follow_up
    assert told == "none: the screening proposes no factor."
    assert len(service.submissions(service.access.owner())) == 1


def test_a_cancelled_screening_is_not_followed(service) -> None:
    (host,) = workers(service, "one")
    planned = sent_screening(service)
    assert run_one(service, host, specs_of(service), {"nice": 0.2}, 1.0)
    service.cancel(service.access.owner(), planned.spec.identifier)
    run(service, [host], specs_of(service), {"nice": 0.2})
    assert len(service.submissions(service.access.owner())) == 1


def test_a_screening_that_was_not_asked_to_be_followed_is_not(service) -> None:
    hosts = workers(service, "one")
    service.submit(service.access.owner(), FILE, "e.toml")
    run(service, hosts, specs_of(service), {"nice": 0.2})
    assert len(service.submissions(service.access.owner())) == 1


def test_the_quota_of_a_member_holds_for_what_follows(service) -> None:
    from steelyard.service.accounts import Identity, add_account

    hosts = workers(service, "one")
    with service.database.writing() as connection:
        number = add_account(connection, "ada", "member", 1.0)
    ada = Identity(number, "ada", "member", frozenset({"read", "submit"}))
    planned = service.submit(ada, FILE, "e.toml", wishes=Wishes(is_followed=True))
    service.quotas = Quotas(trials=5)
    run(service, hosts, specs_of(service), {"nice": 0.2, "aslr": 0.3})
    told = service.submission(ada, planned.spec.identifier).follow_up
    assert told.startswith("none: ada may have 5 trials")


def test_only_a_screening_can_be_followed() -> None:
    with pytest.raises(UsageError, match="only a screening can be followed"):
        refuse_no_screening(FILE.replace('"screening"', '"anova"'), "e.toml")


def test_the_followed_file_is_json_safe(service) -> None:
    hosts = workers(service, "one")
    planned = sent_screening(service)
    run(service, hosts, specs_of(service), {"nice": 0.2})
    follow = of(service, of(service, planned.spec.identifier).follow_up)
    assert json.loads(json.dumps(follow.file)) == follow.file
    assert 'require = {cpus = ">= 1"}' in follow.file


def test_a_slip_in_one_analysis_leaves_the_workers_to_the_others(service, monkeypatch) -> None:
    hosts = workers(service, "one")
    planned = sent_screening(service)

    def slips(_experiment):
        raise ZeroDivisionError

    monkeypatch.setattr("steelyard.app.service.following_up.own_analysis", slips)
    run(service, hosts, specs_of(service), {"nice": 0.05})
    assert of(service, planned.spec.identifier).follow_up.startswith("none: ")
    assert service.parts.give(hosts[0]) is None
