"""The variant of a package: it names the package by its digest, and goes to JSON and back."""

from __future__ import annotations

import json

import pytest

from steelyard.app.package.packaged_variant import (
    PackageChoice,
    keep_package,
    package_name,
    packaged_variant,
)
from steelyard.core.errors import ArchiveError, UnknownNameError, UsageError
from steelyard.core.json_codec import to_json, variant_from_json
from steelyard.core.package_spec import EnvironmentLimits
from tests.packages import package


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("STEELYARD_PACKAGES", str(tmp_path / "kept"))
    return tmp_path


def test_a_variant_goes_to_json_and_back_and_names_no_place(kept):
    folder = package(kept / "p", setup_sh="true", env="A=1\n")
    choice = PackageChoice(
        has_network=True, limits=EnvironmentLimits(process_count=7, setup_s=2.5), timeout_s=3
    )
    variant = packaged_variant(keep_package(str(folder)).digest, "p", choice)
    text = json.dumps(to_json(variant))
    assert variant_from_json(json.loads(text)) == variant
    assert str(kept) not in text
    assert variant.package.has_setup
    assert variant.package.variables == (("A", "1"),)


def test_a_package_with_faults_has_no_variant(kept):
    folder = package(kept / "p", "if")
    with pytest.raises(UsageError, match="steelyard package check p"):
        packaged_variant(keep_package(str(folder)).digest, "p")


def test_a_package_that_is_not_kept_has_no_variant(kept):
    with pytest.raises(ArchiveError, match="No package"):
        packaged_variant("0" * 64, "p")


def test_an_environment_that_there_is_not_is_refused(kept):
    folder = package(kept / "p")
    with pytest.raises(UnknownNameError, match="contained, trusted"):
        packaged_variant(keep_package(str(folder)).digest, "p", PackageChoice("other"))


@pytest.mark.parametrize(
    ("source", "name"), [("a/b.tar.gz", "b"), ("b.zip", "b"), ("x/c", "c"), (".tar", ".tar")]
)
def test_a_package_is_called_as_its_file_without_how_it_is_packed(source, name):
    assert package_name(source) == name
