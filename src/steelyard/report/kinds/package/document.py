"""The documents on benchmark packages: `package-init` and `package-check`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from steelyard.report.documents.schema_version import SCHEMA

if TYPE_CHECKING:
    from steelyard.service.package.archive import Package
    from steelyard.service.package.package_faults import PackageFaults
    from steelyard.service.package.script_faults import Fault


def package_init_document(folder: str, package: Package) -> dict[str, Any]:
    """The document of kind ``package-init``: the folder that was made and what is in it."""
    return {
        "schema": SCHEMA,
        "kind": "package-init",
        "folder": folder,
        "package": _package(package),
    }


def package_check_document(
    source: str, package: Package | None, found: PackageFaults
) -> dict[str, Any]:
    """The document of kind ``package-check``; `package` is None where it cannot be read."""
    return {
        "schema": SCHEMA,
        "kind": "package-check",
        "source": source,
        "passed": not found.faults,
        "package": None if package is None else _package(package),
        "faults": _faults(found.faults),
        "notes": _faults(found.notes),
    }


def _faults(faults: Sequence[Fault]) -> list[dict[str, str]]:
    return [fault._asdict() for fault in faults]


def _package(package: Package) -> dict[str, Any]:
    return {
        "digest": package.digest,
        "size_bytes": package.size_bytes,
        "has_setup": package.has_setup,
        "has_env": package.has_env,
        "members": [
            {
                "path": member.path,
                "kind": member.kind,
                "size_bytes": member.size_bytes,
                "executable": member.is_executable,
            }
            for member in package.members
        ],
    }
