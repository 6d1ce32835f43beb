"""A user asks for the states of iterations, and chooses."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import struct
from urllib.parse import urlsplit

import numpy as np
import pytest

from tests.patience import PATIENCE_S


def series(count=400, start_up=40, seed=3):
    generator = np.random.default_rng(seed)
    values = generator.normal(0.01, 0.0002, count)
    values[:start_up] += 0.005
    return values


def write(path, executions):
    rows = [
        f"{name},{at},{value!r}"
        for name, values in executions.items()
        for at, value in enumerate(np.asarray(values).tolist())
    ]
    path.write_text("execution,iteration,value\n" + "\n".join(rows) + "\n")
    return str(path)


@pytest.fixture
def times(user):
    return write(user.home / "times.csv", {"a": series(), "b": series(seed=4, start_up=60)})


def test_a_table_of_iterations_gives_states_and_a_proposal(user, times):
    told = user.types("analyze", times, "--method", "states", "--json", "-")
    assert told.status == 0
    document = told.document()
    assert document["kind"] == "states"
    assert [e["class"] for e in document["executions"]] == ["warm-up", "warm-up"]
    assert [e["initialised"] for e in document["executions"]] == [40, 60]
    assert document["proposal"]["rule"] == "independent"
    assert document["proposal"]["iteration"] == 60
    shown = user.types("analyze", times, "--method", "states")
    assert "from iteration 60 on" in shown.out
    assert "DaCapo's harness would have been off by 5" in shown.out


def test_an_experiment_of_the_store_gives_states(user, script):
    harness = script(
        'i=0; while [ $i -lt 80 ]; do echo "took 0.0$((i % 7 + 10))"; i=$((i+1)); done'
    )
    adapter = r"regex:took ([\d.]+)"
    measured = user.types("measure", "--runs", "3", "--iterations", adapter, "--", harness)
    assert measured.status == 0, measured.err
    told = user.types("analyze", "latest", "--method", "states", "--json", "-")
    assert told.status == 0, told.err
    document = told.document()
    assert len(document["executions"]) == 3
    assert {e["iterations"] for e in document["executions"]} == {80}
    assert document["executions"][0]["class"] == "cyclic"
    assert document["executions"][0]["period"] == 7


@pytest.mark.parametrize("dropped", ["0", "10"])
def test_iterations_that_were_dropped_as_warm_up_are_judged_too(user, script, dropped):
    harness = script(
        "i=0; while [ $i -lt 80 ]; do "
        '[ $i -lt 20 ] && v=2 || v=1; echo "took $v.0$((i * 7 % 10))"; i=$((i+1)); done'
    )
    call = ("measure", "--runs", "2", "--iterations", r"regex:took ([\d.]+)")
    measured = user.types(*call, "--warmup-iterations", dropped, "--", harness)
    assert measured.status == 0, measured.err
    call = ("analyze", "latest", "--method", "states", "--option", "tolerance=20%")
    document = user.types(*call, "--json", "-").document()
    assert [e["iterations"] for e in document["executions"]] == [80, 80]
    assert [e["initialised"] for e in document["executions"]] == [20, 20]


def test_a_metric_of_which_more_is_better_warms_up_from_below(user, script):
    harness = script(
        "i=0; while [ $i -lt 80 ]; do "
        '[ $i -lt 20 ] && v=5 || v=10; echo "{\\"metric\\": \\"rate\\", \\"unit\\": \\"1/s\\",'
        ' \\"direction\\": \\"higher\\", \\"value\\": $v.$((i * 7 % 10))}"; i=$((i+1)); done'
    )
    metric = "rate=iterations:1/s:higher"
    call = ("measure", "--runs", "2", "--iterations", "json-lines", "--metric", metric)
    measured = user.types(*call, "--", harness)
    assert measured.status == 0, measured.err
    told = user.types("analyze", "latest", "--method", "states", "--option", "tolerance=20%")
    assert told.out.count("warm-up") == 2
    assert "slow-down" not in told.out


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ("", 2, "is empty"),
        ('{"benchmarks": []}\n', 2, "is JSON, and no CSV"),
        ("# DaCapo\nstuff here\n", 2, "no table of iterations"),
        ("execution,iteration,value\n1,0,fast\n", 2, "line 2, column 'value'"),
        ("execution,iteration,value\n1,0\n", 2, "line 2: 2 cells"),
        ("execution,value\n1,2\n", 2, "no table of iterations"),
    ],
)
def test_a_file_of_something_else_is_one_clear_error(user, text, status, message):
    (user.home / "data.csv").write_text(text)
    told = user.types("analyze", "data.csv", "--method", "states")
    assert told.status == status
    assert message in told.err
    assert "Traceback" not in told.err


def test_an_execution_that_walks_at_random_is_refused_with_a_reason(user):
    walk = 0.01 * (1 + np.random.default_rng(2).normal(0, 0.01, 400).cumsum())
    path = write(user.home / "walk.csv", {"a": series(), "walk": walk})
    told = user.types("analyze", path, "--method", "states", "--json", "-")
    assert told.status == 0, told.err
    steady, refused = told.document()["executions"]
    assert (steady["class"], steady["class_share"], steady["refusal"]) == ("warm-up", 1.0, None)
    assert (refused["class"], refused["confidence"], refused["class_share"]) == (None, None, None)
    assert refused["refusal"]["code"] == "wandering"
    assert "walk: its values wander" in user.types("analyze", path, "--method", "states").out


def test_bad_executions_are_told_and_the_good_kept(user):
    spoilt = series()
    spoilt[7] = np.nan
    path = write(user.home / "t.csv", {"good": series(), "short": series(10), "gap": spoilt})
    told = user.types("analyze", path, "--method", "states", "--json", "-")
    document = told.document()
    assert told.status == 0
    assert [e["class"] for e in document["executions"]] == ["warm-up", None, None]
    codes = {warning["code"] for warning in document["warnings"]}
    assert {"too-few-iterations", "missing-iterations", "unequal-lengths"} <= codes
    shown = user.types("analyze", path, "--method", "states")
    assert "All executions with an answer reach a steady state." in shown.out


def test_choices_of_a_file_go_into_the_answer_and_those_for_other_data_do_not(user, times):
    page = user.types("analyze", times, "--method", "states", "--html", "page.html")
    assert page.status == 0
    text = (user.home / "page.html").read_text()
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert data is not None
    digest = json.loads(data[1])["digest"]
    chosen = {"schema": "steelyard/1", "kind": "choices", "digest": digest, "chosen": {"a": 100}}
    (user.home / "c.json").write_text(json.dumps(chosen))
    told = user.types(
        "analyze", times, "--method", "states", "--choices", "c.json", "--json", "-"
    ).document()
    assert [e["chosen"] for e in told["executions"]] == [100, None]
    assert told["proposal"]["from_choices"] is True
    assert told["proposal"]["iteration"] == 100
    other = write(user.home / "other.csv", {"a": series(seed=5)})
    refused = user.types("analyze", other, "--method", "states", "--choices", "c.json")
    assert refused.status == 2
    assert "made for other values" in refused.err


@pytest.mark.parametrize("text", ["[]", "{", '{"kind": "choices", "digest": "x", "chosen": [1]}'])
def test_a_file_that_holds_no_choices_is_refused_by_name(user, times, text):
    (user.home / "c.json").write_text(text)
    told = user.types("analyze", times, "--method", "states", "--choices", "c.json")
    assert told.status == 2
    assert "c.json holds no choices" in told.err


class Visitor:
    """Speaks to the page's server."""

    def __init__(self, process):
        line = process.stderr.readline().decode()
        found = re.search(r"http://\S+/", line)
        assert found, line + process.stderr.read().decode()
        self.address = urlsplit(found[0])

    def asks(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(self.address.netloc, timeout=PATIENCE_S)
        known = {"Content-Type": "application/json", **(headers or {})}
        connection.request(method, path, None if body is None else json.dumps(body), known)
        response = connection.getresponse()
        data = response.read()
        connection.close()
        return response.status, data

    def posts(self, what, body, **headers):
        return self.asks("POST", self.address.path + what, body, headers)


@pytest.fixture
def choosing(user, times):
    process = user.start("analyze", times, "--method", "states", "--choose", "--json", "out.json")
    yield process
    process.kill()
    process.communicate()


def test_each_click_is_kept_and_done_gives_the_answer(user, times, choosing):
    visitor = Visitor(choosing)
    status, page = visitor.asks("GET", visitor.address.path)
    assert status == 200
    assert b'id="whole"' in page
    file = user.home / "times.csv.choices.json"
    assert visitor.posts("choice", {"execution": "a", "iteration": 90})[0] == 200
    assert json.loads(file.read_text())["chosen"] == {"a": 90}
    assert visitor.posts("choice", {"execution": "b", "iteration": 80})[0] == 200
    assert visitor.posts("choice", {"execution": "b", "iteration": None})[0] == 200
    assert json.loads(file.read_text())["chosen"] == {"a": 90}
    assert visitor.posts("done", {})[0] == 200
    assert choosing.wait(timeout=PATIENCE_S) == 0
    document = json.loads((user.home / "out.json").read_text())
    assert document["proposal"]["iteration"] == 90
    again = user.types(
        "analyze", times, "--method", "states", "--choices", str(file), "--json", "-"
    )
    assert again.document() == document


def test_an_interrupt_keeps_what_was_chosen(user, choosing):
    visitor = Visitor(choosing)
    assert visitor.posts("choice", {"execution": "a", "iteration": 90})[0] == 200
    choosing.send_signal(signal.SIGINT)
    assert choosing.wait(timeout=PATIENCE_S) == 0
    assert json.loads((user.home / "out.json").read_text())["executions"][0]["chosen"] == 90


def test_what_is_no_choice_or_comes_from_elsewhere_is_refused(user, choosing):
    visitor = Visitor(choosing)
    good = {"execution": "a", "iteration": 3}
    assert visitor.asks("GET", "/")[0] == 404
    assert visitor.asks("POST", "/choice", good)[0] == 404
    assert visitor.asks("GET", visitor.address.path, headers={"Host": "evil.example"})[0] == 404
    assert visitor.posts("choice", good, **{"Content-Type": "text/plain"})[0] == 400
    for body in ({}, [], 7, {"execution": "a", "iteration": -1}, {"execution": 1, "iteration": 1}):
        assert visitor.posts("choice", body)[0] == 400
    status, told = visitor.posts("choice", {"execution": "z", "iteration": 1})
    assert (status, json.loads(told)["ok"]) == (400, False)
    assert visitor.posts("choice", {"execution": "a", "iteration": 10**6})[0] == 400
    assert not (user.home / "times.csv.choices.json").exists()


def test_browsers_that_go_away_leave_no_trace_and_done_is_done(user, choosing):
    visitor = Visitor(choosing)
    host, path = visitor.address.netloc, visitor.address.path
    body = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    too_long = f"Content-Length: {'9' * 5000}\r\n\r\n"
    for start, rest in (
        (f"GET {path}", "\r\n"),
        (f"POST {path}choice", too_long),
        (f"POST {path}done", body),
    ):
        with socket.create_connection((host.split(":")[0], visitor.address.port)) as connection:
            # Closed with a reset, whatever of the answer is still under way.
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            connection.sendall(f"{start} HTTP/1.1\r\nHost: {host}\r\n{rest}".encode())
            connection.recv(1)
    assert choosing.wait(timeout=PATIENCE_S) == 0
    assert b"Traceback" not in choosing.stderr.read()


def test_choices_belong_to_states(user):
    (user.home / "t.csv").write_text("y,x\n1,a\n2,b\n2.5,b\n1.5,a\n3,a\n")
    told = user.types(
        "analyze", "t.csv", "--method", "anova", "--response", "y", "--factors", "x", "--choose"
    )
    assert told.status == 2
    assert "Choices belong to --method states" in told.err
