"""`steelyard host study`: what each knob is worth, kept for the status."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.host.host_journal import JOURNAL_VARIABLE
from tests.integration.conftest import User
from tests.integration.killing import kill_while_waiting, waiting_in

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture
def owner(user: User, tmp_path: Path) -> User:
    """A user with a host journal of their own, also where they are root."""
    environment = {**user.environment, JOURNAL_VARIABLE: str(tmp_path / "host" / "journal")}
    return User(user.home, environment)


STUDY = ("host", "study", "--knob", "aslr", "--seed", "3")


def test_a_study_answers_is_kept_and_shown_by_the_status(owner: User) -> None:
    files = ("--html", "study.html", "--plots", "plots", "--json", "study.json")
    told = owner.types(*STUDY, "--runs", "4", *files, "--", "/bin/sh", "-c", "true")
    assert told.status == 0, told.err
    assert "aslr" in told.out
    page = (owner.home / "study.html").read_text()
    assert page.count("<img") == 2
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert len(list((owner.home / "plots").glob("violins-*.png"))) == 2
    again = owner.types("experiment", "analyze", "latest", "--method", "noise", "--json", "-")
    assert [setup["count"] for setup in again.document()["setups"]] == [4, 4]
    status = owner.types("host", "status", "--json", "-").document()
    assert status["study"]["ranking"] == ["aslr"]
    assert status["study"]["command"] == "/bin/sh -c true"
    assert "worth here" in owner.types("host", "status").out


def test_the_document_keeps_its_schema_and_setups_ran_as_they_say(owner: User) -> None:
    told = owner.types(*STUDY, "--runs", "3", "--json", "-", "--shell", "--", "exit $(( 0 ))")
    document = told.document()
    assert document["kind"] == "host-study"
    assert document["baseline"] == "baseline"
    assert {item["setup"] for item in document["skipped"]} >= {"services", "drop-caches"}
    shown = owner.types("show", document["experiment"], "--trials", "--json", "-").document()
    realised = {trial["variant"]: trial["realised"] for trial in shown["trials"]}
    assert realised["aslr"] == {"knobs": "aslr", "aslr": False}
    assert realised["baseline"] == {"knobs": "none"}


def test_a_killed_study_goes_on_where_it_stopped(owner: User, script: Callable[[str], str]) -> None:
    program = script(waiting_in(4))
    process = owner.start(*STUDY, "--runs", "3", "--warmup", "0", "--", program)
    kill_while_waiting(owner, process)
    told = owner.types("host", "study", "--resume", "latest", "--json", "-")
    assert told.status == 0, told.err
    assert [setup["count"] for setup in told.document()["setups"]] == [3, 3]
    # Three runs and the one that was killed; then that one anew and two more.
    assert (owner.home / "runs").read_text() == ".\n" * 7


def test_a_dry_run_says_what_would_be_run_and_runs_nothing(owner: User) -> None:
    told = owner.types("host", "study", "--dry-run", "--", "/bin/sh", "-c", "touch ran")
    assert told.status == 0
    assert "baseline" in told.out
    assert "not studied: drop-caches: it is studied only when it is named" in told.out
    assert "in random order" in told.out
    assert not (owner.home / "ran").exists()


def test_setups_whose_runs_all_fail_are_told_with_the_reason(owner: User) -> None:
    # Without address randomisation the personality is not 0.
    program = ("/bin/sh", "-c", "echo moved >&2; grep -qx 0*0 /proc/$$/personality")
    told = owner.types(*STUDY, "--runs", "3", "--", *program)
    assert told.status == 3
    assert "nothing to compare: at aslr all 3 runs failed: exit code 1 (moved)" in told.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--knob", "warp"), "no knob called 'warp'"),
        (("--knob", "services"), "No knob changes anything here: services: no service was named"),
        (("--resume", "latest"), "experiment"),
        (("--cpus", "x"), "--cpus"),
        (("--knob", "aslr", "--", "/no/such/program"), "/no/such/program"),
    ],
)
def test_a_wrong_call_is_told_in_one_line(
    owner: User, arguments: tuple[str, ...], message: str
) -> None:
    told = owner.types("host", "study", *arguments)
    assert told.status == 2
    assert message in told.err
    assert told.err.count("error:") == 1
