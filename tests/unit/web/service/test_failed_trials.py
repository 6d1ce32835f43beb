"""The page of an experiment says that its trials failed, and why."""

from __future__ import annotations

from steelyard.service import failed_trials
from tests.unit.web.service.conftest import FILE, result_of

WHY = "The build 'cc' failed with exit code 1: cannot find <h.c>"

TRIAL = {
    **{"position": 0, "block": 0, "variant": 0, "warmup": False, "status": "failed"},
    **{"started_unix_s": 0.0, "spent_s": 0.5, "measurements": {}, "build": 0},
    **{"realised": {}, "levels": []},
}


def test_the_page_says_how_many_trials_failed_and_why(shared) -> None:
    ada = shared.account("ada")
    service, browser = shared.service, shared.browser(ada)
    who = service.access.identity(shared.token(ada, "submit"), "submit")
    token = service.access.enrol(service.access.owner(), "w", {"cpus": 1})
    sent = service.submit(who, FILE, "e.toml").spec.identifier
    worker = service.access.worker(token)
    given = service.parts.give(worker)
    result = result_of(given)
    failed = {"status": "failed", "reason": "build", "measurements": {}, "details": {"error": WHY}}
    result["trials"] = [{**each, **failed} for each in result["trials"]]
    assert service.parts.take(worker, result).outcome == "committed"
    page = browser.get(f"/service/{sent}").text
    assert "2 of the newest 2 trials failed" in page
    assert "cannot find &lt;h.c&gt;" in page
    answer = browser.get(f"/service/{sent}/answer").text
    assert "Nothing was measured: all 2 trials failed. First failure: its build failed" in answer
    assert "Not measured" in answer
    assert "is undecided" not in answer
    given = service.parts.give(worker)
    assert service.parts.take(worker, result_of(given)).outcome == "committed"
    assert "2 of the newest 4 trials failed" in browser.get(f"/service/{sent}").text


def test_without_an_error_of_its_own_a_trial_says_how_it_ended() -> None:
    trial = {**TRIAL, "reason": "exit", "details": {"exit_code": 3}}
    assert "3" in failed_trials._why(trial)


def test_the_page_says_nothing_where_none_did(shared) -> None:
    ada = shared.account("ada")
    sent = shared.sent(ada)
    assert "trials failed" not in shared.browser(ada).get(f"/service/{sent}").text
