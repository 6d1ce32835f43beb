"""A slip of the service is in its journal with its place, and with nothing that is secret."""

from __future__ import annotations

SECRET = "password-of-someone"


def slip(*_given, **_more):
    raise KeyError(SECRET)


def test_a_slip_is_told_to_who_asked_and_to_the_journal(shared, monkeypatch, caplog) -> None:
    ada = shared.account("ada")
    browser, token = shared.browser(ada), shared.token(ada, "read")
    monkeypatch.setattr("steelyard.app.service.service.Service.submission", slip)
    monkeypatch.setattr("steelyard.app.service.service.Service.standing", slip)
    page = browser.get("/service/01SOMETHING")
    call = browser.calls("GET", "/api/experiments/01SOMETHING", token)
    assert (page.status, call.status) == (500, 500)
    assert "The journal says where" in page.text
    assert "The journal says where" in call.json()["message"]
    assert len(caplog.messages) == 2
    for line in caplog.messages:
        assert "KeyError at test_inner_fault.py:" in line
        assert SECRET not in line
        assert "01SOMETHING" not in line
