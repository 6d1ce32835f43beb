"""The host's status and a quiet session, as text and as documents."""

from __future__ import annotations

import io

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from rich.console import Console

from steelyard.host.facts import host_facts
from steelyard.host.knob import Finding
from steelyard.host.quiet import QuietState
from steelyard.host.restore import Restored
from steelyard.report.documents.schemas import schema
from steelyard.report.kinds.host.restore_document import host_restore_document
from steelyard.report.kinds.host.status_document import host_status_document
from steelyard.report.kinds.host.text import plain_status, print_status, quiet_lines, restored_lines

FINDINGS = (
    Finding("turbo", "turbo", "off", "off", "ok", True),
    Finding("governor", "frequency governor", "powersave", "performance", "bad", True, "do this"),
    Finding("steal", "stolen time", None, "0 %", "warning", False, "take [another] machine"),
)


def validate(document):
    shared = Registry().with_resource(
        "definitions.json", Resource.from_contents(schema("definitions"))
    )
    Draft202012Validator(schema(document["kind"]), registry=shared).validate(document)


def test_the_worst_comes_first_with_its_advice_below_it():
    lines = plain_status(FINDINGS).splitlines()
    assert lines[0] == "bad      frequency governor  powersave  (wanted: performance)"
    assert lines[1] == "         -> do this"
    assert lines[2].startswith("warning  stolen time         not known")
    assert lines[4] == "ok       turbo               off"
    assert lines[-1] == "1 bad, 1 warning, 1 ok"


def test_on_a_terminal_it_is_a_table_and_brackets_are_no_markup():
    file = io.StringIO()
    print_status(FINDINGS, Console(file=file, width=120))
    assert "take [another] machine" in file.getvalue()
    assert "1 bad, 1 warning, 1 ok" in file.getvalue()


def test_the_documents_keep_their_schemas():
    validate(host_status_document(FINDINGS, host_facts(), None))
    validate(host_status_document(FINDINGS, host_facts(), (0, 1)))
    validate(host_restore_document(Restored(("turbo",), (("swap", "swapon failed"),))))


def test_what_was_set_and_what_was_not_is_told_with_the_reasons():
    state = QuietState(
        applied={"turbo": {}, "cpu-shield": {}},
        refused={"swap": "only root may set it"},
        notes={"cpu-shield": ("one stays", "two stay")},
        recovered=Restored(("aslr",), (("smt", "no"),)),
    )
    assert quiet_lines(state) == [
        "put back from an earlier session: aslr",
        "still not put back: smt: no",
        "quiet: turbo",
        "quiet: cpu-shield (one stays; two stay)",
        "not quiet: swap: only root may set it",
    ]


def test_what_was_put_back_and_what_was_not_is_told():
    assert restored_lines(Restored()) == ["nothing was left to put back"]
    assert restored_lines(Restored(("turbo",), (("swap", "no"),))) == [
        "put back: turbo",
        "could not be put back: swap: no",
    ]
