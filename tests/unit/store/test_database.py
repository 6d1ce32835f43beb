from __future__ import annotations

import math
import os
import sqlite3
from array import array
from contextlib import suppress
from dataclasses import replace
from itertools import chain

import pytest

from steelyard.core.errors import StoreError, UsageError
from steelyard.store.database import (
    DIMENSIONING_KEY,
    Store,
    StoredDimensioning,
)
from steelyard.store.find_identifier import find_identifier
from steelyard.store.merge import merge_experiments
from steelyard.store.trial_chunk import CHUNK_TRIALS, ChunkReader
from tests.experiments import failed_trial, identifier, make_experiment, make_trial
from tests.privileges import without_leave_to_every_file


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "s.sqlite"))


def test_an_experiment_comes_back_as_it_was(store):
    experiment = make_experiment()
    store.save(experiment)
    assert store.load(experiment.spec.identifier) == experiment


def test_many_iterations_come_back_as_an_array(store):
    values = array("d", [0.1 * n for n in range(1000)])
    trial = make_trial(0, measurements={"wall_time": values})
    store.save(make_experiment(trials=(trial,)))
    loaded = store.load("latest").trials[0].measurements["wall_time"]
    assert isinstance(loaded, array)
    assert loaded == values


def test_values_that_no_decimal_holds_come_back_exactly(store):
    values = (0.1 + 0.2, 5e-324, 1.7976931348623157e308, -0.0)
    store.save(make_experiment(trials=(make_trial(0, measurements={"m": values}),)))
    assert store.load("latest").trials[0].measurements["m"] == values


def test_failed_and_warmup_trials_are_kept(store):
    trials = (make_trial(-1, variant=0, block=0, warmup=True), failed_trial(0), make_trial(1))
    store.save(make_experiment(trials=trials))
    assert store.load("latest").trials == trials
    assert (store.listing()[0].trials, store.listing()[0].failed) == (2, 1)


def test_every_failed_trial_is_counted(store):
    trials = (*map(failed_trial, range(3)), make_trial(3))
    store.save(make_experiment(trials=trials))
    assert (store.listing()[0].trials, store.listing()[0].failed) == (4, 3)


def test_saving_twice_changes_nothing(store):
    experiment = make_experiment()
    store.save(experiment)
    store.save(experiment)
    assert store.load("latest") == experiment


def test_a_resumed_session_continues_the_experiment(store):
    first = make_experiment(blocks=2)
    second = make_experiment(
        blocks=4,
        trials=tuple(make_trial(position) for position in range(4, 8)),
        provenance={"host": {"kernel": "6.2"}},
        created_unix_s=first.created_unix_s + 100,
        stopped="precision",
    )
    store.save(first)
    for _repeated in range(2):
        store.save(second)
        merged = store.load("latest")
        assert [trial.position for trial in merged.trials] == list(range(8))
        assert merged.spec == second.spec
        assert merged.stopped == "precision"
        assert merged.created_unix_s == first.created_unix_s
        assert merged.provenance == {
            **first.provenance,
            "resumed": [{"unix_s": second.created_unix_s, "host": {"kernel": "6.2"}}],
        }


def test_sessions_on_an_unchanged_machine_are_told_apart(store):
    first = make_experiment()
    store.save(first)
    for hours in (1, 2):
        store.save(replace(first, created_unix_s=first.created_unix_s + 3600 * hours))
    assert len(store.load("latest").provenance["resumed"]) == 2


def test_a_finished_trial_is_never_changed(store):
    experiment = make_experiment()
    store.save(experiment)
    changed = replace(experiment.trials[0], measurements={"wall_time": (9.0,)})
    store.save(replace(experiment, trials=(changed,)))
    assert store.load("latest").trials == experiment.trials


def test_what_was_added_last_is_listed_first_whatever_clock_made_its_identifier(store):
    for number in (2, 3, 1):
        store.save(make_experiment(number))
    newest_first = [identifier(1), identifier(3), identifier(2)]
    assert [found.spec.identifier for found in store.listing()] == newest_first
    assert list(store.identifiers()) == newest_first
    assert store.load("latest") == make_experiment(1)


def test_an_experiment_without_trials_is_listed(store):
    store.save(make_experiment(trials=()))
    assert (store.listing()[0].trials, store.listing()[0].failed) == (0, 0)


def test_deleting_takes_everything_of_one_experiment_only(store):
    store.save(make_experiment(1))
    store.save(make_experiment(2))
    store.delete([identifier(1)])
    assert store.identifiers() == (identifier(2),)
    assert store.load("latest") == make_experiment(2)
    connection = sqlite3.connect(store.path)
    counts = [
        connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for table in ("experiments", "sessions", "trial_chunks")
    ]
    connection.close()
    assert counts == [1, 1, 1]


def test_nothing_is_kept_of_an_experiment_that_cannot_be_saved_whole(store):
    twice = (make_trial(0), make_trial(0))
    with pytest.raises(StoreError):
        store.save(make_experiment(trials=twice))
    assert store.listing() == ()


def test_a_prefix_finds_the_only_one():
    assert find_identifier("01b", ["01A0", "01B0"]) == "01B0"


def test_a_prefix_of_several_names_them():
    with pytest.raises(UsageError, match=r"2 experiments start with '01'.*01A0, 01B0"):
        find_identifier("01", ["01B0", "01A0"])


@pytest.mark.parametrize("prefix", ["02", "", "01A00"])
def test_a_prefix_of_none_is_refused(prefix):
    with pytest.raises(UsageError, match="There is no experiment"):
        find_identifier(prefix, ["01A0"])


def test_the_latest_is_the_one_that_was_added_last():
    assert find_identifier("latest", ["01A0", "01C0", "01B0"]) == "01A0"


DAMAGE = {
    "a specification that is no JSON": "experiments SET specification = '{'",
    "a specification that nests": f"experiments SET specification = '{'[' * 100_000}'",
    "a specification of a list": "experiments SET specification = '[]'",
    "another one's specification": "experiments SET identifier = '01HF7YAT0Q000000000000000Z'",
    "a start that is a text": "experiments SET created_unix_s = 'now'",
    "a start that is infinite": "experiments SET created_unix_s = 9e999",
    "an unknown reason to stop": "experiments SET stopped = 'weather'",
    "a count that is a text": "experiments SET trial_count = 'many'",
}
DAMAGE_INSIDE = {
    "trials of nothing": "trial_chunks SET content = x''",
    "trials that are cut off": "trial_chunks SET content = substr(content, 1, length(content) - 9)",
    "trials that are a text": "trial_chunks SET content = 'text'",
    "trials in zeros": "trial_chunks SET content = zeroblob(1000)",
    "a session that is no JSON": "sessions SET provenance = '{'",
    "a session that is a list": "sessions SET provenance = '[]'",
}


def damage(store, change):
    connection = sqlite3.connect(store.path)
    connection.execute(f"UPDATE {change} WHERE rowid = 1")
    connection.commit()
    connection.close()


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_experiment_is_named_and_the_others_are_listed(name, store):
    store.save(make_experiment(1))
    store.save(make_experiment(2))
    damage(store, DAMAGE[name])
    cautions = []
    assert [found.spec.identifier for found in store.listing(cautions)] == [identifier(2)]
    (caution,) = cautions
    assert "holds no readable specification of 01" in caution.message
    assert "`steelyard delete 01" in caution.message
    with pytest.raises(StoreError, match="no readable specification"):
        store.load(store.identifiers()[-1])
    store.delete([store.identifiers()[-1]])
    assert len(store.listing()) == 1


@pytest.mark.parametrize("name", DAMAGE_INSIDE)
def test_damaged_trials_and_sessions_are_one_clear_error(name, store):
    store.save(make_experiment(1))
    store.save(make_experiment(2))
    damage(store, DAMAGE_INSIDE[name])
    with pytest.raises(StoreError, match=r"no readable trials of .*`steelyard delete") as told:
        store.load(identifier(1))
    assert "\n" not in told.value.message
    assert store.load(identifier(2)) == make_experiment(2)


def test_whatever_byte_of_trials_is_damaged_is_one_error_or_trials(store):
    store.save(make_experiment(1))
    (content,) = sqlite3.connect(store.path).execute("SELECT content FROM trial_chunks").fetchone()
    reader = ChunkReader(variant_count=2)
    for at in range(len(content)):
        for value in (0, 0x7F, 0xFF, content[at] ^ 1):
            damaged = content[:at] + bytes([value]) + content[at + 1 :]
            with suppress(ValueError, KeyError, TypeError):
                for trial in reader.trials(damaged):
                    assert trial.variant in (0, 1)
                    assert trial.status in ("ok", "failed")
                    assert all(map(math.isfinite, chain(*trial.measurements.values())))


def test_a_damaged_dimensioning_is_as_none(store):
    key = [f"{name}1" for name in DIMENSIONING_KEY]
    for created in (1.0, 2.0):
        key[0] = f"benchmark{created}"
        store.save_dimensioning(StoredDimensioning(*key, created, {}, {"a": 1}))
    damage(store, "dimensionings SET result = '{'")
    assert [found.created_unix_s for found in store.dimensionings()] == [2.0]


def test_a_pipe_is_no_store_and_nobody_waits_for_it(tmp_path):
    path = str(tmp_path / "s.sqlite")
    os.mkfifo(path)
    with pytest.raises(StoreError, match="is not a regular file"):
        Store(path)


def test_many_trials_with_all_that_they_may_have_come_back(store):
    trials = [make_trial(position) for position in range(CHUNK_TRIALS + 2)]
    trials[1] = failed_trial(1, details={"exit_code": 3, "stderr_tail": "\udcff"})
    trials[2] = make_trial(2, measurements={"wall_time": (), "other": (1.0, 2.0)})
    trials[3] = make_trial(3, measurements={"max_rss": (5.0,)}, levels=(1, 2), build=7)
    trials[4] = make_trial(4, measurements={"wall_time": array("d", range(100))})
    trials[5] = make_trial(5, block=2**31 - 1, reason="check", status="failed")
    store.save(make_experiment(trials=tuple(trials)))
    assert store.load("latest").trials == tuple(trials)


def test_a_trial_takes_few_bytes(store):
    store.save(make_experiment(blocks=20_000))
    assert os.path.getsize(store.path) / 40_000 < 60


def test_an_empty_store_says_how_to_fill_it():
    with pytest.raises(UsageError, match="steelyard measure"):
        find_identifier("latest", [])


def test_a_damaged_page_is_told_with_what_to_do(store):
    for number in range(20):
        store.save(make_experiment(number, blocks=20))
    size = os.path.getsize(store.path)
    with open(store.path, "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    with pytest.raises(StoreError, match=r"is damaged. Move it away.*recover"):
        Store(store.path).load("latest")


def test_a_text_file_is_no_store(tmp_path):
    path = tmp_path / "s.sqlite"
    path.write_text("my notes\n" * 100)
    with pytest.raises(StoreError, match="not a Steelyard store"):
        Store(str(path))
    assert path.read_text() == "my notes\n" * 100


def test_another_programs_database_is_left_alone(tmp_path):
    path = str(tmp_path / "s.sqlite")
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        Store(path)


def test_a_full_store_is_told_and_keeps_what_it_had(store):
    store.save(make_experiment(1))
    connection = sqlite3.connect(store.path)
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.close()

    from sqlalchemy import event

    def limit(raw, _record):
        raw.execute(f"PRAGMA max_page_count = {pages}")

    event.listen(store._engine, "connect", limit)
    with pytest.raises(StoreError, match=r"the disk is full.*stays in its journal"):
        store.save(make_experiment(2, blocks=500))
    assert Store(store.path).identifiers() == (identifier(1),)


def test_a_store_that_may_only_be_read_is_read(store):
    store.save(make_experiment())
    os.chmod(store.path, 0o400)
    with without_leave_to_every_file():
        read_only = Store(store.path)
        assert read_only.read_only
        assert read_only.load("latest") == make_experiment()
        with pytest.raises(StoreError, match="cannot be written"):
            read_only.save(make_experiment(2))


def test_a_second_process_waits_for_the_first(store, monkeypatch):
    from steelyard.store import connection as module

    monkeypatch.setattr(module, "BUSY_TIMEOUT_S", 0.01)
    impatient = Store(store.path)
    holder = sqlite3.connect(store.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="another process holds it"):
        impatient.save(make_experiment())
    assert impatient.listing() == ()
    holder.execute("COMMIT")
    holder.close()
    impatient.save(make_experiment())
    assert len(store.listing()) == 1


def test_the_store_merges_as_the_merge_of_loaded_experiments_does(store):
    first = make_experiment(blocks=2)
    second = make_experiment(
        blocks=4,
        trials=tuple(make_trial(position) for position in range(2, 8)),
        created_unix_s=first.created_unix_s + 100,
        stopped=None,
    )
    store.save(first)
    store.save(second)
    assert store.load("latest") == merge_experiments(first, second)


def test_of_two_writers_one_waits_before_it_reads(store, monkeypatch):
    from steelyard.store import connection as module

    monkeypatch.setattr(module, "BUSY_TIMEOUT_S", 0.01)
    impatient = Store(store.path)
    with store.writing(), pytest.raises(StoreError, match="another process holds it"):
        impatient.save(make_experiment())
