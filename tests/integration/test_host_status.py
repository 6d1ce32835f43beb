"""`steelyard host status` on this machine."""

from __future__ import annotations

import pytest

# It looks whether a session of another test is under way.
pytestmark = pytest.mark.usefixtures("alone")


def test_the_status_of_this_machine_keeps_its_schema(user):
    told = user.types("host", "status", "--json", "-")
    assert told.status == 0, told.err
    document = told.document()
    assert document["kind"] == "host-status"
    knobs = {knob["knob"]: knob for knob in document["knobs"]}
    assert {"aslr", "governor", "load", "steal", "file-system"} <= set(knobs)
    assert all(knob["advice"] for knob in knobs.values() if knob["severity"] != "ok")


def test_the_status_is_told_in_plain_text_with_the_worst_first(user):
    told = user.types("host", "status")
    assert told.status == 0, told.err
    ranks = ["bad", "warning", "info", "ok"]
    found = [ranks.index(line.split()[0]) for line in told.out.splitlines() if line[:1].isalpha()]
    assert found == sorted(found)
    assert "address space randomisation" in told.out


def test_the_status_can_be_had_of_some_cpus(user):
    told = user.types("host", "status", "--cpus", "0", "--json", "-")
    assert told.document()["cpus"] == [0]


def test_what_is_no_list_of_cpus_is_refused(user):
    told = user.types("host", "status", "--cpus", "one", "--json", "-")
    assert told.status == 2
    assert told.document()["field"] == "cpus"
