from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path

import pytest

from steelyard.app.history.add_values import add_values
from steelyard.app.history.revision_place import AddRequest
from steelyard.app.history.stored_tracks import Chosen, chosen_tracks, loaded_tracks
from steelyard.app.results.library import open_library
from steelyard.core.errors import DataError, UsageError
from steelyard.store.track_store import TrackStore
from tests.experiments import identifier, make_experiment
from tests.repositories import Planned, add_commits, line_of, make_repository


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    return str(tmp_path / "s.sqlite")


def _add(store, *sources, **asked):
    with open_library(store) as library:
        return add_values(AddRequest(tuple(map(str, sources)), **asked), library)


def _tracks(store, **chosen):
    with open_library(store) as library:
        tracks = TrackStore(library.store)
        return [
            loaded.track
            for loaded in loaded_tracks(tracks, chosen_tracks(tracks, Chosen(**chosen)))
        ]


def _csv(path, values, **columns):
    """A file of one benchmark with these values by revision."""
    rows = [f"sort,{revision},{value}" for revision, value in values]
    path.write_text("series,revision,value\n" + "\n".join(rows) + "\n")
    return path


def test_an_experiment_is_added_with_its_intervals_and_trials(store):
    with open_library(store) as library:
        library.save(make_experiment(blocks=4))
    added = _add(store, "latest", revision="r1")
    assert added.sources[0].name == identifier(1)
    assert added.sources[0].new_count == 2
    old, new = sorted(_tracks(store), key=lambda track: track.name, reverse=True)
    assert (old.name.benchmark, new.name.benchmark) == ("old", "new")
    assert old.name.metric == "wall_time"
    (point,) = old.points
    assert point.revision == "r1"
    assert point.count == 4
    assert point.low < point.value < point.high
    assert 0 < point.standard_error < point.high - point.low
    assert _add(store, identifier(1), revision="r1").sources[0].known_count == 2


def test_metrics_and_the_benchmarks_name_are_chosen(store):
    with open_library(store) as library:
        library.save(make_experiment())
    _add(store, "latest", revision="r1", metrics=("all",), host="lab")
    assert {str(track.name) for track in _tracks(store)} == {
        *("old wall_time @ lab", "old max_rss @ lab", "new wall_time @ lab", "new max_rss @ lab")
    }
    with pytest.raises(UsageError, match="has no metric 'cycles'"):
        _add(store, "latest", revision="r1", metrics=("cycles",))
    with pytest.raises(UsageError, match="has several: new, old"):
        _add(store, "latest", revision="r1", benchmark="mine")


def test_a_source_without_revision_is_refused_before_anything_is_kept(store, tmp_path):
    with open_library(store) as library:
        library.save(make_experiment())
    good = _csv(tmp_path / "a.csv", [("r1", 1.0)])
    with pytest.raises(UsageError, match="--revision HEAD"):
        _add(store, good, "latest")
    with pytest.raises(UsageError, match="no values yet"):
        _tracks(store)
    with pytest.raises(UsageError, match="names revisions itself"):
        _add(store, good, revision="r2")


def test_values_come_in_the_order_of_git_whatever_order_and_clock_they_have(store, tmp_path):
    planned = [
        Planned("root", files={"a": "1"}),
        Planned("left", ("root",), {"a": "2"}),
        Planned("right", ("root",), {"b": "1"}, time_unix_s=1_500_000_000),
        Planned("merge", ("left", "right"), {"b": "2"}),
        Planned("top", ("merge",), {"a": "3"}),
    ]
    names = make_repository(tmp_path / "r", planned)
    order = ["top", "right", "root", "merge", "left", "right"]
    values = [(names[name][:10], 1.0 + n) for n, name in enumerate(order)]
    added = _add(store, _csv(tmp_path / "a.csv", values), repository=str(tmp_path / "r"))
    assert (added.repository, added.branch) == (str(tmp_path / "r"), "main")
    (track,) = _tracks(store)
    found = [point.revision for point in track.points]
    assert found[0] == names["root"]
    assert found[-2:] == [names["merge"], names["top"]]
    assert sorted(found) == sorted([*names.values(), names["right"]])
    runs = [point.position for point in track.points if point.revision == names["right"]]
    assert len(runs) == 2
    assert len(set(runs)) == 1


def test_a_revision_that_is_added_later_takes_its_place_among_the_others(store, tmp_path):
    names = make_repository(tmp_path / "r", line_of(5))
    for name in ("c4", "c0", "c2"):
        source = _csv(tmp_path / f"{name}.csv", [(names[name], 1.0)])
        _add(store, source, repository=str(tmp_path / "r"))
    (track,) = _tracks(store)
    assert [point.revision for point in track.points] == [names[n] for n in ("c0", "c2", "c4")]


def test_a_history_that_was_rewritten_keeps_what_was_measured(store, tmp_path):
    names = make_repository(tmp_path / "r", line_of(4))
    repository = str(tmp_path / "r")
    _add(
        store,
        _csv(tmp_path / "a.csv", [(names[f"c{n}"], n) for n in range(4)]),
        repository=repository,
    )
    other = add_commits(tmp_path / "r", [*line_of(2), Planned("new", ("c1",), {"z": "1"})])
    subprocess.run(["git", "-C", repository, "checkout", "-q", "main"], check=True)
    for name in subprocess.run(
        ["git", "-C", repository, "for-each-ref", "--format=%(refname)", "refs/heads/made-*"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split():
        subprocess.run(["git", "-C", repository, "update-ref", "-d", name], check=True)
    subprocess.run(
        ["git", "-C", repository, "reflog", "expire", "--expire=now", "--all"], check=True
    )
    subprocess.run(["git", "-C", repository, "gc", "-q", "--prune=now"], check=True)
    _add(store, _csv(tmp_path / "b.csv", [(other["new"], 9.0)]), repository=repository)
    (track,) = _tracks(store)
    assert [point.value for point in track.points] == [0.0, 1.0, 2.0, 3.0, 9.0] or [
        point.value for point in track.points
    ] == [0.0, 1.0, 9.0, 2.0, 3.0]
    assert len({point.position for point in track.points}) == 5


def test_revisions_that_git_does_not_know_are_kept_and_told_unless_it_knows_none(store, tmp_path):
    names = make_repository(tmp_path / "r", line_of(2))
    mixed = _csv(tmp_path / "a.csv", [(names["c0"], 1.0), ("f" * 40, 2.0), (names["c1"], 3.0)])
    added = _add(store, mixed, repository=str(tmp_path / "r"))
    assert [caution.code for caution in added.cautions] == ["unknown-revisions"]
    (track,) = _tracks(store)
    assert sorted(point.value for point in track.points) == [1.0, 2.0, 3.0]
    with pytest.raises(UsageError, match=r"Git knows no revision 'f{40}'"):
        _add(store, _csv(tmp_path / "b.csv", [("f" * 40, 1.0)]), repository=str(tmp_path / "r"))


def test_the_repository_of_the_working_directory_is_taken_where_it_knows_all(
    store, tmp_path, monkeypatch
):
    names = make_repository(tmp_path / "r", line_of(2))
    monkeypatch.chdir(tmp_path / "r")
    assert _add(store, _csv(tmp_path / "a.csv", [(names["c0"], 1.0)])).repository != ""
    assert _add(store, _csv(tmp_path / "b.csv", [("531193", 1.0)])).repository == ""


def test_a_batch_has_the_oldest_of_its_commits(store, tmp_path):
    names = make_repository(tmp_path / "r", line_of(5))
    (tmp_path / "a.json").write_text('{"sort": {"latency": {"value": 5.0}}}')
    where = str(tmp_path / "r")
    _add(store, tmp_path / "a.json", range=f"{names['c1']}..{names['c4']}", repository=where)
    (track,) = _tracks(store)
    (point,) = track.points
    assert (point.first_revision, point.revision) == (names["c2"], names["c4"])
    for wrong in ("c1", f"{names['c4']}..{names['c1']}", "..", "a...b"):
        with pytest.raises(UsageError):
            _add(store, tmp_path / "a.json", range=wrong, repository=where)
    with pytest.raises(UsageError, match="needs the repository"):
        _add(store, tmp_path / "a.json", range="a..b")


def test_without_git_order_goes_by_index_then_time_then_number_then_as_added(store, tmp_path):
    files = {
        "index": "series,index,revision,value\na,2,x,2\na,0,z,0\na,1,y,1\n",
        "time": "series,revision,time,value\nb,x,2024-01-03,2\nb,z,2024-01-01,0\n"
        "b,y,2024-01-02,1\n",
        "number": "series,revision,value\nc,10,2\nc,8,0\nc,9,1\n",
        "added": "series,revision,value\nd,x1,0\nd,a1,1\nd,m1,2\n",
    }
    for name, text in files.items():
        (tmp_path / f"{name}.csv").write_text(text)
        _add(store, tmp_path / f"{name}.csv")
    for track in _tracks(store):
        assert [point.value for point in track.points] == [0.0, 1.0, 2.0], track.name


def test_clocks_that_go_back_are_told(store, tmp_path):
    (tmp_path / "a.csv").write_text(
        "series,revision,time,value\na,x,2024-01-02,2\na,y,2024-01-01,1\n"
    )
    (caution,) = _add(store, tmp_path / "a.csv").cautions
    assert caution.code == "clock-went-back"


def test_a_directory_gives_all_of_its_files_and_names_those_that_it_leaves_out(store, tmp_path):
    folder = tmp_path / "results" / "lab1"
    folder.mkdir(parents=True)
    (folder / "machine.json").write_text('{"machine": "lab1"}')
    for commit in ("aa", "bb"):
        document = {
            "commit_hash": commit,
            "env_name": "",
            "result_columns": ["result"],
            "results": {"time_x": [[1.0]]},
            "date": 1700000000000,
        }
        (folder / f"{commit}.json").write_text(json.dumps(document))
    added = _add(store, tmp_path / "results")
    assert [source.new_count for source in added.sources] == [1, 1]
    assert [caution.code for caution in added.cautions] == ["file-left-out"]


def test_files_of_single_experiments_are_read_by_their_formats(store):
    data = Path(__file__).parent.parent.parent.parent
    hyperfine = data / "integration" / "data" / "hyperfine_2.json"
    benchmark = data / "data" / "adapters" / "google-benchmark.json"
    pyperf = data / "data" / "adapters" / "pyperf.json"
    for source in (hyperfine, benchmark, pyperf):
        added = _add(store, source, revision="r1")
        assert added.sources[0].new_count > 0
        assert _add(store, source, revision="r1").sources[0].new_count == 0
    assert all(track.unit == "s" for track in _tracks(store))


def test_a_file_compressed_by_gzip_is_read_and_one_cut_off_is_one_error(store, tmp_path):
    data = gzip.compress(b"series,index,value\n" + b"a,1,2\n" * 500)
    (tmp_path / "a.csv.gz").write_bytes(data)
    assert _add(store, tmp_path / "a.csv.gz").sources[0].new_count == 500
    (tmp_path / "b.csv.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(DataError, match="cut off"):
        _add(store, tmp_path / "b.csv.gz")


@pytest.mark.parametrize("name", ["absent", "01JABSENT"])
def test_what_is_neither_file_nor_experiment_is_one_error(store, name):
    with pytest.raises(UsageError, match="neither a file nor an experiment"):
        _add(store, name, revision="r1")


def _clone_of(path, address, planned):
    """A repository whose origin has this address."""
    names = make_repository(path, planned)
    subprocess.run(["git", "-C", str(path), "remote", "add", "origin", address], check=True)
    return names


def test_clones_by_ssh_and_by_https_share_their_tracks(store, tmp_path):
    names = _clone_of(tmp_path / "a", "git@example.org:team/tool.git", line_of(3))
    assert _clone_of(tmp_path / "b", "https://example.org/team/tool", line_of(3)) == names
    for number, place in enumerate(("a", "b")):
        values = _csv(tmp_path / f"{place}.csv", [(names[f"c{number}"], 1.0)])
        added = _add(store, values, repository=str(tmp_path / place))
        assert added.repository == "git@example.org:team/tool.git"
    (track,) = _tracks(store)
    assert [point.revision for point in track.points] == [names["c0"], names["c1"]]


def test_a_repository_that_knows_only_some_revisions_is_not_left_out_in_silence(
    store, tmp_path, monkeypatch
):
    names = make_repository(tmp_path / "r", line_of(2))
    values = _csv(tmp_path / "v.csv", [(names["c0"], 1.0), ("f" * 40, 2.0)])
    monkeypatch.chdir(tmp_path / "r")
    added = _add(store, values)
    assert added.repository == ""
    (caution,) = added.cautions
    assert "Git does not know 1 of 2 revisions" in caution.message
    assert "--repository" in caution.message


def test_a_repository_that_git_does_not_trust_is_not_left_out_in_silence(
    store, tmp_path, monkeypatch
):
    names = make_repository(tmp_path / "r", line_of(2))
    values = _csv(tmp_path / "v.csv", [(names["c0"], 1.0)])
    monkeypatch.chdir(tmp_path / "r")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    (caution,) = _add(store, values).cautions
    assert "safe.directory" in caution.message


def test_a_benchmark_without_a_metric_is_named_where_its_unit_changes(store, tmp_path):
    values = tmp_path / "v.csv"
    values.write_text("series,unit,revision,value\nsort,ms,1,1\nsort,B,2,1\n")
    with pytest.raises(DataError, match=r"^'sort' is in 's' so far, and in 'bytes'"):
        _add(store, values)


def test_times_of_another_host_in_one_file_do_not_go_back(store, tmp_path):
    values = tmp_path / "v.csv"
    rows = [f"sort,{host},{n},1,{1_700_000_000 + n}" for host in "ab" for n in range(3)]
    values.write_text("series,host,revision,value,time\n" + "\n".join(rows) + "\n")
    assert _add(store, values).cautions == ()


def test_a_benchmark_whose_runs_all_failed_is_not_left_out_in_silence(store, tmp_path):
    runs = [("good", [0.1, 0.2, 0.15], [0, 0, 0]), ("bad", [0.2, 0.3], [1, None])]
    results = [
        {"command": name, "mean": 0.2, "times": times, "exit_codes": codes}
        for name, times, codes in runs
    ]
    (tmp_path / "h.json").write_text(json.dumps({"results": results}))
    added = _add(store, tmp_path / "h.json", revision="r1")
    assert added.sources[0].new_count == 1
    (caution,) = added.cautions
    assert "bad has no value" in caution.message
