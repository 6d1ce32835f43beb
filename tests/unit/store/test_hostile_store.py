"""Stores that another made to fill the memory, to compute without end or to reach other files."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
import struct
from array import array

import pytest

from steelyard.core.errors import StoreError
from steelyard.store.database import Store
from steelyard.store.journals import absorb_journals
from steelyard.store.packed_columns import PackedColumns, pack_columns
from steelyard.store.trial_chunk import ChunkReader, chunks_of
from tests.experiments import make_experiment, make_trial

ONE = (1.0).hex()
# Beyond what Python and SQLAlchemy take: what any input of 1 MB may.
ROOM_BYTES = 500 << 20


@pytest.fixture
def store(tmp_path):
    store = Store(str(tmp_path / "s.sqlite"))
    store.save(make_experiment())
    return store


@pytest.fixture
def _little_room():
    """What claims more memory than it may has none."""
    with open("/proc/self/statm", encoding="ascii") as file:
        used_bytes = int(file.read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used_bytes + ROOM_BYTES, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def chunk(count, metrics, *, rising=False, per_trial=1):
    """A chunk whose columns are all constant, but for its positions where they are rising."""
    columns = {
        name: {"count": count, "type": "b", "constant": 0}
        for name in ("position", "block", "variant", "build", "warmup", "status", "reason")
    }
    if rising:
        columns["position"] = {"count": count, "type": "i"}
    for name in ("started_unix_s", "spent_s"):
        columns[name] = {"count": count, "type": "d", "constant": ONE}
    for name in ("realised", "details", "levels"):
        columns[name] = {"count": count, "type": "b", "constant": 0}
    for place in range(len(metrics)):
        columns[f"count {place}"] = {"count": count, "type": "q", "constant": per_trial}
        columns[f"value {place}"] = {"count": count * per_trial, "type": "d", "constant": ONE}
    about = {"realised": ["{}"], "details": ["{}"], "levels": ["[]"]}
    about = {**about, "metrics": metrics, "count": count}
    head = json.dumps({"columns": columns, "about": about}).encode()
    body = array("i", range(count)).tobytes() if rising else b""
    return b"SYC1" + struct.pack("<I", len(head)) + head + body


def edit(store, *statements):
    with sqlite3.connect(store.path) as database:
        for statement in statements:
            database.execute(*statement if isinstance(statement, tuple) else (statement,))
    database.close()


CLAIMS = {
    "values of one trial": [chunk(1, ["wall_time"], per_trial=1 << 35)],
    "values of one trial that just fit": [chunk(1, ["wall_time"], per_trial=1 << 28)],
    "trials at one position": [chunk(8192, ["wall_time"])] * 1500,
    "metrics": [chunk(8192, [f"m{n}" for n in range(5500)], rising=True)],
    "other metrics in each chunk": [
        chunk(8192, [f"{part} {n}" for n in range(50)], rising=True) for part in range(20)
    ],
}


@pytest.mark.usefixtures("_little_room")
@pytest.mark.parametrize("name", CLAIMS)
def test_what_columns_claim_and_their_bytes_do_not_bear_is_one_error(name, store):
    rows = [("INSERT INTO trial_chunks VALUES (NULL, 1, 1, ?)", (data,)) for data in CLAIMS[name]]
    edit(store, "DELETE FROM trial_chunks", *rows)
    with pytest.raises(StoreError, match=r"columns claim|at one position"):
        store.load("latest")


def test_constant_measurements_are_read_however_many_there_are():
    metrics = {f"m{n}": array("d", [0.0] * 100) for n in range(60)}
    trials = tuple(make_trial(n, measurements=metrics) for n in range(1000))
    reader = ChunkReader(variant_count=2)
    found = [trial for _, data in chunks_of(trials) for trial in reader.trials(data)]
    assert len(found) == len(trials)
    assert found[-1].measurements["m59"] == metrics["m59"]


def test_a_column_that_is_written_whole_is_read_as_the_constant_one():
    columns = {"a": [7] * 1000, "b": array("d", [1.5]) * 1000}
    whole, short = pack_columns(columns, {}, whole=True), pack_columns(columns, {})
    assert len(whole) > 9000 > len(short)
    for data in (whole, short):
        packed = PackedColumns(data)
        assert packed.whole("a", 1000).tolist() == columns["a"]
        assert packed.doubles("b", 1000) == columns["b"]


ENDLESS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r)"
SCHEMAS = {
    "a view in the place of trials": [
        "DROP TABLE trial_chunks",
        f"CREATE VIEW trial_chunks AS {ENDLESS} SELECT x AS id, 1 AS experiment_id, "
        "1 AS trial_count, zeroblob(100000000) AS content FROM r",
    ],
    "a view in the place of experiments": [
        "ALTER TABLE experiments RENAME TO others",
        f"CREATE VIEW experiments AS {ENDLESS} SELECT others.* FROM others, r",
    ],
    "a trigger": [
        f"CREATE TRIGGER t AFTER DELETE ON experiments BEGIN INSERT INTO sessions {ENDLESS} "
        "SELECT 1, x, zeroblob(1000000) FROM r; END"
    ],
    "a column that is computed": [
        "ALTER TABLE trial_chunks ADD COLUMN x AS (zeroblob(1000000000))",
    ],
    "an index of an expression": ["CREATE INDEX i ON sessions (length(zeroblob(1000000000)))"],
    "a check": [
        "DROP TABLE change_notes",
        "CREATE TABLE change_notes (id INTEGER CHECK (length(zeroblob(1000000000)) > id))",
    ],
    "a default": [
        "DROP TABLE change_notes",
        "CREATE TABLE change_notes (id INTEGER, note DEFAULT (zeroblob(1000000000)))",
    ],
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_store_whose_schema_computes_is_refused_before_it_is_read(name, store):
    edit(store, *SCHEMAS[name])
    with pytest.raises(StoreError, match=r"is none that Steelyard made: its .* computes"):
        Store(store.path)


def test_a_view_of_the_users_own_is_left_alone(store):
    edit(store, "CREATE VIEW mine AS SELECT identifier FROM experiments WHERE stopped IS NULL")
    assert Store(store.path).load("latest") == make_experiment()


def cut_off(store):
    """Leave the journal of a transaction that was cut off."""
    process = os.fork()
    if process == 0:
        database = sqlite3.connect(store.path, isolation_level=None)
        database.execute("PRAGMA cache_size = 1")
        database.execute("BEGIN IMMEDIATE")
        database.execute("CREATE TABLE z (a)")
        for _ in range(50):
            database.execute("INSERT INTO z VALUES (zeroblob(4000))")
        os._exit(0)
    os.waitpid(process, 0)


def hot_journal(store, super_journal):
    """The journal of a transaction that was cut off, which names another file."""
    cut_off(store)
    name = str(super_journal).encode()
    page = 0x40000000 // 4096 + 1
    told = struct.pack(">I", page) + name + struct.pack(">II", len(name), sum(name))
    with open(f"{store.path}-journal", "ab") as file:
        file.write(told + bytes.fromhex("d9d505f920a163d7"))


def test_a_journal_that_names_another_file_removes_nothing(store, tmp_path):
    mine = tmp_path / "mine"
    mine.write_text("precious\n")
    hot_journal(store, mine)
    with pytest.raises(StoreError, match="names a file to remove"):
        Store(store.path)
    assert mine.read_text() == "precious\n"


def test_a_transaction_that_was_cut_off_is_taken_back(store):
    cut_off(store)
    assert os.path.getsize(f"{store.path}-journal") > 512
    assert Store(store.path).load("latest") == make_experiment()
    assert not os.path.exists(f"{store.path}-journal")


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
def test_a_link_beside_a_store_is_not_written_through(ending, store, tmp_path):
    link = f"{store.path}{ending}"
    os.symlink(tmp_path / "reached", link)
    with pytest.raises(StoreError, match="is not a regular file"):
        Store(store.path).save(make_experiment())
    assert not (tmp_path / "reached").exists()
    assert os.path.islink(link)


def test_a_link_in_the_place_of_the_journals_has_nothing_taken_from_where_it_leads(store, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    for name in ("lines.jsonl", "cut.jsonl"):
        (mine / name).write_text('{"mine": 1}' + "\n" * (name == "lines.jsonl"))
        os.utime(mine / name, (0, 0))
    shutil.rmtree(f"{store.path}.journals")
    os.symlink(mine, f"{store.path}.journals")
    with pytest.raises(StoreError, match="is a link"):
        absorb_journals(store, lambda _: make_experiment(), lambda _: None)
    assert sorted(os.listdir(mine)) == ["cut.jsonl", "lines.jsonl"]
