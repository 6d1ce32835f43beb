"""What a service keeps to itself, and what it answers to what cannot be."""

from __future__ import annotations

import json
from pathlib import Path

from tests.integration.test_service import FILE, sent, serving, written  # noqa: F401 - a fixture
from tests.patience import PATIENCE_S, awaited, line_of

SECRET, TOKEN = "s3cr3t-value-99", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
FORM = "application/x-www-form-urlencoded"


def commands():
    """The words of each command on this machine, which everyone on it can read."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:
            continue
    return found


def test_neither_the_address_nor_a_token_reaches_what_others_can_read(
    user,
    serving,  # noqa: F811 - the fixture
    script,
) -> None:
    served = serving()
    served.has_worker()
    secret = served.url.path.strip("/").encode()
    assert not [words for words in commands() if secret in words or served.token.encode() in words]
    program = script("env > seen.$$; tr '\\0' '\\n' < /proc/$PPID/environ >> seen.$$")
    identifier = sent(user, written(user, f'"{program}"', runs=1))["experiment"]
    assert served.ended(identifier)["committed"] == 2
    seen = [path.read_bytes() for path in user.home.glob("seen.*")]
    assert seen
    for each in seen:
        assert b"STEELYARD_TOKEN" not in each
        assert b"STEELYARD_SERVER" not in each
        assert secret not in each


def test_pages_show_no_secrets_of_what_was_sent(user, serving) -> None:  # noqa: F811
    served = serving("--no-worker")
    served.enrols("w")
    text = FILE.format(command='"true"', runs=1, hosts="").replace("a & b", f"see {TOKEN}")
    text = text.replace("[[factor]]", f'environment = {{DB_PASSWORD = "{SECRET}"}}\n\n[[factor]]')
    path = user.home / "e.toml"
    path.write_text(text)
    identifier = sent(user, str(path))["experiment"]
    for page in ("service", f"service/{identifier}", "api/experiments"):
        shown = served.asks("GET", page)[1]
        assert SECRET not in shown
        assert TOKEN not in shown
        assert "see ***" in shown


def test_what_is_not_there_cannot_be_cancelled_on_a_page_either(serving) -> None:  # noqa: F811
    served = serving("--no-worker")
    status, text = served.asks("POST", "service/01M85SC0VHQM52GC8EDA4C9YQW/cancel", "", kind=FORM)
    assert (status, "There is no experiment" in text) == (404, True)


def part_of(served):
    token = served.enrols("w")
    return token, lambda: json.loads(served.asks("POST", "api/worker/next", {}, token=token)[1])


def trials_of(given, variants):
    common = {"warmup": False, "status": "ok", "reason": None}
    common |= {"spent_s": 1.0, "measurements": {"wall_time": [0.1]}, "block": 0}
    return [
        {**common, "started_unix_s": 1.0 + position, "position": position, "variant": variant}
        for position, variant in zip(given["positions"], variants, strict=True)
    ]


def test_a_result_at_other_levels_than_planned_is_refused(user, serving) -> None:  # noqa: F811
    served = serving("--no-worker")
    token, ask = part_of(served)
    sent(user, written(user, runs=1))
    given = ask()
    about = {name: given[name] for name in ("part", "attempt", "experiment")}
    outcomes = []
    for variants in ((0, 0), (1, 1), (0, 1), (1, 0)):
        body = {**about, "trials": trials_of(given, variants), "provenance": {}}
        text = served.asks("POST", "api/worker/results", body, token=token)[1]
        outcomes.append(json.loads(text)["outcome"])
    # One order was drawn, so that one of four is right.
    assert sorted(outcomes) == ["committed", "refused", "refused", "refused"] or (
        sorted(outcomes) == ["committed", "refused", "refused", "twice"]
    )


def test_numbers_of_one_block_are_not_taken_for_those_of_the_next(user, serving) -> None:  # noqa: F811
    served = serving("--no-worker")
    token, ask = part_of(served)
    sent(user, written(user, runs=2))

    def told(given, started_unix_s):
        """What the service says to each of both orders, of which one was drawn."""
        about = {name: given[name] for name in ("part", "attempt", "experiment")}
        block = {"block": given["positions"][0] // 2, "started_unix_s": started_unix_s}
        for variants in ((0, 1), (1, 0)):
            trials = [
                {**trial, **block, "started_unix_s": started_unix_s + index}
                for index, trial in enumerate(trials_of(given, variants))
            ]
            body = {**about, "trials": trials, "provenance": {}}
            yield json.loads(served.asks("POST", "api/worker/results", body, token=token)[1])

    assert "committed" in [each["outcome"] for each in told(ask(), 1.0)]
    given = ask()
    copied = list(told(given, 1.0))
    assert [each["outcome"] for each in copied] == ["refused", "refused"]
    assert any("its numbers are those of block" in each["message"] for each in copied)
    # Three results that cannot be: a new token is a new beginning.
    token = served.enrols("w")
    assert "committed" in [each["outcome"] for each in told(given, 9.0)]


def test_no_trial_is_ok_without_a_measurement_or_runs_longer_than_it_took(user, serving) -> None:  # noqa: F811
    served = serving("--no-worker")
    token, ask = part_of(served)
    sent(user, written(user, runs=1))
    given = ask()
    about = {name: given[name] for name in ("part", "attempt", "experiment")}
    told = []
    for changes in (
        {"measurements": {}},
        {"measurements": {"wall_time": []}},
        {"measurements": {"wall_time": [1.5]}},
    ):
        for variants in ((0, 1), (1, 0)):
            trials = [{**each, **changes} for each in trials_of(given, variants)]
            body = {**about, "trials": trials, "provenance": {}}
            text = served.asks("POST", "api/worker/results", body, token=token)[1]
            told.append(json.loads(text))
        # A worker's faults count one after the other: a new token is a new beginning.
        token = served.enrols("w")
    assert [each["outcome"] for each in told] == ["refused"] * 6
    messages = " ".join(each["message"] for each in told)
    assert messages.count("is ok, and has no measurement") == 2
    assert messages.count("ran for 1.5 s, and took 1 s in all") == 1


def test_nothing_of_a_worker_in_quarantine_is_taken(user, serving) -> None:  # noqa: F811
    served = serving("--no-worker")
    token, ask = part_of(served)
    identifier = sent(user, written(user, runs=1))["experiment"]
    given = ask()
    about = {name: given[name] for name in ("part", "attempt", "experiment")}
    for trials in ([], [], [], trials_of(given, (0, 1)), trials_of(given, (1, 0))):
        body = {**about, "trials": trials, "provenance": {}}
        text = served.asks("POST", "api/worker/results", body, token=token)[1]
        assert json.loads(text)["outcome"] == "refused"
    assert "is in quarantine" in json.loads(text)["message"]
    assert served.gets(f"api/experiments/{identifier}")["committed"] == 0


def test_reasons_are_kept_and_shown_whatever_bytes_they_have(user, serving) -> None:  # noqa: F811
    served = serving("--no-worker")
    token, ask = part_of(served)
    identifier = sent(user, written(user, runs=1))["experiment"]
    for why in ("no <gcc>", "zero \0 byte", "half \udc80 character"):
        given = ask()
        body = {name: given[name] for name in ("part", "attempt", "experiment")}
        text = served.asks("POST", "api/worker/results", {**body, "failure": why}, token=token)[1]
        assert json.loads(text)["outcome"] == "failed", text
    page = served.asks("GET", f"service/{identifier}")[1]
    assert "no &lt;gcc&gt;" in page
    assert "zero \ufffd byte" in page
    assert "half ? character" in page


def test_what_no_database_and_no_json_can_hold_is_refused(user, serving) -> None:  # noqa: F811
    served = serving("--no-worker")
    token, ask = part_of(served)
    half = FILE.format(command='"true"', runs=1, hosts="").replace("a & b", "\ud800")
    many = FILE.format(command='"true"', runs=10**9, hosts="")
    deep = '{"a": ' * 400 + "1" + "}" * 400
    for file, why in ((half, "half a character"), (many, "a service takes 1000000")):
        status, text = served.asks("POST", "api/experiments", {"file": file})
        assert (status, why in text) == (422, True)
    sent(user, written(user, runs=1))
    given = ask()
    about = {name: given[name] for name in ("part", "attempt", "experiment")}
    for provenance in (
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": ' + "[" * 900 + "]" * 900 + "}",
        deep,
    ):
        data = {**about, "trials": [], "provenance": {}}
        body = json.dumps(data).replace('"provenance": {}', f'"provenance": {provenance}')
        status, text = served.asks("POST", "api/worker/results", body, token=token)
        assert status in (200, 422), text
        assert json.loads(text).get("outcome", "refused") == "refused"
    body = {**about, "experiment": "\ud800", "failure": "x"}
    status, text = served.asks("POST", "api/worker/results", body, token=token)
    assert (status, json.loads(text)["outcome"]) == (200, "refused")


def test_a_file_may_begin_with_a_byte_order_mark(serving) -> None:  # noqa: F811
    served = serving("--no-worker")
    served.enrols("w")
    text = "\ufeff" + FILE.format(command='"true"', runs=1, hosts="").replace("\n", "\r\n")
    status, answer = served.asks("POST", "api/experiments", {"file": text, "dry_run": True})
    assert (status, json.loads(answer)["trials"]) == (200, 2)


def test_what_a_killed_worker_left_is_taken_away_and_two_do_not_share_a_directory(
    user,
    serving,  # noqa: F811
    script,
) -> None:
    served = serving("--no-worker")
    program = script("[ -e go ] || { touch here; exec sleep 600; }")
    words = ("worker", "--once", "--name", "w", "--directory", "d")
    assert user.types(*words).status == 0
    identifier = sent(user, written(user, f'"{program}"', runs=1))["experiment"]
    first = user.start(*words)
    awaited((user.home / "here").exists)
    second = user.start(*words)
    assert b"waiting for the worker that uses d" in line_of(second, "stderr")
    first.kill()
    first.communicate(timeout=PATIENCE_S)
    (user.home / "go").touch()
    assert second.wait(PATIENCE_S) == 0
    second.communicate()
    assert served.ended(identifier)["committed"] == 2
    assert list((user.home / "d" / "parts").iterdir()) == []
