"""The history as a user types it: add, check, tell, acknowledge, report."""

from __future__ import annotations

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.integration.conftest import validate
from tests.repositories import Planned, make_repository

COUNT = 46
STEP = 40
MEASURE = "cost=cost: ([0-9.]+):units"


def _values(step=1.1):
    """A track whose last values lie higher, with a little spread."""
    return [(100.0 + 0.3 * (n % 3)) * (step if n >= STEP else 1.0) for n in range(COUNT)]


def _csv(path, revisions, step=1.1):
    rows = [
        f"prog,cost,{revision},{value}"
        for revision, value in zip(revisions, _values(step), strict=True)
    ]
    path.write_text("\n".join(["series,metric,revision,value", *rows, ""]))
    return str(path)


@pytest.fixture
def bare(user):
    """A file of a track without a repository."""
    return _csv(user.home / "t.csv", [f"{1000 + n}" for n in range(COUNT)])


def _repository(user, slow=110):
    planned = [
        Planned(
            f"c{n}",
            (f"c{n - 1}",) if n else (),
            {"cost.txt": f"cost: {slow if n >= STEP else 100}\n", "n.txt": str(n)},
        )
        for n in range(COUNT)
    ]
    names = make_repository(user.home / "r", planned)
    return [names[f"c{n}"] for n in range(COUNT)]


def _confirming(*more):
    return (
        *("history", "check", "--repository", "r", "--build", "true", "--newest", "10"),
        *("--run", "cat cost.txt", "--measure", MEASURE, *more),
    )


def test_a_file_alone_is_checked_and_a_gate_ends_with_status_1(user, bare):
    told = user.types("history", "check", "--import", bare, "--json", "-")
    assert told.status == 0
    document = told.document()
    (change,) = [change for change in document["changes"] if change["kind"] == "step"]
    assert (change["track"], change["index"], change["revision"]) == ("prog cost", STEP, "1040")
    assert change["size"]["low"] < 1.1 < change["size"]["high"]
    assert change["previous_revision"] == "1039"
    gate = ("history", "check", "--import", bare, "--newest", "10", "--fail-if")
    assert user.types(*gate, "worse").status == 1
    assert user.types(*gate, "worse:5%").status == 1
    assert user.types(*gate, "worse:20%").status == 0
    assert user.types(*gate, "better").status == 0
    assert user.types("history", "check", "--import", bare, "--fail-if", "worse").status == 0


def test_nobody_is_told_of_what_no_run_has_confirmed_unless_asked(user, bare):
    assert user.types("history", "add", bare).status == 0
    told = user.types("history", "check", "--fail-if", "worse")
    assert told.status == 2
    assert "--no-confirm" in told.err
    told = user.types("history", "check", "--newest", "10", "--no-confirm", "--fail-if", "worse")
    assert told.status == 1


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="the order parallel takes two CPUs")
def test_a_true_change_is_confirmed_by_revisions_that_run_at_the_same_time(user):
    names = _repository(user)
    user.types("history", "add", _csv(user.home / "t.csv", names), "--repository", "r")
    told = user.types(*_confirming("--parallel", "--json", "-"))
    (alarm,) = [alarm for alarm in told.document()["alarms"] if alarm["state"] == "new"]
    assert alarm["confirmation"]["verdict"] == "confirmed"
    shown = user.types("report", alarm["confirmation"]["experiment"], "--json", "-")
    assert shown.document()["order"] == "parallel"


def test_a_true_change_is_confirmed_by_a_run_once_and_nothing_is_left_behind(user):
    names = _repository(user)
    user.types("history", "add", _csv(user.home / "t.csv", names), "--repository", "r")
    told = user.types(*_confirming("--fail-if", "worse", "--json", "-"))
    assert told.status == 1, told.err
    (alarm,) = [alarm for alarm in told.document()["alarms"] if alarm["state"] == "new"]
    assert alarm["revision"] == names[STEP]
    assert alarm["subject"] == f"c{STEP}"
    assert alarm["confirmation"]["verdict"] == "confirmed"
    assert alarm["confirmation"]["base"] == names[STEP - 1]
    assert "confirming" in told.err
    again = user.types(*_confirming("--fail-if", "worse"))
    assert again.status == 1
    assert "confirming" not in again.err
    assert not list(user.home.rglob("revisions-*"))
    assert not list((user.home / "r" / ".git").glob("worktrees/*"))


def test_an_alarm_of_a_benchmark_that_was_only_noisy_reaches_nobody(user):
    names = _repository(user, slow=100)
    user.types("history", "add", _csv(user.home / "t.csv", names), "--repository", "r")
    told = user.types(*_confirming("--fail-if", "worse", "--digest", "d.md", "--json", "-"))
    assert told.status == 0, told.err
    states = [alarm["state"] for alarm in told.document()["alarms"]]
    assert "refuted" in states
    assert "new" not in states
    assert "No new alarm" in (user.home / "d.md").read_text("utf-8")


def test_a_revision_that_does_not_build_confirms_nothing_and_is_named(user):
    names = _repository(user)
    user.types("history", "add", _csv(user.home / "t.csv", names), "--repository", "r")
    call = [*_confirming("--fail-if", "worse")]
    call[call.index("true")] = "false"
    told = user.types(*call)
    assert told.status == 0, told.err
    assert "unclear" in told.out


def test_a_change_that_is_acknowledged_or_put_off_is_not_told_again(user, bare):
    user.types("history", "add", bare)
    gate = ("history", "check", "--newest", "10", "--no-confirm", "--fail-if", "worse")
    done = user.types("history", "snooze", "1040", "--for", "2d", "--json", "-")
    assert done.document()["answer"] == "snoozed"
    assert user.types(*gate).status == 0
    done = user.types("history", "acknowledge", "1040", "--note", "wanted")
    assert done.out == "Changes at 1040 on 1 track are acknowledged.\n"
    document = user.types(*gate, "--json", "-").document()
    (alarm,) = [alarm for alarm in document["alarms"] if alarm["revision"] == "1040"]
    assert (alarm["state"], alarm["note"]) == ("acknowledged", "wanted")
    wrong = user.types("history", "acknowledge", "zz")
    assert wrong.status == 2
    assert user.types("history", "acknowledge", "10").status == 2


class _Listener(BaseHTTPRequestHandler):
    status = 200

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        self.server.posted.append(json.loads(self.rfile.read(length)))  # type: ignore[attr-defined]
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.end_headers()

    def log_message(self, format, *args):
        pass


@pytest.fixture
def webhook():
    server = HTTPServer(("127.0.0.1", 0), _Listener)
    server.posted, server.status = [], 200  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_webhook_is_told_of_an_alarm_once_and_again_where_it_did_not_take_it(user, bare, webhook):
    user.types("history", "add", bare)
    address = f"http://127.0.0.1:{webhook.server_port}/hush-secret"
    call = ("history", "check", "--newest", "10", "--no-confirm", "--webhook", address)
    webhook.status = 500
    failed = user.types(*call)
    assert failed.status == 2
    assert "127.0.0.1" in failed.err
    assert "hush-secret" not in failed.err
    webhook.status = 200
    assert user.types(*call).status == 0
    assert user.types(*call).status == 0
    assert len(webhook.posted) == 2
    posted = webhook.posted[-1]
    assert "prog cost" in posted["text"]
    validate(posted["report"])
    assert [alarm["revision"] for alarm in posted["report"]["alarms"]] == ["1040"]


def test_the_page_loads_nothing_and_holds_every_track_and_change(user, bare):
    user.types("history", "add", bare)
    assert user.types("history", "report", "-o", "h.html").status == 0
    page = (user.home / "h.html").read_text("utf-8")
    assert "default-src 'none'" in page
    assert 'src="http' not in page
    drawn = json.loads(page.split('type="application/json">')[1].split("</script>")[0])
    (track,) = drawn["tracks"]
    assert (track["name"], track["count"]) == ("prog cost", COUNT)
    assert sum(track["index"]) == COUNT - 1
    assert [change["index"] for change in track["changes"] if change["kind"] == "step"] == [STEP]
    assert "plotly" not in page


def test_a_report_in_markdown_shows_names_of_others_as_they_are(user):
    rows = [f"<b>|x|,{n},{v}" for n, v in enumerate(_values())]
    Path(user.home / "t.csv").write_text("\n".join(["series,index,value", *rows, ""]))
    told = user.types("history", "report", "--import", "t.csv", "--format", "markdown")
    assert told.status == 0
    assert "<b>" not in told.out
    table = [line for line in told.out.splitlines() if line.startswith("| ")]
    assert {line.count("|") for line in table} == {7}


def test_an_empty_history_says_how_to_fill_it(user):
    for command in ("check", "report", "list"):
        told = user.types("history", command)
        assert told.status == 2
        assert "history add" in told.err
