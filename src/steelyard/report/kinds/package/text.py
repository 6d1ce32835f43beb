"""What was made, found and measured of benchmark packages, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from steelyard.core.units import format_value

if TYPE_CHECKING:
    from steelyard.service.package.archive import Package
    from steelyard.service.package.package_faults import PackageFaults

_SHOWN_DIGEST = 12


def init_text(folder: str, package: Package) -> str:
    """The files of the new package, and what may be done next."""
    files = ", ".join(member.path for member in package.members)
    return (
        f"{folder}: {files}\n"
        f"steelyard package check {folder}   # what the service would refuse\n"
        f"steelyard package run {folder}     # run it here as a worker does\n"
        f"tar -czf {folder.rstrip('/')}.tar.gz -C {folder} .   # what is sent\n"
    )


def check_text(source: str, package: Package | None, found: PackageFaults) -> str:
    """Each fault and each note on a line, after what the package is."""
    return "".join(f"{line}\n" for line in _check_lines(source, package, found))


def _check_lines(source: str, package: Package | None, found: PackageFaults) -> Iterator[str]:
    if package is not None:
        count = sum(member.kind == "file" for member in package.members)
        size = format_value(float(package.size_bytes), "bytes")
        yield f"{source}: package {package.digest[:_SHOWN_DIGEST]}, {count} files, {size}"
    for fault in found.faults:
        yield f"fault: {fault.message}"
    for note in found.notes:
        yield f"note: {note.message}"
    if not found.faults:
        yield "The service takes it."


def metrics_text(rows: Sequence[tuple[str, str, str, str, Sequence[Sequence[float]]]]) -> str:
    """Metrics of archives of results: variant, name, unit, file, and the values of each trial."""
    if not rows:
        return ""
    lines = ["in the archives of results:"]
    for variant, name, unit, file, trials in rows:
        means = [fmean(values) for values in trials]
        low, high = min(means), max(means)
        lines.append(
            f"  {variant}  {name}  {format_value(fmean(means), unit)} "
            f"({format_value(low, unit)} to {format_value(high, unit)}, {len(means)} trials, "
            f"{sum(map(len, trials))} values)  {file}"
        )
    return "\n".join(lines) + "\n"
