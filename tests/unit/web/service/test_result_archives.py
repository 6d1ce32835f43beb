"""Archives of results: taken from the worker that ran the trial alone, kept once, given back."""

from __future__ import annotations

import hashlib
import io
import tarfile

import pytest

from steelyard.app.service import service_archives
from steelyard.service.accounts import SCOPES
from steelyard.service.archive_kinds import archive_suffix
from steelyard.service.result_archives import FORGOTTEN_S
from tests.hostile_archives import good_members, tar_of
from tests.unit.web.service.conftest import FILE, result_of

SECRET = FILE.replace('command = "true"', 'command = "true"\nenvironment = {KEY = "s3cret"}')


class Sent:
    """An experiment with one worker, of which a part is given out."""

    def __init__(self, shared, text=FILE, visibility="private") -> None:
        self.shared = shared
        self.author = shared.account("ada", "member")
        who = shared.service.access.identity(shared.token(self.author, *SCOPES), "submit")
        self.token = shared.service.access.enrol(shared.service.access.owner(), "w", {"cpus": 1})
        planned = shared.service.submit(who, text, "e.toml", visibility)
        self.identifier = planned.spec.identifier
        self.worker = shared.service.access.worker(self.token)
        self.given = shared.service.parts.give(self.worker)
        # The part that is given first is drawn.
        self.first = min(self.given.positions)

    def path(self, position, part=None, attempt=None):
        part = self.given.id if part is None else part
        attempt = self.given.attempt if attempt is None else attempt
        return f"/api/worker/archives/{part}/{attempt}/{position}"

    def sends(self, data, position=None, token=None, **place):
        """What the service says of an archive."""
        position = self.first if position is None else position
        token = self.token if token is None else token
        return self.shared.browser().calls("POST", self.path(position, **place), token, data)

    def takes(self, archives=None):
        """The outcome of the part's result, whose trials name `archives` by their order."""
        document = result_of(self.given)
        for trial in document["trials"]:
            data = (archives or {}).get(trial["position"] - self.first)
            if data is not None:
                digest = hashlib.sha256(data).hexdigest()
                trial["details"] = {"package": {"sha256": digest, "result": "../../x.tar"}}
        return self.shared.service.parts.take(self.worker, document)

    def gets(self, below, account=None, page=False):
        root = "/service" if page else "/api/experiments"
        path = f"{root}/{self.identifier}/{below}"
        if page:
            return self.shared.browser(account).get(path)
        return self.shared.browser().calls("GET", path, self.shared.token(account, *SCOPES))


@pytest.fixture
def sent(shared):
    return Sent(shared)


def files(tmp_path):
    return sorted(path for path in tmp_path.glob("results/**/*") if path.is_file())


def test_an_archive_is_kept_with_its_trial_and_given_to_who_may_see_it(sent, tmp_path) -> None:
    data = tar_of(good_members())
    first = sent.first
    assert sent.sends(data, first).json()["kept"]
    assert sent.sends(data, first + 1).json()["kept"]
    # Before its result is committed nobody sees it.
    assert sent.gets("results", sent.author).json()["archives"] == []
    assert sent.takes({0: data, 1: data}).outcome == "committed"
    rows = sent.gets("results", sent.author).json()["archives"]
    digest = hashlib.sha256(data).hexdigest()
    assert [(row["position"], row["file"], row["sha256"]) for row in rows] == [
        (n, f"trial-{n}.tar.gz", digest) for n in (first, first + 1)
    ]
    # Equal bytes lie there once.
    assert [path.name for path in files(tmp_path)] == [digest]
    one = sent.gets(f"results/{first + 1}", sent.author)
    assert one.data == data
    assert f'filename="trial-{first + 1}.tar.gz"' in one.header("content-disposition")
    whole = sent.gets("results.tar", sent.author)
    with tarfile.open(fileobj=io.BytesIO(whole.data)) as found:
        names = found.getnames()
        assert names == [f"{sent.identifier}-results/trial-{n}.tar.gz" for n in (first, first + 1)]
        assert found.extractfile(names[1]).read() == data
    page = sent.gets("results", sent.author, page=True).text
    assert "2 archives of results" in page
    assert f"results/{first + 1}" in page
    stranger = sent.shared.account("bob", "member")
    for below in ("results", "results.tar", f"results/{sent.first}", "results.json"):
        assert sent.gets(below, stranger, page=True).status == 404
    assert sent.gets(f"results/{sent.first}", stranger).status == 404
    assert sent.gets("results/7", sent.author).status == 404


def test_an_archive_comes_from_the_worker_of_its_trial_alone(sent, tmp_path) -> None:
    other = sent.shared.service.access.enrol(
        sent.shared.service.access.owner(), "other", {"cpus": 1}
    )
    data = tar_of(good_members())
    refused = [
        sent.sends(data, token=other),
        sent.sends(data, part=999),
        sent.sends(data, attempt=5),
        sent.sends(data, position=(sent.first + 2) % 4),  # Of another block.
        sent.sends(data, position=10**8),
    ]
    assert [each.status for each in refused] == [422] * 5
    assert sent.sends(data, token="nobody's").status == 401
    for place in ("x", "-1", "../../etc"):
        assert sent.sends(data, place).status in (404, 405)
    assert files(tmp_path) == []
    assert sent.takes().outcome == "committed"
    late = sent.sends(data)
    assert (late.status, "is over: committed" in late.text) == (422, True)


def test_an_archive_that_its_trial_does_not_name_refuses_the_result(sent, tmp_path) -> None:
    assert sent.sends(b"forged").json()["kept"]
    taken = sent.takes({0: b"what was measured"})
    assert taken.outcome == "refused"
    assert f"position {sent.first} is not the one that the trial names" in taken.message
    assert files(tmp_path) == []
    # The same part with what it really left.
    assert sent.sends(b"what was measured").json()["kept"]
    assert sent.takes({0: b"what was measured"}).outcome == "committed"


def test_another_workers_forged_result_takes_no_archive_away(sent, tmp_path) -> None:
    assert sent.sends(b"mine").json()["kept"]
    token = sent.shared.service.access.enrol(
        sent.shared.service.access.owner(), "other", {"cpus": 1}
    )
    liar = sent.shared.service.access.worker(token)
    assert sent.shared.service.parts.take(liar, result_of(sent.given)).outcome == "refused"
    assert len(files(tmp_path)) == 1
    assert sent.takes({0: b"mine"}).outcome == "committed"


def test_beyond_its_limits_an_archive_is_not_kept_and_its_trial_is(
    sent, tmp_path, monkeypatch
) -> None:
    sent.shared.service.archives.most_account_bytes = 10
    told = sent.sends(b"more than ten bytes").json()
    assert (told["kept"], "of ada have more than" in told["message"]) == (False, True)
    monkeypatch.setattr("steelyard.web.service.archive_api.MOST_ARCHIVE_BYTES", 4)
    monkeypatch.setattr(service_archives, "MOST_ARCHIVE_BYTES", 4)
    assert sent.sends(b"12345", sent.first + 1).status == 422
    assert sent.takes({0: b"more than ten bytes"}).outcome == "committed"
    (row,) = sent.gets("results", sent.author).json()["archives"]
    assert (row["file"], row["sha256"]) == (None, None)
    assert "have more than" in row["reason"]
    got = sent.gets(f"results/{sent.first}", sent.author)
    assert (got.status, "is not here: the archives of" in got.text) == (404, True)
    assert "1 could not be kept" in sent.gets("results", sent.author, page=True).text
    assert files(tmp_path) == []


def test_what_may_hold_secrets_is_for_the_author_alone(shared) -> None:
    sent = Sent(shared, SECRET, "public")
    assert sent.sends(b"KEY=s3cret").json()["kept"]
    assert sent.takes({0: b"KEY=s3cret"}).outcome == "committed"
    keeper = shared.account("root", "administrator")
    assert sent.gets(f"results/{sent.first}", sent.author).data == b"KEY=s3cret"
    for account in (keeper, shared.account("bob", "reader")):
        for below in ("results", "results.tar", f"results/{sent.first}"):
            got = sent.gets(below, account)
            assert (got.status, b"s3cret" in got.data) == (403, False)
        assert b"s3cret" not in sent.gets("archive", account).data
    with tarfile.open(fileobj=io.BytesIO(sent.gets("archive", sent.author).data)) as found:
        assert f"results/trial-{sent.first}.archive" in found.getnames()


def test_what_a_lost_attempt_sent_goes_after_a_week(sent, tmp_path) -> None:
    assert sent.sends(b"of an attempt that is lost").json()["kept"]
    sent.shared.service.parts.give(sent.worker)
    sent.shared.service.archives.clear()
    assert len(files(tmp_path)) == 1
    (tmp_path / "results" / "upload-1").write_bytes(b"left")
    sent.shared.clock[0] += FORGOTTEN_S + 1
    sent.shared.service.archives.clear()
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    ("data", "suffix"),
    [
        (b"", ".archive"),
        (b"\x1f\x8b\x08", ".tar.gz"),
        (b"PK\3\4", ".zip"),
        (b"BZh9", ".tar.bz2"),
        (b"\xfd7zXZ\0", ".tar.xz"),
        (bytes(257) + b"ustar", ".tar"),
        (b"<html>", ".archive"),
    ],
)
def test_a_suffix_comes_from_the_bytes_and_not_from_a_name(data, suffix) -> None:
    assert archive_suffix(data) == suffix
