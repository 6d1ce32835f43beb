"""Writes what a wheel is made of, as CycloneDX 1.6, and the licences of all of it.

``python tools/bill_of_materials.py WHEEL`` makes ``WHEEL.cdx.json`` and ``WHEEL.licences.txt``
beside the wheel. Components are the packages of requirements/runtime.lock, which pip installs with
the wheel, and the libraries that are linked statically into its native parts. The same wheel and
lock give the same bytes. https://cyclonedx.org/docs/1.6/json/
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import uuid
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.parser import HeaderParser
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

LOCK = Path(__file__).parents[1] / "requirements" / "runtime.lock"
# What `-static` and `-static-libstdc++` put into the native parts, by Debian's package.
LINKED = {
    "libc6-dev": ("glibc", "LGPL-2.1-or-later"),
    "libstdc++-12-dev": ("libstdc++", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    "libgcc-12-dev": ("libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1"),
}
_NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # RFC 9562: of URLs.
_PINNED = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s\\;]+)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_CLASSIFIED = re.compile(r"^License :: (?:OSI Approved :: )?(.+)$")


@dataclass(frozen=True)
class Part:
    """One component of the wheel, or beside it."""

    name: str
    version: str
    purl: str
    licence: str
    texts: tuple[str, ...] = ()
    sha256: tuple[str, ...] = ()
    needs: tuple[str, ...] = field(default=())


def normal(name: str) -> str:
    """The name of a package as indexes have it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned_parts() -> Iterator[Part]:
    """The packages of the lock file. Each must be installed, so that its licence is known."""
    text = LOCK.read_text("utf-8")
    places = [*_PINNED.finditer(text)]
    names = {normal(match[1]) for match in places}
    for match, following in zip(places, [*places[1:], None], strict=True):
        block = text[match.end() : following.start() if following else len(text)]
        name, version = normal(match[1]), match[2]
        try:
            found = distribution(match[1])
        except PackageNotFoundError:
            sys.exit(f"bill of materials: {name} is not installed; `make setup` installs the lock.")
        others = [other[2] for other in places if normal(other[1]) == name]
        if found.version != version and found.version in others:
            continue  # The lock has it for other versions of Python.
        if found.version != version:
            sys.exit(f"bill of materials: {name} {found.version} is installed, not {version}.")
        yield Part(
            name,
            version,
            f"pkg:pypi/{name}@{version}",
            licence_of(found),
            tuple(licence_texts(found)),
            tuple(_HASH.findall(block)),
            tuple(sorted(needed_by(found) & names)),
        )


def licence_of(found: Distribution) -> str:
    """What a distribution says of its licence: an expression, a text, or classifiers."""
    told = dict(found.metadata.json)
    expression = told.get("license_expression")
    classified = [m[1] for c in told.get("classifier", ()) if (m := _CLASSIFIED.match(c))]
    line = str(told.get("license", "")).strip().splitlines()[:1]
    licence = str(expression or "") or " AND ".join(classified) or "".join(line)
    if not licence:
        sys.exit(f"bill of materials: {found.name} does not say what its licence is.")
    return licence


def licence_texts(found: Distribution) -> Iterator[str]:
    """The texts of the licences that a distribution brings along."""
    for file in found.files or ():
        if re.match(r"(licen[cs]e|copying|notice)", file.name, re.IGNORECASE):
            text = file.locate()
            if Path(str(text)).is_file():
                yield Path(str(text)).read_text("utf-8", "replace")


def needed_by(found: Distribution) -> set[str]:
    """The packages that a distribution requires, extras left out."""
    plain = (text for text in found.requires or () if "extra ==" not in text)
    return {normal(re.split(r"[^\w.-]", text, maxsplit=1)[0]) for text in plain}


def linked_parts() -> Iterator[Part]:
    """What was linked into the native parts, from the packages of this machine."""
    for package, (name, licence) in LINKED.items():
        form = "${Version}"
        told = subprocess.run(
            ["dpkg-query", "-W", "-f", form, package], capture_output=True, text=True, check=False
        )
        if told.returncode != 0:
            sys.exit(f"bill of materials: {package} is not installed, but is linked.")
        version = told.stdout.strip()
        notice = Path(f"/usr/share/doc/{package}/copyright")
        texts = (notice.read_text("utf-8", "replace"),) if notice.exists() else ()
        yield Part(name, version, f"pkg:deb/debian/{package}@{version}", licence, texts)


def wheel_part(wheel: Path, needs: tuple[str, ...]) -> Part:
    """The wheel itself, by its own metadata."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        told = HeaderParser().parsestr(archive.read(metadata).decode())
        texts = [archive.read(n).decode() for n in names if ".dist-info/licenses/" in n]
    name, version = told["Name"], told["Version"]
    sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
    licence = told["License-Expression"]
    purl = f"pkg:pypi/{name}@{version}"
    return Part(name, version, purl, licence, tuple(texts), (sha256,), needs)


def component(part: Part, kind: str = "library") -> dict[str, Any]:
    """A component of CycloneDX."""
    is_expression = re.fullmatch(r"[A-Za-z0-9.+-]+( (WITH|AND|OR) [A-Za-z0-9.+-]+)*", part.licence)
    licence = {"expression": part.licence} if is_expression else {"license": {"name": part.licence}}
    described: dict[str, Any] = {
        "type": kind,
        "bom-ref": part.purl,
        "name": part.name,
        "version": part.version,
        "purl": part.purl,
        "licenses": [licence],
    }
    # Of a package there are several files, of which pip installs the one that fits.
    references = [{"alg": "SHA-256", "content": digest} for digest in part.sha256]
    if kind == "application":
        described["hashes"] = references
    elif references:
        described["externalReferences"] = [
            {
                "type": "distribution",
                "url": f"https://pypi.org/project/{part.name}/{part.version}/",
                "hashes": references,
            }
        ]
    return described


def bill(own: Part, parts: list[Part]) -> dict[str, Any]:
    """The document."""
    by_name = {part.name: part.purl for part in parts}
    linked = [part.purl for part in parts if part.purl.startswith("pkg:deb/")]
    direct = [by_name[name] for name in own.needs]
    dependencies = [{"ref": own.purl, "dependsOn": sorted([*direct, *linked])}]
    dependencies += [
        {"ref": part.purl, "dependsOn": [by_name[name] for name in part.needs]} for part in parts
    ]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, own.sha256[0])}",
        "version": 1,
        "metadata": {"component": component(own, "application")},
        "components": [component(part) for part in parts],
        "dependencies": dependencies,
    }


def licences(parts: list[Part]) -> str:
    """The licence of each part, with its texts."""
    lines: list[str] = []
    for part in parts:
        lines += [f"{part.name} {part.version}: {part.licence}", "=" * 78, ""]
        lines += [text.strip() + "\n" for text in dict.fromkeys(part.texts)] or ["(no text)\n"]
    return "\n".join(lines)


def main() -> None:
    """The command."""
    wheel = Path(sys.argv[1])
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        told = HeaderParser().parsestr(archive.read(name).decode())
    wanted = {
        normal(re.split(r"[^\w.-]", text, maxsplit=1)[0])
        for text in told.get_all("Requires-Dist") or ()
        if "extra ==" not in text
    }
    parts = [*pinned_parts(), *linked_parts()]
    missing = wanted - {part.name for part in parts}
    if missing:
        sys.exit(f"bill of materials: {', '.join(sorted(missing))} is required but not locked.")
    own = wheel_part(wheel, tuple(sorted(wanted)))
    document = json.dumps(bill(own, parts), indent=1, ensure_ascii=False) + "\n"
    Path(f"{wheel}.cdx.json").write_text(document, "utf-8")
    Path(f"{wheel}.licences.txt").write_text(licences([own, *parts]), "utf-8")
    print(f"bill of materials: {len(parts)} components of {wheel.name}, and their licences")


if __name__ == "__main__":
    main()
