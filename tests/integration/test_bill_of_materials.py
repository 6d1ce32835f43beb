"""The bill of materials of a wheel: every part of it, with its licence."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from jsonschema import Draft7Validator
from referencing import Registry
from referencing.jsonschema import DRAFT7

ROOT = Path(__file__).parents[2]
NAMES = ("bom-1.6", "jsf-0.82", "spdx")
METADATA = """Metadata-Version: 2.4
Name: steelyard
Version: 9.9
License-Expression: Apache-2.0
Requires-Dist: click>=8.1
Requires-Dist: SQLAlchemy>=2
"""


def tell(wheel: Path) -> subprocess.CompletedProcess[str]:
    tool = str(ROOT / "tools" / "bill_of_materials.py")
    return subprocess.run(
        [sys.executable, tool, str(wheel)], capture_output=True, text=True, check=False
    )


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "steelyard-9.9-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("steelyard-9.9.dist-info/METADATA", METADATA)
        archive.writestr("steelyard-9.9.dist-info/licenses/LICENSE", "The Apache licence.")
    return path


@pytest.fixture
def bill(wheel: Path) -> dict:
    told = tell(wheel)
    if "is not installed, but is linked" in told.stderr:
        pytest.skip(told.stderr)
    assert told.returncode == 0, told.stderr
    return json.loads(Path(f"{wheel}.cdx.json").read_text())


def test_every_locked_package_is_a_component_with_version_licence_and_digests(bill):
    lock = (ROOT / "requirements" / "runtime.lock").read_text()
    locked = set(re.findall(r"^([a-z0-9][a-z0-9.-]*)==([^\s\\;]+)", lock, re.MULTILINE))
    packages = [c for c in bill["components"] if c["purl"].startswith("pkg:pypi/")]
    assert {(c["name"], c["version"]) for c in packages} <= locked
    assert {c["name"] for c in packages} == {name for name, _ in locked}
    for part in packages:
        assert part["licenses"][0].get("expression") or part["licenses"][0]["license"]["name"]
        digests = [d["content"] for r in part["externalReferences"] for d in r["hashes"]]
        assert digests
        assert all(digest in lock for digest in digests)


def test_what_is_linked_statically_is_a_component(bill):
    linked = {c["name"] for c in bill["components"] if c["purl"].startswith("pkg:deb/")}
    assert linked == {"glibc", "libstdc++", "libgcc"}


def test_dependencies_name_only_components_and_reach_all_that_the_wheel_requires(bill):
    known = {c["bom-ref"] for c in bill["components"]}
    own = bill["metadata"]["component"]["bom-ref"]
    needs = {entry["ref"]: entry["dependsOn"] for entry in bill["dependencies"]}
    assert set(needs) == known | {own}
    assert {ref for refs in needs.values() for ref in refs} <= known
    direct = {ref.split("@")[0] for ref in needs[own]}
    assert {"pkg:pypi/click", "pkg:pypi/sqlalchemy"} <= direct


def test_the_same_wheel_gives_the_same_bytes(wheel, bill):
    before = Path(f"{wheel}.cdx.json").read_bytes()
    assert tell(wheel).returncode == 0
    assert Path(f"{wheel}.cdx.json").read_bytes() == before


def test_the_licences_of_all_parts_are_written(wheel, bill):
    text = Path(f"{wheel}.licences.txt").read_text()
    assert "The Apache licence." in text
    for part in bill["components"]:
        assert f"{part['name']} {part['version']}: " in text


SCHEMAS = ROOT / "tests" / "data" / "cyclonedx"


def official() -> Draft7Validator:
    """The official schema of CycloneDX 1.6, with those that it refers to by other names."""
    read = {name: json.loads((SCHEMAS / f"{name}.schema.json").read_text()) for name in NAMES}
    parts = [
        (f"http://cyclonedx.org/schema/{name}.SNAPSHOT.schema.json", schema)
        for name, schema in read.items()
    ]
    registry = Registry().with_contents(parts, default_specification=DRAFT7)
    return Draft7Validator(
        read["bom-1.6"], registry=registry, format_checker=Draft7Validator.FORMAT_CHECKER
    )


def test_the_bill_keeps_the_official_schema(bill):
    assert bill["specVersion"] == "1.6"
    assert [error.message for error in official().iter_errors(bill)] == []


@pytest.mark.parametrize(
    "change",
    [
        lambda bill: bill.pop("bomFormat"),
        lambda bill: bill["components"][0].pop("name"),
        lambda bill: bill["components"][0].update(type="thing"),
        lambda bill: bill["components"][0].update(licenses=[{"license": {"id": "None-1.0"}}]),
        lambda bill: bill["components"][0].update(unknown=1),
        lambda bill: bill.update(serialNumber="7"),
        lambda bill: bill["dependencies"].append(bill["dependencies"][0]),
    ],
)
def test_the_official_schema_refuses_what_is_no_bill(bill, change):
    changed = json.loads(json.dumps(bill))
    change(changed)
    assert list(official().iter_errors(changed))
