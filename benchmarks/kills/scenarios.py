"""What is running when it is killed: measurements, recordings, checks, studies, quiet sessions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from steelyard.host.knob import Request
from steelyard.host.properties import KNOBS
from steelyard.host.system import Host

PROGRAM = """#!/bin/sh
sleep 0.02
echo . >> {log}
"""
# Busy for half a second, in a function of its own.
SPINNING = """
__attribute__((noinline)) unsigned long spin(long n) {
    unsigned long x = 1;
    for (long i = 0; i < n; i++) { x = x * 2862933555777941757UL + 1; __asm__("" : "+r"(x)); }
    return x;
}
int main(void) { return (int)(spin(150000000) & 0); }
"""
RUNS = 8


@dataclass(frozen=True)
class Scenario:
    """One thing that is killed.

    Parameters
    ----------
    name : str
    arguments : callable
        From the home of the user to the words after ``steelyard``.
    part : str
        The native part that is killed in its stead; empty for Steelyard itself.
    trials : int
        How many trials it has when it is whole; 0 where it keeps none.
    lasts_s : float
        Kills come within this time where it has no trials.
    """

    name: str
    arguments: Callable[[Path], list[str]]
    part: str = ""
    trials: int = 0
    lasts_s: float = 2.0


def _compare(home: Path, *options: str) -> list[str]:
    program = str(home / "program")
    return ["compare", *options, "--runs", str(RUNS), program, f"{program} again"]


def _study(home: Path, *words: str) -> list[str]:
    return ["experiment", *words, "--runs", "3", "--", str(home / "program")]


def _spinning(home: Path) -> str:
    return str(home / "spinning")


def _events(home: Path) -> list[str]:
    return _study(home, "events", "--record", "sched")


CAUSE = ("cause", "--factor", "environment-size", "--levels", "16,200", "--intervene", "aslr=off")


def scenarios() -> list[Scenario]:
    """All of them that work on this machine, each knob of it included."""
    host, request = Host(), Request()
    knobs = [
        knob.name
        for knob in KNOBS
        if knob.changes_host and knob.available(host, request) is None and knob.name != "services"
    ]
    found = [
        Scenario("measurement", _compare, trials=2 * RUNS),
        Scenario("launcher", _compare, "launcher", trials=2 * RUNS),
        Scenario(
            "sampler",
            lambda home: ["profile", "record", "-o", str(home / "profile"), "--", _spinning(home)],
            "sampler",
            lasts_s=1.0,
        ),
        Scenario("event recorder", _events, "events", trials=6),
        Scenario(
            "profile check",
            lambda home: ["profile", "check", "--profiler", "steelyard", "--", _spinning(home)],
            lasts_s=4.0,
        ),
        Scenario("experiment cause", lambda home: _study(home, *CAUSE), trials=2 * 2 * 3),
    ]
    for name in knobs:
        found.append(
            Scenario(
                f"host quiet, {name}",
                lambda home, name=name: _compare(home, "--knob", name),
                trials=2 * RUNS,
            )
        )
    return found
