"""An archive that comes with the form is checked and kept as one that a program sends."""

from __future__ import annotations

import io
import os
import re
import tarfile
import tomllib
import zipfile
from html import unescape

import pytest

from steelyard.service.package.archive import PackageLimits
from steelyard.service.submissions import find_submission
from steelyard.service.submitted_packages import packages_of
from steelyard.web.service import page_table, sent_form
from tests.asgi_browser import BOUNDARY
from tests.packages import package
from tests.unit.web.service.test_form import FIELDS, file_of, form, section_of  # noqa: F401

NEW = "/service/new"
ONLY_PACKAGES = {**FIELDS, "command": ""}


@pytest.fixture
def archives(tmp_path):
    """The package of the tests, packed in some ways."""
    folder = package(tmp_path / "sorting")
    tar, zipped = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz") as packed:
        packed.add(folder, ".")
    with zipfile.ZipFile(zipped, "w") as packed:
        for path in sorted(folder.iterdir()):
            info = zipfile.ZipInfo(path.name)
            info.external_attr = 0o100755 << 16
            packed.writestr(info, path.read_bytes())
    return {"sorting.tar.gz": tar.getvalue(), "sorting.zip": zipped.getvalue()}


def chosen(text):
    """The packages that a page has chosen in its rows."""
    return [unescape(each) for each in re.findall(r"<option selected>([0-9a-f]{12} [^<]*)<", text)]


def left_over(service):
    """What lies in the directory of packages beside those that are kept."""
    directory = service.packages._directory
    found = os.listdir(directory) if os.path.isdir(directory) else []
    return [name for name in found if not re.fullmatch("[0-9a-f]{64}", name)]


@pytest.mark.parametrize("name", ["sorting.tar.gz", "sorting.zip"])
def test_an_archive_is_kept_named_and_sent_with_the_form(form, archives, name) -> None:  # noqa: F811
    got = form.browser.sends(
        NEW, {**ONLY_PACKAGES, "ask": "send"}, {"archive": (name, archives[name])}
    )
    assert got.status == 303, got.text
    service = form.shared.service
    with service.database.reading() as connection:
        sent = find_submission(connection, got.header("location"))
        digests = packages_of(connection, sent.id)
    (kept,) = service.packages.sent(
        service.access.identity(form.shared.token(form.account, "read"), "read")
    )
    assert list(digests.values()) == [kept.digest]
    (benchmark,) = tomllib.loads(sent.file)["benchmark"]
    assert benchmark == {"name": "sorting", "package": next(iter(digests))}
    assert left_over(service) == []


def test_a_tar_and_a_zip_of_the_same_files_are_one_package(form, archives) -> None:  # noqa: F811
    for each in archives.items():
        page = form.browser.sends(NEW, ONLY_PACKAGES, {"archive": each}).text
    assert len(chosen(page)) == 1
    # In each of the rows, the chosen and the empty one.
    assert len(re.findall("<option[^>]*>[0-9a-f]{12} ", page)) == 2


def test_a_package_is_kept_and_chosen_though_another_field_is_wrong(form, archives) -> None:  # noqa: F811
    fields = {**ONLY_PACKAGES, "ask": "send", "executions": "many", "package_memory": "1GiB"}
    archive = ("sorting.zip", archives["sorting.zip"])
    got = form.browser.sends(NEW, fields, {"archive": archive})
    assert got.status == 422
    assert "whole number" in section_of(got.text, "How often, and how long")
    (label,) = chosen(got.text)
    again = {**fields, "executions": "1", "package": label, "package_name": "mine"}
    sent = form.browser.sends(NEW, again, {"archive": ("", b"")})
    assert sent.status == 303, sent.text
    page = form.browser.get(f"/service/{sent.header('location')}").text
    assert "mine" in page


def test_limits_that_were_typed_before_are_those_of_the_archive(form, archives) -> None:  # noqa: F811
    fields = {**ONLY_PACKAGES, "package_memory": "1GiB", "package_name": ""}
    got = form.browser.sends(NEW, fields, {"archive": ("a.zip", archives["sorting.zip"])})
    assert got.status == 200, got.text
    (benchmark,) = file_of(got.text)["benchmark"]
    assert benchmark["package_options"] == {"memory": "1GiB"}
    assert benchmark["name"] == "a"


def test_the_text_of_a_form_with_packages_can_be_sent_and_sent_again(form, archives) -> None:  # noqa: F811
    archive = ("sorting.zip", archives["sorting.zip"])
    page = form.browser.sends(NEW, {**ONLY_PACKAGES, "ask": "edit"}, {"archive": archive})
    text = unescape(re.search(r"<textarea[^>]*>(.*?)</textarea>", page.text, re.S)[1])
    text = text.replace(re.search(r'package = "(.*?)"', text)[1], "as it was called elsewhere")
    refused = form.browser.post(NEW, {"ask": "plan", "file": text})
    assert refused.status == 422
    service = form.shared.service
    who = service.access.identity(form.shared.token(form.account, "submit"), "submit")
    digest = service.packages.sent(who)[0].digest
    first = service.submit(who, text, "f", packages={"as it was called elsewhere": digest})
    shown = form.browser.get(f"{NEW}?from={first.spec.identifier}").text
    assert f'name="from" value="{first.spec.identifier}"' in shown
    for ask, status in (("plan", 200), ("send", 303)):
        again = {"ask": ask, "file": text, "from": first.spec.identifier}
        got = form.browser.post(NEW, again)
        assert got.status == status, got.text


def test_what_was_noted_of_a_package_is_said(form, tmp_path) -> None:  # noqa: F811
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as packed:
        packed.add(package(tmp_path / "p", Makefile="all:\n"), ".")
    got = form.browser.sends(NEW, ONLY_PACKAGES, {"archive": ("p.tar", data.getvalue())})
    assert "no setup.sh that calls it" in section_of(got.text, "What to run")


def traversing() -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as packed:
        packed.addfile(tarfile.TarInfo("../../etc/shadow"))
    return data.getvalue()


def with_faults() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as packed:
        packed.writestr("run.sh", "true")
    return data.getvalue()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x7fELF", "cannot be read"),
        (b"", "cannot be read"),
        (traversing(), ".."),
        (with_faults(), "There is no collect.sh"),
    ],
)
def test_a_refused_archive_is_said_beside_its_field_and_nothing_is_lost(form, data, said) -> None:  # noqa: F811
    fields = {**FIELDS, "ask": "send", "name": "k<e>pt", "warmup": "3"}
    got = form.browser.sends(NEW, fields, {"archive": ("it.tar", data)})
    assert got.status == 422, got.text
    alert = re.search(r'role="alert">(.*?)</div>', section_of(got.text, "What to run"), re.S)[1]
    assert said in unescape(alert)
    assert form.shared.service.packages._directory not in got.text
    assert got.text.count('role="alert"') == 1
    assert 'value="k&lt;e&gt;pt"' in got.text
    assert 'name="warmup" value="3"' in got.text
    assert left_over(form.shared.service) == []
    assert form.shared.service.submissions(form.shared.service.access.owner()) == []


def test_a_file_that_is_too_large_leaves_the_form_as_it_was_typed(form, monkeypatch) -> None:  # noqa: F811
    monkeypatch.setattr(page_table, "PackageLimits", lambda: PackageLimits(archive_bytes=1 << 20))
    large = {"archive": ("it.tar", bytes(2 << 20)), "zz": ("", b"")}
    got = form.browser.sends(NEW, {**FIELDS, "warmup": "3"}, large)
    assert got.status == 422
    assert "An archive has at most 1 MiB." in section_of(got.text, "What to run")
    assert 'name="warmup" value="3"' in got.text
    assert left_over(form.shared.service) == []
    beyond = form.browser.sends(NEW, FIELDS, {"archive": ("it.tar", bytes(100 << 20))})
    assert (beyond.status, beyond.text) == (422, "An archive has at most 1 MiB.\n")


def test_a_full_disk_is_said_beside_the_field(form, monkeypatch, archives) -> None:  # noqa: F811
    archive = {"archive": ("sorting.zip", archives["sorting.zip"])}
    monkeypatch.setattr("steelyard.app.service.service_packages.SPARE_BYTES", 1 << 62)
    got = form.browser.sends(NEW, FIELDS, archive)
    assert got.status == 422
    assert "disk is full" in section_of(got.text, "What to run")


def test_a_disk_that_fills_up_meanwhile_is_said_too(form, monkeypatch, archives) -> None:  # noqa: F811
    def full(_path, _mode):
        return open("/dev/full", "wb", buffering=0)

    monkeypatch.setattr(sent_form, "open", full, raising=False)
    got = form.browser.sends(NEW, FIELDS, {"archive": ("a.zip", archives["sorting.zip"])})
    assert got.status == 422
    assert "disk is full" in section_of(got.text, "What to run")
    assert left_over(form.shared.service) == []


def test_the_quota_of_an_account_holds_for_archives_of_the_form(form, archives) -> None:  # noqa: F811
    form.shared.service.packages.most_account_bytes = 1
    archive = ("sorting.zip", archives["sorting.zip"])
    got = form.browser.sends(NEW, ONLY_PACKAGES, {"archive": archive})
    assert got.status == 422
    assert "The packages of ada have more than" in section_of(got.text, "What to run")


def test_no_file_is_written_before_the_form_proves_to_be_of_its_page(
    form,  # noqa: F811
    monkeypatch,
    archives,
) -> None:
    def room(_directory):
        raise AssertionError("a stranger's file was given room")

    monkeypatch.setattr("steelyard.app.service.service_packages.make_private_directories", room)
    archive = {"archive": ("sorting.zip", archives["sorting.zip"])}
    assert form.browser.sends(NEW, FIELDS, archive, csrf="x").status == 403
    late = form.browser.sends(NEW, FIELDS, archive, csrf=[])
    assert late.status == 403
    elsewhere = form.browser.sends(NEW, FIELDS, archive, origin="https://evil.example")
    assert elsewhere.status == 403


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", f"multipart/form-data; boundary={BOUNDARY}"),
        (b"x", f"multipart/form-data; boundary={BOUNDARY}"),
        (f"--{BOUNDARY}\r\n".encode(), f"multipart/form-data; boundary={BOUNDARY}"),
        (b"--x--\r\n", "multipart/form-data"),
        (b"--x--\r\n", f"multipart/form-data; boundary={'x' * 5000}"),
    ],
)
def test_a_form_that_is_damaged_is_refused_in_a_sentence(form, body, kind, caplog) -> None:  # noqa: F811
    got = form.browser.asks("POST", NEW, body, {"content-type": kind})
    assert caplog.records == []
    assert got.status in (403, 422)
    assert got.text.endswith(".\n")
    assert left_over(form.shared.service) == []


def test_a_form_has_as_many_fields_as_it_may_have_and_one_file(form, archives) -> None:  # noqa: F811
    many = form.browser.sends(NEW, {**FIELDS, "metric": ["x"] * 500})
    assert (many.status, many.text) == (422, "A form has at most 400 fields.\n")
    large = form.browser.sends(NEW, {**FIELDS, "name": "x" * (page_table.MOST_FORM_BYTES + 1)})
    assert "A form has at most" in large.text
    two = {"archive": ("a.zip", archives["sorting.zip"]), "b": ("b.zip", b"x")}
    assert form.browser.sends(NEW, FIELDS, two).text == "A form has one file at most.\n"


def test_what_was_typed_is_not_lost_to_who_has_signed_in_anew(form, archives) -> None:  # noqa: F811
    old = form.browser.csrf
    typed = {**FIELDS, "name": "typed by hand", "ask": "send"}
    archive = {"archive": ("sorting.zip", archives["sorting.zip"])}
    form.browser.cookies.clear()
    away = form.browser.sends(NEW, typed, archive, csrf=old)
    assert (away.status, "Sign in in another tab" in away.text) == (401, True)
    anew = form.shared.browser(form.account)
    for got in (anew.sends(NEW, typed, archive, csrf=old), anew.post(NEW, typed, csrf=old)):
        assert got.status == 403
        assert 'value="typed by hand"' in got.text
        assert got.csrf == anew.csrf
    file = {"by": "file", "ask": "send", "file": "# typed by hand"}
    assert "# typed by hand" in anew.post(NEW, file, csrf=old).text
    elsewhere = anew.post(NEW, typed, csrf=old, origin="https://evil.example")
    assert "typed by hand" not in elsewhere.text
    assert anew.sends(NEW, typed, archive, csrf=anew.csrf).status == 303
