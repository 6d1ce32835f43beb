"""A reproduction: the same experiment by others or on other hosts, and what it found again."""

from __future__ import annotations

import json
import zlib

import pytest

from steelyard.core.json_codec import experiment_spec_from_json
from steelyard.service.accounts import ROLES, SCOPES
from tests.integration.conftest import validate
from tests.unit.web.service.conftest import FILE, result_of

TWO = FILE.replace("runs = 2", "runs = 6").replace(
    "[[factor]]", '[[benchmark]]\nname = "c"\ncommand = "false"\n\n[[factor]]'
)


def sent(shared, account, text, hosts, effect):
    """An experiment with all its trials on hosts; its second level takes `effect` times longer."""
    who = shared.service.access.identity(shared.token(account, *ROLES["administrator"]), "submit")
    tokens = [
        shared.service.access.enrol(shared.service.access.owner(), name, {"cpus": 1})
        for name in hosts
    ]
    asked = (
        text + f'[hosts]\nrequire = {{name = {json.dumps(hosts)}}}\nfactors = {{worker = "100%"}}\n'
    )
    planned = shared.service.submit(who, asked, "e.toml", "shared")
    for worker in map(shared.service.access.worker, tokens):
        while (given := shared.service.parts.give(worker)) is not None:
            body = result_of(given)
            variants = experiment_spec_from_json(json.loads(given.specification)).variants
            for trial in body["trials"]:
                slow = dict(variants[trial["variant"]].parameters)["environment-size"] == "64"
                own = f"{asked} {worker.name} {trial['position']}"
                noise = 1 + 0.01 * zlib.crc32(own.encode()) / 2**32
                trial["measurements"] = {"wall_time": [0.1 * noise * (effect if slow else 1.0)]}
            taken = shared.service.parts.take(worker, body)
            assert taken.outcome == "committed", taken
    return planned.spec.identifier


def compared(shared, account, first, second):
    token = shared.token(account, *SCOPES)
    path = f"/api/experiments/{first}/reproduction/{second}"
    return shared.browser().calls("GET", path, token)


def test_the_same_effect_agrees_on_the_hosts_that_ran_both_and_another_does_not(shared) -> None:
    ada, bob = shared.account("ada"), shared.account("bob")
    first = sent(shared, ada, TWO, ["u", "v"], 1.10)
    again = sent(shared, bob, TWO.replace("seed = 5", "seed = 6"), ["v"], 1.10)
    other = sent(shared, bob, TWO.replace('name = "e"', 'name = "mine"'), ["w"], 1.30)
    found = compared(shared, bob, first, again).json()
    validate(found)
    assert (found["hosts"], found["benchmarks"]) == ([2, 1], [2, 2])
    assert [each["hosts"] for each in found["effects"]] == [["v"], ["v"]]
    assert all(each["agrees"] and each["same_answer"] for each in found["effects"])
    (sizes,) = found["factors"]
    # 10 % of the first level is 9.5 % of the mean of both.
    assert sizes["mean_percent"] == pytest.approx([9.52, 9.52], abs=0.6)
    strange = compared(shared, bob, first, other).json()
    assert not any(each["agrees"] for each in strange["effects"])
    assert [each["hosts"] for each in strange["effects"]] == [[], []]
    page = shared.browser(bob).get(f"/service/{first}/reproductions")
    assert again[:10] in page.text
    assert other[:10] in page.text
    page = shared.browser(bob).get(f"/service/{first}/reproduction/{again}")
    assert (page.status, "2 of 2 effects agree" in page.text) == (200, True)


def test_what_asks_something_else_or_shows_nothing_yet_is_refused(shared) -> None:
    ada = shared.account("ada")
    first = sent(shared, ada, TWO, ["u"], 1.1)
    changed = TWO.replace("[0, 64]", "[0, 128]").replace('"false"', '"other"')
    who = shared.service.access.identity(shared.token(ada, *SCOPES), "submit")
    unlike = shared.service.submit(who, changed, "e.toml").spec.identifier
    waiting = shared.service.submit(who, TWO, "e.toml").spec.identifier
    for other, said in (
        (unlike, "ask something else"),
        (waiting, "shows no effect yet"),
        ("x" * 26, ""),
    ):
        got = compared(shared, ada, first, other)
        assert got.status in (404, 422), got.text
        assert said in got.text
