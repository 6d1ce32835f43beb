"""What cannot be built is a failed trial with its reason, and the rest has its answer."""

from __future__ import annotations

from collections import Counter
from urllib.parse import urlencode

from tests.integration.test_service import serving  # noqa: F401 - a fixture
from tests.needs import need
from tests.thesis_cases import REASON, small_compressors


def test_what_does_not_link_in_one_order_fails_there_alone(serving) -> None:  # noqa: F811
    need("gcc")
    served = serving()
    served.has_worker()
    form = urlencode({"ask": "send", "file": small_compressors(1, ("-O1", "-O2"))})
    status, text = served.asks(
        "POST", "service/new", form, kind="application/x-www-form-urlencoded"
    )
    assert status == 303, text.partition('cautions"')[2][:500]
    (sent,) = served.gets("api/experiments")["experiments"]
    told = served.ended(sent["experiment"])
    assert (told["trials"], told["committed"]) == (24, 24)
    found = served.gets(f"api/experiments/{sent['experiment']}/trials")
    variants = [dict(each["parameters"]) for each in found["experiment"]["variants"]]
    failed = [each for each in found["trials"] if each["status"] != "ok"]
    places = Counter(
        (variants[each["variant"]]["benchmark"], variants[each["variant"]]["link-order"])
        for each in failed
    )
    assert places == {("xz", "alphabetical"): 4}
    assert {each["reason"] for each in failed} == {"build"}
    assert all(REASON in each["details"]["error"] for each in failed), failed[0]
    status, page = served.asks_for_bytes(f"service/{sent['experiment']}/answer")
    assert status == 200
    assert b"failed" in page
