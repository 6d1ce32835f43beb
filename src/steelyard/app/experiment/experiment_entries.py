"""What an experiment file says, entry by entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class BenchmarkEntry:
    """One program: by its command, by its name in the suite, or as a benchmark package.

    `expected_s` is about what one trial takes, for the estimate of the whole. `places` says where
    in the file each of its fields stands. `package` is the archive or folder as the file names it;
    then `command` is empty.
    """

    name: str
    command: str | tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    expected_s: float | None = None
    places: Mapping[str, str] = field(default_factory=dict[str, str])
    package: str = ""


@dataclass(frozen=True)
class FactorEntry:
    """A treatment or nuisance factor: its name in tables, which factor it is, and its levels;
    where in the file its levels stand, and where it is named. `share` is that of its levels which
    are drawn; None is all, as they stand."""

    name: str
    factor: str
    levels: tuple[str, ...]
    options: tuple[tuple[str, int], ...] = ()
    where: str = ""
    texts: tuple[tuple[str, str], ...] = ()
    named: str = ""
    share: float | None = None


@dataclass(frozen=True)
class ConstraintEntry:
    """Where factors have the levels of `when`, they must have those of `require` too; those of
    `forbid` do not go with them."""

    when: Mapping[str, tuple[str, ...]]
    require: Mapping[str, tuple[str, ...]]
    forbid: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class KnownPackages:
    """Benchmark packages that are kept already: in a directory, by their names in the file."""

    directory: str
    digests: Mapping[str, str]


@dataclass(frozen=True)
class ExperimentFile:
    """What an experiment file says, checked for form but not for names of factors.

    With `packages` its packages are those, wherever this is; without, the archives and folders that
    it names are read here.
    """

    path: str
    settings: Mapping[str, Any]
    benchmarks: tuple[BenchmarkEntry, ...]
    factors: tuple[FactorEntry, ...]
    nuisance: tuple[FactorEntry, ...]
    constraints: tuple[ConstraintEntry, ...]
    design: Mapping[str, Any]
    analysis: Mapping[str, Any]
    cause: Mapping[str, Any] = field(default_factory=dict[str, Any])
    events: Mapping[str, Any] = field(default_factory=dict[str, Any])
    hosts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    packages: KnownPackages | None = None
