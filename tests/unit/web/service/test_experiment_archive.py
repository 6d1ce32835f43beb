"""From the archive of an experiment alone the same can be planned again, and its trials read."""

from __future__ import annotations

import io
import json
import tarfile

import pytest

from steelyard.app.experiment.plan_of_file import plan_of_file
from steelyard.app.service.experiment_archive import member_name
from steelyard.core.errors import DataError
from steelyard.service.accounts import ROLES, SCOPES
from tests.packages import package
from tests.unit.web.service.conftest import FILE

TEXT = """\
[experiment]
seed = 3
runs = 2

[[benchmark]]
package = "packed/{name}"

[[factor]]
factor = "environment-size"
levels = [0, 64]
"""


def archive(shared, account, identifier, folder):
    """Its names, unpacked into a folder."""
    path = f"/api/experiments/{identifier}/archive"
    got = shared.browser().calls("GET", path, shared.token(account, *SCOPES))
    assert got.status == 200, got.text
    with tarfile.open(fileobj=io.BytesIO(got.data)) as found:
        for member in found:
            target = folder / member.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(found.extractfile(member).read())
        return sorted(found.getnames())


def test_what_was_sent_is_planned_again_from_its_archive_alone(shared, tmp_path) -> None:
    ada, bob = shared.account("ada"), shared.account("bob")
    who = shared.service.access.identity(shared.token(ada, *ROLES["administrator"]), "submit")
    upload = shared.service.packages.upload_directory(1000)
    with tarfile.open(f"{upload}/archive", "w") as packed:
        packed.add(package(tmp_path / "sorting"), ".")
    taken = shared.service.packages.receive(who, f"{upload}/archive")
    shared.service.access.enrol(shared.service.access.owner(), "w", {"cpus": 1})
    text = TEXT.format(name="sorting")
    digests = {"packed/sorting": taken.package.digest}
    planned = shared.service.submit(who, text, "e.toml", "public", packages=digests)
    identifier = planned.spec.identifier
    names = archive(shared, ada, identifier, tmp_path / "own")
    assert names == ["README.txt", "experiment.toml", "packed/sorting", "trials.json"]
    again = plan_of_file(str(tmp_path / "own" / "experiment.toml")).spec
    assert [each.package for each in again.variants] == [
        each.package for each in planned.spec.variants
    ]
    trials = json.loads((tmp_path / "own" / "trials.json").read_text())
    assert identifier in json.dumps(trials)
    # Others see a public experiment, but its author's package is no more public than before.
    assert "packed/sorting" not in archive(shared, bob, identifier, tmp_path / "other")


def test_an_archive_with_hidden_values_says_so_and_is_not_run_without_them(shared, tmp_path):
    ada, bob = shared.account("ada"), shared.account("bob")
    who = shared.service.access.identity(shared.token(ada, *ROLES["administrator"]), "submit")
    shared.service.access.enrol(shared.service.access.owner(), "w", {"cpus": 1})
    text = FILE.replace('"true"', '"true --password=hunter22"').replace(
        'name = "e"', 'name = "e\\u001b[8m\\nrun this"'
    )
    identifier = shared.service.submit(who, text, "e.toml", "public").spec.identifier
    archive(shared, ada, identifier, tmp_path / "own")
    assert plan_of_file(str(tmp_path / "own" / "experiment.toml")).spec.variants
    archive(shared, bob, identifier, tmp_path / "other")
    readme = (tmp_path / "other" / "README.txt").read_text()
    assert readme.startswith("e\N{REPLACEMENT CHARACTER}[8m run this\n")
    assert "stand as *** in experiment.toml" in readme
    with pytest.raises(DataError, match=r"experiment\.toml, line 8: .*write it anew"):
        plan_of_file(str(tmp_path / "other" / "experiment.toml"))


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("packages/xz", "packages/xz"),
        ("./xz.tar", "xz.tar"),
        ("/etc/xz", None),
        ("../xz", None),
        ("a/../../xz", None),
        ("experiment.toml", None),
        ("trials.json/x", None),
    ],
)
def test_a_package_lies_where_its_file_finds_it_or_nowhere(name, member) -> None:
    assert member_name(name) == member
