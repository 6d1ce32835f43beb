"""What a stranger's service tells of archives of results is one sentence where it is nonsense."""

from __future__ import annotations

import pytest

from steelyard.app.service.fetched_experiment import fetch_results
from steelyard.core.errors import SteelyardError
from steelyard.service.service_client import ServiceClient, UnreachableError, _answer

PAGE = "https://bench.example/service/01M85SC0VHQM52GC8EDA4C9YQW"


@pytest.mark.parametrize(
    "told",
    [
        *([], 3, "x", {}, {"archives": 3}, {"archives": [3]}, {"archives": [{"file": "trial-1"}]}),
        {"archives": [{"file": "trial-1", "position": "../../x", "sha256": "x"}]},
        {"archives": [{"file": "trial-1", "position": 1e400, "sha256": "x"}]},
        {"archives": [{"file": "../../trial-1", "position": 1, "sha256": "x"}]},
    ],
)
def test_nonsense_is_told(tmp_path, monkeypatch, told) -> None:
    monkeypatch.setattr(ServiceClient, "get", lambda *_: told)
    with pytest.raises(SteelyardError, match=r"^The service"):
        fetch_results(PAGE, None, str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", [b"<html>", b"[" * 200_000, b'{"archives": [', b"\xff"])
def test_what_is_no_answer_of_a_service_may_be_asked_again(data) -> None:
    with pytest.raises(UnreachableError, match="no service of Steelyard"):
        _answer(200, data)
