"""How a trial of a benchmark package ended, with what its container has met."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def package_ending(
    package: Mapping[str, Any], details: dict[str, Any], ending: tuple[Any, Any]
) -> tuple[Any, Any]:
    """Status and reason of a trial that ended with `ending`, by what its package left.

    Parameters
    ----------
    package : mapping
        As `package_results.found_package` gives it.
    details : dict
        Of the trial; they are added to.
    """
    status, reason = ending
    details["package"] = package
    if package.get("leftover_processes"):
        details["leftover_processes"] = package["leftover_processes"]
    problem = package.get("problem")
    if problem is not None and (status == "ok" or reason == "cleanup"):
        status, reason = "failed", "cleanup"
        details["error"] = problem
    met = _limits_met(package)
    if status != "ok" and met:
        details["error"] = f"{details.get('error', '')} {met}".strip()
    return status, reason


def _limits_met(package: Mapping[str, Any]) -> str:
    """Which limits of its container a trial ran against, in sentences."""
    met: list[str] = []
    if package.get("refused_forks"):
        met.append(f"Its container refused {package['refused_forks']} new processes.")
    if package.get("memory_kills"):
        met.append(f"Its container ended {package['memory_kills']} processes for want of memory.")
    if package.get("full"):
        met.append(str(package["full"]).strip())
    return " ".join(met)
