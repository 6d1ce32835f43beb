"""The page of states: whole, safe, and drawn."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import subprocess

import numpy as np
import pytest

from steelyard.analysis.methods.states import analyze
from steelyard.analysis.tables.analysis_method import Question
from steelyard.analysis.tables.data_columns import Table
from steelyard.core.experiment_spec import MetricSpec
from steelyard.report.documents.rendering import Origin
from steelyard.report.kinds.states.page import Serving, states_page
from tests.chromium import chromium_program

ORIGIN = Origin("states", MetricSpec("value", "s"), file="times <b>.csv")
EVIL = "</script><script>alert(1)</script>"


def result(labels=("a", EVIL), count=120):
    generator = np.random.default_rng(1)
    values = generator.normal(0.01, 0.0002, count * len(labels))
    values[:20] += 0.004
    values[count + 5] = np.nan
    columns = {
        "execution": tuple(label for label in labels for _ in range(count)),
        "iteration": np.tile(np.arange(float(count)), len(labels)),
        "value": values,
    }
    return analyze(Table("t.csv", columns, range(len(values))), Question())


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


def policy_of(page):
    return html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])


def test_the_page_loads_nothing_and_sends_nothing():
    page = states_page(result(), ORIGIN)
    policy = policy_of(page)
    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy
    assert not re.search(r'<(script|link|img)[^>]*(src|href)="(?!#)', page)


def test_a_served_page_sends_to_its_own_server_alone():
    page = states_page(result(), ORIGIN, Serving("/home/me/choices.json"))
    assert "connect-src 'self'" in policy_of(page)
    assert data_of(page)["server"] is True
    assert data_of(page)["choices_file"] == "/home/me/choices.json"


def test_the_command_takes_names_as_the_shell_reads_them_and_the_metric_of_the_page():
    origin = Origin("states", MetricSpec("heap", "bytes"), experiment="01J", variant="it's 2")
    command = data_of(states_page(result(), origin, Serving("my choices.json")))["command"]
    assert shlex.split(command) == [
        *("steelyard", "analyze", "01J", "--method", "states", "--variant", "it's 2"),
        *("--metric", "heap", "--choices", "my choices.json"),
    ]


def test_labels_and_names_stay_text():
    page = states_page(result(), ORIGIN)
    assert EVIL not in page
    assert "times <b>.csv" not in page
    assert [one["label"] for one in data_of(page)["executions"]] == ["a", EVIL]


def test_missing_values_are_missing_and_the_others_scaled():
    found = data_of(states_page(result(), ORIGIN))
    first, second = (one["values"] for one in found["executions"])
    assert found["axis"] == "value [ms]"
    assert np.mean(first[20:]) == pytest.approx(10, abs=0.1)
    assert second[5] is None
    assert "No answer" in found["executions"][1]["about"]


def test_a_browser_draws_every_plot(tmp_path):
    browser = chromium_program()
    (tmp_path / "page.html").write_text(states_page(result(("a", "b")), ORIGIN), "utf-8")
    command = [
        browser, "--headless", "--disable-gpu", f"--user-data-dir={tmp_path}/profile",
        "--virtual-time-budget=5000", "--dump-dom", f"file://{tmp_path}/page.html",
    ]  # fmt: skip
    if os.geteuid() == 0:
        command.insert(1, "--no-sandbox")
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=90).stdout
    # The whole sequence, the rest, the correlations, four lags, twice.
    assert shown.count('class="plot-container') == 1 + 2 * (1 + 1 + 4)
    assert 'aria-pressed="true"' in shown
    assert "steady from 20 on" in shown
