"""Going on with a finished experiment: until decided, further runs, and what is refused."""

import json

import pytest

PRINTED = "time=regex:value=([0-9.]+):s"


@pytest.fixture
def weigh(user, script):
    """Programs that print a value about their level, which goes up and down by a fixed pattern."""

    def program(name, level, swing):
        count = user.home / f"{name}.count"
        count.write_text("0")
        return script(
            f"n=$(cat {count}); echo $((n + 1)) >{count}; "
            f"echo value=$(({level} + {swing} * (n * (7919 + 3 * {len(name)}) % 13 - 6)))",
            name,
        )

    def compare(level, swing, *options):
        first, second = program("a", 10000, swing), program("bb", level, swing)
        return user.types("compare", "--metric", PRINTED, *options, "--json", "-", first, second)

    return compare


def executions(document):
    return [variant["repetitions"]["execution"] for variant in document["variants"]]


def verdict(document):
    return document["comparisons"][0]["verdict"]


def test_a_comparison_runs_until_its_verdict_is_decided(weigh):
    told = weigh(12000, 40)
    assert told.status == 0, told.err
    document = told.document()
    assert (document["stopped"], verdict(document)) == ("decided", "slower")
    assert document["looks"] == []


def test_a_precision_is_kept_to_whatever_the_verdict_is(weigh):
    document = weigh(10100, 20, "--precision", "0.5%").document()
    assert document["stopped"] == "precision"
    assert document["comparisons"][0]["ratio"]["high"] > 1.01
    assert verdict(document) == "undecided"
    assert document["comparisons"][0]["sign"] == "slower"


def test_resuming_runs_the_further_blocks_that_the_answer_promises(user, weigh):
    first = weigh(10000, 90, "--runs", "6").document()
    assert verdict(first) == "undecided"
    assert first["comparisons"][0]["further_blocks"] > 0
    told = user.types("resume", "latest", "--json", "-")
    assert told.status == 0, told.err
    document = told.document()
    assert (document["stopped"], verdict(document)) == ("decided", "equivalent")
    assert min(executions(document)) > 6
    assert document["looks"] == [{"blocks": 6, "rule": "runs"}]
    assert f"went on from 6 to {max(executions(document))} blocks" in told.err


def test_resuming_what_has_reached_its_precision_goes_on_too(user, weigh):
    first = weigh(10100, 60, "--precision", "2%").document()
    assert (first["stopped"], verdict(first)) == ("precision", "undecided")
    told = user.types("resume", "latest", "--budget", "20runs", "--json", "-")
    assert told.status == 0, told.err
    assert executions(told.document())[0] == executions(first)[0] + 10
    assert told.document()["stopped"] == "budget"


def test_the_interval_after_going_on_allows_for_having_looked(user, weigh):
    fixed = weigh(10100, 40, "--runs", "30", "--seed", "1").document()
    weigh(10100, 40, "--runs", "20", "--seed", "1")
    gone_on = user.types("resume", "latest", "--runs", "+10", "--json", "-").document()
    assert executions(gone_on) == executions(fixed)
    ratios = [document["comparisons"][0]["ratio"] for document in (fixed, gone_on)]
    assert ratios[0]["estimate"] == pytest.approx(ratios[1]["estimate"])
    widths = [ratio["high"] - ratio["low"] for ratio in ratios]
    assert widths[1] > 1.5 * widths[0]


def test_a_plan_that_was_cut_short_and_is_completed_keeps_its_interval(user, weigh):
    whole = weigh(10100, 40, "--runs", "20", "--seed", "1").document()
    weigh(10100, 40, "--runs", "20", "--budget", "30runs", "--seed", "1")
    completed = user.types("resume", "latest", "--runs", "20", "--json", "-").document()
    assert completed["looks"] == []
    assert completed["comparisons"][0]["ratio"] == whole["comparisons"][0]["ratio"]


def test_nothing_is_run_where_every_verdict_is_decided_and_that_is_said(user, weigh):
    first = weigh(12000, 40).document()
    told = user.types("resume", "latest", "--json", "-")
    assert told.status == 0
    assert executions(told.document()) == executions(first)
    assert "nothing was run" in told.err
    assert "--runs +10" in told.err


def test_runs_with_a_plus_are_further_ones(user, weigh):
    weigh(12000, 40, "--runs", "4")
    told = user.types("resume", "latest", "--runs", "+3", "--json", "-")
    assert executions(told.document()) == [7, 7]


def test_fewer_runs_than_a_used_up_budget_has_left_are_refused(user, weigh):
    weigh(12000, 40, "--budget", "24runs", "--precision", "0.01%")
    told = user.types("resume", "latest", "--runs", "5")
    assert told.status == 2
    assert "12 runs of each command already" in told.err
    assert "--runs +5" in told.err


@pytest.mark.parametrize("text", ["3", "0", "-1", "+", "+x", "1.5", "9" * 30])
def test_runs_that_are_there_already_or_are_no_number_are_refused(user, weigh, text):
    weigh(12000, 40, "--runs", "4")
    told = user.types("resume", "latest", "--runs", text)
    assert told.status == 2
    assert "--runs" in told.err
    assert "Traceback" not in told.err


def test_variants_that_run_one_after_the_other_need_a_number(user, weigh):
    weigh(10100, 40, "--runs", "6", "--order", "sequential")
    told = user.types("resume", "latest")
    assert told.status == 2
    assert "--runs +10" in told.err


def test_no_answer_about_an_imported_experiment_advises_to_resume(user):
    results = [
        {"command": name, "times": times, "mean": 1.0, "median": 1.0, "min": 0.9, "max": 1.1}
        | {"stddev": 0.1, "user": 0.0, "system": 0.0, "exit_codes": [0] * len(times)}
        for name, times in (("old", [1.0, 1.1, 0.9, 1.05]), ("new", [1.02, 1.12, 0.93, 1.0]))
    ]
    (user.home / "times.json").write_text(json.dumps({"results": results}))
    assert user.types("import", "times.json").status == 0
    for name, options in (("page.html", ()), *((f, ("--format", f)) for f in ("text", "markdown"))):
        told = user.types("report", "latest", "-o", name, *options)
        assert told.status == 0, told.err
        text = (user.home / name).read_text()
        assert "would decide it" in text
        assert "steelyard resume" not in text
