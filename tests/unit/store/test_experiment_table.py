from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from steelyard.core.errors import DataError
from steelyard.core.experiment_spec import MetricSpec
from steelyard.core.placement_spec import PlacedWorker, PlacementSpec
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
        make_trial(-1, variant=0, block=-1, warmup=True),
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


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ('@SUM(1+9)*cmd|"x"!A0', '\'@SUM(1+9)*cmd|"x"!A0'),
        ("-2+3+cmd|x!A0", "'-2+3+cmd|x!A0"),
        ("+HYPERLINK(1)", "'+HYPERLINK(1)"),
        ("'=1", "''=1"),
        ("-O2", "-O2"),
        ("'quoted'", "'quoted'"),
    ],
)
def test_no_spreadsheet_runs_a_text_of_a_table_and_it_comes_back(tmp_path, name, written):
    made = make_experiment(trials=(make_trial(0), make_trial(1)))
    variants = (replace(made.spec.variants[0], name=name), *made.spec.variants[1:])
    path = tmp_path / "t.csv"
    CSV.write(replace(made, spec=replace(made.spec, variants=variants)), str(path))
    with path.open(newline="") as file:
        assert next(csv.DictReader(file))["variant"] == written
    assert CSV.read(str(path)).spec.variants[0].name == name


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


AT_WORKERS = PlacementSpec(
    (
        PlacedWorker("w1", (("platform", "fast, x86_64"), ("image", "host"), ("cpus", "2"))),
        PlacedWorker("w1", (("platform", "fast, x86_64"), ("image", "old"), ("cpus", "2"))),
        PlacedWorker("w2", (("platform", "slow, arm"), ("image", "host"), ("cpus", "8"))),
    ),
    (2, 0, 1),
)


@pytest.mark.parametrize("chosen", [CSV, PARQUET], ids=lambda chosen: chosen.name)
def test_tables_say_on_which_worker_a_block_ran(chosen, tmp_path):
    warmups = [make_trial(-1 - n, block=-1, variant=0, warmup=True) for n in range(6)]
    trials = (*warmups, *(make_trial(n, block=n, variant=0) for n in range(3)))
    experiment = make_experiment(trials=trials)
    spec = replace(experiment.spec, placement=AT_WORKERS, warmup_count=1)
    placed = replace(experiment, spec=spec)
    path = str(tmp_path / "table")
    chosen.write(placed, path)
    again = chosen.read(path).spec.placement
    for block in range(3):
        for name in ("worker", "platform", "image"):
            assert again.level(block, name) == AT_WORKERS.level(block, name)
    assert again.factors == ("worker", "platform", "image")


def test_a_table_of_one_host_has_no_columns_of_workers(tmp_path):
    path = tmp_path / "t.csv"
    CSV.write(make_experiment(trials=(make_trial(0),)), str(path))
    assert "worker" not in path.read_text()
    assert CSV.read(str(path)).spec.placement is None


def test_a_platform_without_a_worker_is_another_tools_column(tmp_path):
    assert read(tmp_path, "variant,value,platform\na,1,linux\n").spec.placement is None


def test_blocks_of_a_table_without_them_stay_on_one_worker(tmp_path):
    rows = "a,1,0,w1\nb,2,0,w1\na,3,0,w2\nb,4,0,w2\na,5,1,w1\n"
    found = read(tmp_path, f"variant,value,execution,worker\n{rows}")
    assert [trial.block for trial in found.trials] == [0, 0, 1, 1, 2]
    assert [found.spec.placement.level(block, "worker") for block in range(3)] == ["w1", "w2", "w1"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("a,1,0,w1\nb,2,0,w2\n", "row 2, column 'worker' must be 'w1' with its levels in block 0"),
        ("a,1,0,w1\nb,2,1,\n", "row 2, column 'worker' must be there in all rows or in none"),
        ("a,1,0,\nb,2,1,w\n", "row 2, column 'worker' must be there in all rows or in none"),
    ],
)
def test_a_block_on_two_workers_or_on_none_is_refused(tmp_path, rows, said):
    with pytest.raises(DataError, match=said):
        read(tmp_path, f"variant,value,block,worker\n{rows}")


def test_warm_ups_of_a_block_are_written_with_its_worker(tmp_path):
    warmups = [make_trial(-1 - n, block=-1, variant=n % 2, warmup=True) for n in range(6)]
    trials = (*warmups, *(make_trial(n, block=n, variant=0) for n in range(3)))
    experiment = make_experiment(trials=trials)
    spec = replace(experiment.spec, placement=AT_WORKERS, warmup_count=1)
    CSV.write(replace(experiment, spec=spec), str(tmp_path / "t.csv"))
    with (tmp_path / "t.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["warmup"] == "true"]
    found = {int(row["position"]): row["worker"] for row in rows}
    # Two warm-ups of each block, one a variant, before blocks on w2, w1 and w1.
    assert found == {-1: "w2", -2: "w2", -3: "w1", -4: "w1", -5: "w1", -6: "w1"}


def test_only_warm_ups_are_of_no_block(tmp_path):
    with pytest.raises(DataError, match="row 1, column 'block' must be 0 or more"):
        read(tmp_path, "variant,value,block\na,1,-1\n")
