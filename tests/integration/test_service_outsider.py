"""What somebody takes away from a service, read by programs that are not Steelyard's."""

from __future__ import annotations

import csv
import html
import http.client
import io
import json
import re
import tarfile
from collections import Counter

import pyarrow.parquet

from tests.integration.test_service import sent
from tests.integration.test_service_people import shared, signed_in  # noqa: F401 - a fixture
from tests.packages import need_containers, package
from tests.patience import PATIENCE_S

SECRET = "s3cr3t-4711-of-ada"
FILE = """\
[experiment]
name = "outside"
seed = 11
runs = 3

[[benchmark]]
name = "steady"
command = "true"

[[benchmark]]
name = "shaky"
command = "{program}"
environment = {{API_TOKEN = "{secret}"}}

[[benchmark]]
package = "good"

[hosts]
factors = {{worker = "100%"}}
"""
# Every second time it fails, and says what it should not.
SHAKY = 'echo x >> runs; [ $(($(wc -l < runs) % 2)) = 0 ] || { echo "$API_TOKEN" >&2; exit 7; }'
WORKERS = ("one", "two")


def fetched(served, path, cookie=""):
    """The status and the bytes of a page, for whoever has a cookie."""
    connection = http.client.HTTPConnection(served.url.netloc, timeout=PATIENCE_S)
    connection.request("GET", f"{served.url.path}{path}", headers={"Cookie": cookie})
    response = connection.getresponse()
    data = response.read()
    connection.close()
    return response.status, data


def work(user, *names):
    for name in names:
        told = user.types("worker", "--once", "--name", name, "--directory", name)
        assert told.status == 0, told.err


def of_table(rows):
    """The values of a long table by trial and metric, and how each trial ended."""
    values = {
        (int(row["position"]), row["metric"], int(row["iteration"] or 0)): float(row["value"])
        for row in rows
        if row["metric"]
    }
    return values, {int(row["position"]): row["status"] for row in rows}


def of_csv(data):
    return of_table(list(csv.DictReader(io.StringIO(data.decode(), newline=""))))


def of_parquet(data):
    return of_table(pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist())


def of_json(data):
    document = json.loads(data)
    values = {
        (trial["position"], metric, place): value
        for trial in document["trials"]
        for metric, measured in trial["measurements"].items()
        for place, value in enumerate(measured)
    }
    return values, {trial["position"]: trial["status"] for trial in document["trials"]}


def holding(data):
    """Bytes as they are, and all that is in them where they are an archive."""
    found = [data]
    if data[:2] == b"\x1f\x8b":
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            found += [archive.extractfile(each).read() for each in archive if each.isfile()]
    return found


def made_public(served, identifier, cookie):
    page = f"service/{identifier}"
    csrf = re.search(r'name="csrf" value="([^"]+)"', served.browses("GET", page, None, cookie)[2])
    fields = {"visibility": "public", "csrf": csrf[1]}
    assert served.browses("POST", f"{page}/visibility", fields, cookie)[0] == 303


def test_every_form_of_an_experiment_has_the_same_numbers_and_the_public_no_secret(
    user,
    shared,  # noqa: F811
    script,
) -> None:
    need_containers(user.home)
    package(user.home / "good")
    (user.home / "e.toml").write_text(FILE.format(program=script(SHAKY), secret=SECRET))
    cookie = signed_in(shared)
    work(user, *WORKERS)
    identifier = sent(user, "e.toml")["experiment"]
    work(user, *WORKERS)
    assert shared.ended(identifier)["committed"] == 18
    page = f"service/{identifier}"
    paths = [f"{page}/download/{kind}" for kind in ("csv", "parquet", "steelyard-json")]
    below = ("", "/answer", "/facets", "/archive")
    assert {fetched(shared, path)[0] for path in [page, *paths]} == {404}
    made_public(shared, identifier, cookie)
    told = {path: fetched(shared, path) for path in [*paths, *(f"{page}{each}" for each in below)]}
    assert {status for status, _ in told.values()} == {200}
    # What scripts packed may hold anything: it stays the author's.
    assert fetched(shared, f"{page}/results.tar")[0] == 403
    for path, (_, data) in told.items():
        assert not [each for each in holding(data) if SECRET.encode() in each], path
    table, columns, document = (told[path][1] for path in paths)
    values, endings = of_csv(table)
    assert values == of_parquet(columns)[0] == of_json(document)[0]
    assert endings == of_parquet(columns)[1] == of_json(document)[1]
    assert len(endings) == 18
    failed = Counter(status for status in endings.values() if status != "ok")
    assert failed["failed"] >= 2, endings
    _says_where_it_ran(json.loads(document), told[f"{page}/answer"][1].decode())
    fetched_back = user.types("import", f"{shared.address}{page}", "--store", "theirs.sqlite")
    assert fetched_back.status == 0, fetched_back.err
    for read, name in ((of_csv, "t.csv"), (of_parquet, "t.parquet"), (of_json, "t.json")):
        words = ["--format", "steelyard-json"] if name == "t.json" else []
        written = user.types("export", "-o", name, "--store", "theirs.sqlite", *words)
        assert written.status == 0, written.err
        assert read((user.home / name).read_bytes()) == (values, endings)
    _is_run_again_on_a_worker_that_came_later(user, shared, identifier, cookie)


def _says_where_it_ran(document, page):
    placed = document["experiment"]["placement"]
    assert [worker["name"] for worker in placed["workers"]] == list(WORKERS)
    assert sorted(placed["blocks"]) == [0, 0, 0, 1, 1, 1]
    assert document["provenance"]["host"]["kernel"]
    for worker in placed["workers"]:
        row = re.search(rf'<td class="left">{worker["name"]}</td><td>3</td>.*', page)[0]
        assert f"kernel: {dict(worker['levels'])['kernel']}" in row


def _is_run_again_on_a_worker_that_came_later(user, served, identifier, cookie):
    form = fetched(served, f"service/new?from={identifier}", cookie)[1].decode()
    text = re.search(r"<textarea[^>]*>(.*?)</textarea>", form, re.DOTALL)[1]
    # What is hidden on the page is written anew, or the file is refused.
    written = html.unescape(text).lstrip("\n").replace("***", SECRET)
    (user.home / "fork.toml").write_text(written)
    work(user, "late")
    fork = sent(user, "fork.toml")
    assert fork["workers"] == ["late", *WORKERS]
    work(user, "late", *WORKERS)
    assert served.ended(fork["experiment"])["committed"] == 27
    trials = served.gets(f"api/experiments/{fork['experiment']}/trials")
    placed = trials["experiment"]["placement"]
    assert sorted(Counter(placed["blocks"]).values()) == [3, 3, 3]
    assert "late" in [worker["name"] for worker in placed["workers"]]
    assert sorted(trial["position"] for trial in trials["trials"]) == list(range(27))
