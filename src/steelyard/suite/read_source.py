"""Reading where a recipe's source comes from."""

from __future__ import annotations

import os
import re

from steelyard.suite.recipe import SOURCE_KINDS, Artifact, Patch, Release, Source
from steelyard.suite.recipe_table import Table

_SHA256 = re.compile(r"[0-9a-f]{64}")
# How the archives name what they offer; another name is given with `file`.
_USUAL_FILES = {
    "crates": "{0}-{1}.crate",
    "pypi": "{0}-{1}.tar.gz",
    "npm": "{0}-{1}.tgz",
}


def read_source(table: Table, folder: str) -> Source:
    """The ``[source]`` of a recipe whose own files lie in `folder`.

    Raises
    ------
    DataError
        A field is unknown, missing or wrong; the message names it.
    """
    kind = table.choice("kind", SOURCE_KINDS)
    source = Source(
        kind=kind,
        package=table.text("package") if kind == "debian" else "",
        releases=_releases(table, kind),
        patches=tuple(_patch(item, folder) for item in table.tables("patches")),
        shared=table.texts("shared", ()),
        variable=table.text("variable") if kind == "user" else "",
        advice=table.text("advice") if kind == "user" else "",
    )
    table.end()
    for name in source.shared:
        if not os.path.isdir(os.path.join(shared_directory(), name)):
            raise table.wrong("shared", f"folders in {shared_directory()}", name)
    if kind == "own" and not os.path.isdir(folder):
        raise table.wrong("kind", f"own with a folder {folder}", kind)
    return source


def shared_directory() -> str:
    """Where sources lie that several recipes take along."""
    return os.path.join(os.path.dirname(__file__), "shared")


def _releases(table: Table, kind: str) -> tuple[Release, ...]:
    if kind == "debian":
        found = tuple(_debian_release(item) for item in table.tables("releases"))
        if not found:
            raise table.wrong("releases", "a list of versions with their files", [])
        return found
    if kind in ("own", "user"):
        return (Release(table.text("version", "1"), ()),)
    artifacts = tuple(_artifact(item, kind) for item in table.tables("artifacts"))
    if not artifacts:
        raise table.wrong("artifacts", "a list of what is fetched", [])
    return (Release(artifacts[0].coordinates[-1 if kind != "maven" else 2], artifacts),)


def _debian_release(table: Table) -> Release:
    artifacts = tuple(_debian_file(item) for item in table.tables("files"))
    release = Release(table.text("version"), artifacts)
    names = [artifact.file for artifact in artifacts]
    if not release.is_tarball and sum(name.endswith(".dsc") for name in names) != 1:
        wanted = "the files of a source package, one of them .dsc, or its .orig.tar alone"
        raise table.wrong("files", wanted, names)
    table.end()
    return release


def _debian_file(table: Table) -> Artifact:
    found = Artifact(_file_name(table), _digest(table), table.whole("size"), (), "src")
    table.end()
    return found


def _artifact(table: Table, kind: str) -> Artifact:
    size_bytes = table.whole("size", None)
    if kind == "maven":
        coordinates = (table.text("group"), table.text("artifact"), table.text("version"))
        classifier = table.text("classifier", "")
        coordinates += (classifier,) if classifier else ()
        usual = "-".join(coordinates[1:]) + ".jar"
        into = table.text("into", "jars")
    else:
        coordinates = (table.text("package"), table.text("version"))
        last = coordinates[0].rpartition("/")[2]
        usual = _USUAL_FILES[kind].format(last, coordinates[1])
        into = table.text("into", "src")
    file = _file_name(table, usual)
    found = Artifact(file, _digest(table), size_bytes, coordinates, into)
    table.end()
    return found


def _file_name(table: Table, *usual: str) -> str:
    file = table.text("file", *usual)
    if "/" in file or file.startswith("."):
        raise table.wrong("file", "the name of a file, without a directory", file)
    return file


def _digest(table: Table) -> str:
    digest = table.text("sha256")
    if not _SHA256.fullmatch(digest):
        raise table.wrong("sha256", "64 hexadecimal digits", digest)
    return digest


def _patch(table: Table, folder: str) -> Patch:
    patch = Patch(table.text("file"), table.text("reason"))
    table.end()
    if not os.path.isfile(os.path.join(folder, patch.file)):
        raise table.wrong("file", f"a file in {folder}", patch.file)
    return patch
