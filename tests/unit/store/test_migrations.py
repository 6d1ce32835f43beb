from __future__ import annotations

import os
import shutil
import sqlite3
from array import array
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from steelyard.core.errors import StoreError
from steelyard.core.track_row import TrackRow
from steelyard.store import connection as module
from steelyard.store import migrations
from steelyard.store.connection import bring_up_to_date, open_engine
from steelyard.store.database import Store
from steelyard.store.schema import metadata
from steelyard.store.store_location import APPLICATION_ID, SCHEMA_VERSION
from steelyard.store.track_store import TrackStore
from tests.experiments import failed_trial, identifier, make_experiment, make_trial

SCRIPTS = os.path.dirname(migrations.__file__)
NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{down_revision}"


def upgrade():
    op.add_column("experiments", sa.Column("mood", sa.Text))
    with op.batch_alter_table("experiments", recreate="always") as table:
        table.alter_column("kind", new_column_name="sort")
    {end}
"""


def _next_version(tmp_path, end):
    scripts = tmp_path / "migrations"
    shutil.copytree(SCRIPTS, scripts)
    revisions = {
        "revision": f"{SCHEMA_VERSION + 1:04}",
        "down_revision": f"{SCHEMA_VERSION:04}",
    }
    (scripts / "versions" / "next.py").write_text(NEXT.format(end=end, **revisions))
    return str(scripts)


def _columns(path):
    connection = sqlite3.connect(path)
    names = [row[1] for row in connection.execute("PRAGMA table_info(experiments)")]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.close()
    return names, version


def _dump(path, tables):
    connection = sqlite3.connect(path)
    rows = [list(connection.execute(f"SELECT * FROM {table}")) for table in tables]
    connection.close()
    return rows


def test_migrations_make_the_schema_that_the_code_uses(tmp_path):
    path = str(tmp_path / "s.sqlite")
    engine = open_engine(path)
    bring_up_to_date(engine, path)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_the_last_migration_is_the_version_of_the_schema():
    assert int(ScriptDirectory(SCRIPTS).get_current_head()) == SCHEMA_VERSION


def test_a_new_store_says_whose_it_is_and_which_version(tmp_path):
    path = str(tmp_path / "s.sqlite")
    Store(path)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    connection.close()


def _store_of(version, tmp_path):
    path = str(tmp_path / "s.sqlite")
    connection = sqlite3.connect(path)
    script = Path(__file__).parent / f"version_{version}.sql"
    connection.executescript(script.read_text(encoding="utf-8"))
    connection.close()
    return path


def test_a_store_of_version_1_keeps_its_data(tmp_path):
    assert Store(_store_of(1, tmp_path)).load("latest") == make_experiment()


def test_a_store_of_version_2_keeps_all_of_its_trials(tmp_path):
    store = Store(_store_of(2, tmp_path))
    assert store.identifiers() == (identifier(2), identifier(1))
    assert store.load("latest") == make_experiment(2)
    values = array("d", [0.1 * n for n in range(20)])
    assert store.load(identifier(1)).trials == (
        make_trial(-1, variant=0, block=0, warmup=True),
        failed_trial(0),
        make_trial(1, levels=(2, 1), build=3),
        make_trial(2, measurements={"wall_time": values, "extra": (1.5, 2.5)}),
        make_trial(3, realised={}, details={"error": "\udcff"}),
        make_trial(4),
        make_trial(5),
    )
    assert [(found.trials, found.failed) for found in store.listing()] == [(6, 0), (6, 1)]


def test_a_trial_of_version_2_that_is_damaged_leaves_the_store_as_it_was(tmp_path):
    path = _store_of(2, tmp_path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE trials SET block = 'first' WHERE position = 2")
    connection.commit()
    connection.close()
    before = _dump(path, ["experiments", "trials", "measurements"])
    with pytest.raises(
        StoreError, match=r"trial 2 of experiment number \d of the store is damaged"
    ):
        Store(path)
    assert _dump(path, ["experiments", "trials", "measurements"]) == before


def test_an_upgrade_keeps_data_even_where_it_rebuilds_a_table(tmp_path, monkeypatch):
    path = str(tmp_path / "s.sqlite")
    Store(path).save(make_experiment())
    before = _dump(path, ["sessions", "trial_chunks"])
    monkeypatch.setattr(module, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    bring_up_to_date(open_engine(path), path, _next_version(tmp_path, end="pass"))
    names, version = _columns(path)
    assert {"mood", "sort"} < set(names)
    assert version == SCHEMA_VERSION + 1
    assert _dump(path, ["sessions", "trial_chunks"]) == before


def test_an_upgrade_that_fails_leaves_the_store_as_it_was(tmp_path):
    path = str(tmp_path / "s.sqlite")
    Store(path).save(make_experiment())
    with pytest.raises(StoreError):
        bring_up_to_date(
            open_engine(path), path, _next_version(tmp_path, end="op.drop_table('absent')")
        )
    names, version = _columns(path)
    assert "mood" not in names
    assert version == SCHEMA_VERSION
    assert Store(path).load("latest") == make_experiment()


def test_a_store_of_a_newer_version_is_refused_and_left_alone(tmp_path):
    path = str(tmp_path / "s.sqlite")
    Store(path)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 5}")
    connection.close()
    content = Path(path).read_bytes()
    with pytest.raises(StoreError, match=rf"store version {SCHEMA_VERSION + 5}.*Update Steelyard"):
        Store(path)
    assert Path(path).read_bytes() == content


OLD_SESSION = (
    '{"environment":{"GH_PAT":"hush-pat","PATH":"/bin","HOME":"/hush-home","ASKED":"kept-value"},'
    '"argv":["steelyard","measure","--password","hush-argv"]}'
)


def _with_old_session(tmp_path):
    path = _store_of(2, tmp_path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE sessions SET provenance = ? WHERE place = 0", (OLD_SESSION,))
    connection.execute(
        "UPDATE experiments SET specification = "
        "json_set(specification, '$.recorded_environment', json_array('ASKED'))"
    )
    connection.commit()
    # What was freed before the migration holds the values too.
    connection.execute("CREATE TABLE other (text TEXT)")
    connection.executemany("INSERT INTO other VALUES (?)", [(OLD_SESSION,)] * 200)
    connection.commit()
    connection.execute("DROP TABLE other")
    connection.commit()
    connection.close()
    return path


def test_values_that_explain_no_result_go_out_of_an_old_store_and_of_its_file(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = _with_old_session(tmp_path)
    provenance = Store(path).load(identifier(1)).provenance
    assert provenance["environment"] == {"PATH": "/bin", "ASKED": "kept-value"}
    assert set(provenance["environment_digests"]) == {"GH_PAT", "HOME"}
    assert provenance["argv"] == ["steelyard", "measure", "--password", "***"]
    assert b"hush-" not in Path(path).read_bytes()


def test_a_session_that_cannot_be_read_stays_as_it_is_where_others_are_scrubbed(tmp_path):
    path = _with_old_session(tmp_path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE sessions SET provenance = 'no JSON' WHERE experiment_id = 2")
    connection.commit()
    connection.close()
    Store(path)
    assert _dump(path, ["sessions"])[0].count((2, 0, "no JSON")) == 1


def _bytes_below(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_what_is_deleted_leaves_nothing_in_the_file(tmp_path):
    path = str(tmp_path / "s.sqlite")
    store = Store(path)
    store.save(make_experiment(1, provenance={"argv": ["hush-argv" * 500]}))
    assert b"hush-argv" in _bytes_below(tmp_path)
    store.delete([identifier(1)])
    assert b"hush-argv" not in _bytes_below(tmp_path)


def test_a_store_of_version_4_keeps_its_data_and_takes_tracks(tmp_path):
    store = Store(_store_of(4, tmp_path))
    assert store.load(identifier(1)) == make_experiment()
    assert store.load(identifier(2)).trials == (make_trial(0), failed_trial(1))
    (kept,) = store.dimensionings()
    assert (kept.benchmark, kept.result) == ("b", {"level": 1})
    found = TrackStore(store)
    assert found.tracks() == ()
    found.add("", [TrackRow("b", "wall_time", "s", 1.5, revision="r1")], "file", {})
    assert [(track.benchmark, track.value_count) for track in found.tracks()] == [("b", 1)]
