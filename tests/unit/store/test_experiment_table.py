from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.core.errors import DataError
from steelyard.core.experiment_spec import MetricSpec
from steelyard.store.formats import FORMATS
from tests.experiments import failed_trial, make_experiment, make_trial

CSV, PARQUET = FORMATS.get("csv"), FORMATS.get("parquet")


def read(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    return CSV.read(str(path))


def test_two_columns_are_enough(tmp_path):
    experiment = read(tmp_path, "variant,value\na,1.5\nb,2.5\na,1.25\n")
    assert [variant.name for variant in experiment.spec.variants] == ["a", "b"]
    assert experiment.spec.metrics == (MetricSpec("wall_time", "s"),)
    assert [(t.variant, t.block, t.measurements["wall_time"]) for t in experiment.trials] == [
        (0, 0, (1.5,)),
        (1, 0, (2.5,)),
        (0, 1, (1.25,)),
    ]


def test_iterations_of_one_execution_are_one_trial(tmp_path):
    text = "variant,execution,iteration,value\na,0,0,1\na,0,1,2\na,1,0,3\na,1,1,4\n"
    trials = read(tmp_path, text).trials
    assert [trial.measurements["wall_time"] for trial in trials] == [(1.0, 2.0), (3.0, 4.0)]


def test_builds_are_kept_apart(tmp_path):
    text = "variant,build,execution,value\na,0,0,1\na,1,0,2\n"
    assert [trial.build for trial in read(tmp_path, text).trials] == [0, 1]


def test_a_byte_order_mark_and_other_columns_do_no_harm(tmp_path):
    text = "\ufeffvariant,comment,value\r\na,hi,1\r\n"
    assert read(tmp_path, text).trials[0].measurements == {"wall_time": (1.0,)}


@pytest.mark.parametrize("chosen", [CSV, PARQUET], ids=lambda chosen: chosen.name)
def test_trials_come_back_with_all_that_a_table_holds(chosen, tmp_path):
    trials = (
        make_trial(-1, variant=0, block=0, warmup=True),
        make_trial(0, build=2),
        failed_trial(1),
        make_trial(2, measurements={"wall_time": (0.1, 0.2, 1 / 3)}),
    )
    experiment, path = make_experiment(trials=trials), str(tmp_path / "table")
    chosen.write(experiment, path)
    again = chosen.read(path)
    assert again.spec.identifier != experiment.spec.identifier
    assert again.spec.metrics == experiment.spec.metrics
    for one, other in zip(again.trials, trials, strict=True):
        for field in ("position", "block", "variant", "build", "warmup", "status", "reason"):
            assert getattr(one, field) == getattr(other, field)
        assert one.measurements == other.measurements
        assert one.details["exit_code"] == other.details["exit_code"]
        assert (one.started_unix_s, one.spent_s) == (other.started_unix_s, other.spent_s)


@pytest.mark.parametrize("chosen", [CSV, PARQUET], ids=lambda chosen: chosen.name)
def test_the_baseline_stays_the_baseline_whichever_ran_first(chosen, tmp_path):
    trials = tuple(make_trial(p, variant=1 - p % 2) for p in range(4))
    experiment, path = make_experiment(trials=trials), str(tmp_path / "table")
    chosen.write(experiment, path)
    again = chosen.read(path)
    assert [variant.name for variant in again.spec.variants] == ["old", "new"]
    assert [trial.variant for trial in again.trials] == [1, 0, 1, 0]


@pytest.mark.parametrize("chosen", [CSV, PARQUET], ids=lambda chosen: chosen.name)
def test_the_primary_metric_stays_the_primary_one(chosen, tmp_path):
    names = ("wall_time", "max_rss", "cpu_time")
    spec = replace(make_experiment().spec, metrics=tuple(MetricSpec(name, "s") for name in names))
    # As the store gives them.
    measurements = dict.fromkeys(sorted(names), (1.0,))
    trials = tuple(make_trial(position, measurements=measurements) for position in range(4))
    path = str(tmp_path / "table")
    chosen.write(make_experiment(spec=spec, trials=trials), path)
    assert chosen.read(path).spec.metrics == spec.metrics


@pytest.mark.parametrize(
    ("text", "field", "said"),
    [
        ("value\n1\n", "variant", "lacks the column 'variant'"),
        ("variant,time\na,1\n", "value", "lacks the column 'value'"),
        ("variant,value\n", "value", "holds no measurement"),
        ("variant,value\n,1\n", "variant", "row 1, column 'variant' must be a name"),
        ("variant,value\na,1\na,fast\n", "value", "row 2, column 'value' must be of type float"),
        ("variant,value\na,nan\n", "value", "must be a finite number"),
        ("variant,value\na,1,2\n", "file", "row 1 has more cells"),
        ("variant,block,value\na\n", "file", "row 1 has fewer cells"),
        ("variant,block,value\na,first,1\n", "block", "must be of type int"),
        ("variant,warmup,value\na,maybe,1\n", "warmup", "must be true or false"),
        ("variant,status,value\na,good,1\n", "status", "must be ok or failed"),
        ("variant,direction,value\na,up,1\n", "direction", "must be lower or higher"),
        ("variant,position,value\na,0,1\nb,0,1\n", "position", "must be of one variant only"),
        ("variant,value\na,1e308\n", "value", "row 1, .* at most 1e.150 to be plausible"),
        ("variant,position,value\na,9223372036854775808,1\n", "position", "at most 64 bits"),
        ("variant,block,value\na,1,1\na,-1e30,1\n", "block", "row 2, .* must be of type int"),
        ("variant,block,value\na,1,1\na,-99999999999999999999,1\n", "block", "row 2, .* 64 bits"),
        *(
            (f"variant,{column},value\na,{time},1\n", column, "row 1, column .* seconds")
            for column in ("started_unix_s", "spent_s")
            for time in ("nan", "inf", "-1", "1e300", "1763812800000000000")
        ),
    ],
)
def test_a_wrong_cell_is_named_with_its_row(tmp_path, text, field, said):
    with pytest.raises(DataError, match=said) as caught:
        read(tmp_path, text)
    assert caught.value.field == field
    assert "t.csv" in caught.value.message
