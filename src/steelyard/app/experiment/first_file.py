"""Experiment files to begin with: each says in comments what its fields are for."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from steelyard.core.errors import UsageError

_HEAD = """\
# {title}
# steelyard experiment plan {path}    says what will run, and for how long
# steelyard experiment run {path}     runs it; `steelyard report` then shows the answer

[experiment]
runs = {runs}                       # blocks; or precision = "1%", or budget = "10min"
metrics = ["wall_time"]         # the first is analysed; user_time, max_rss, cycles ...
# seed = 4                      # the same seed gives the same plan

[[benchmark]]
{benchmark}
# expected_s = 1.5              # seconds of one trial: `plan` then says how long all takes
"""
_BUILT = """\
command = {command}
build = {build}   # run in a directory of its own, which {{build}} stands for
source = {source}                    # copied there first
shell = true                    # so that $CFLAGS is that of the experiment"""
_KINDS = {
    "flags": (
        "Do other compiler flags make the program faster?",
        10,
        """
[[factor]]                      # compared: every combination of levels
name = "optimisation"
factor = "flags"
levels = ["-O2", "-O3"]         # the first level is the baseline

[[nuisance]]                    # randomised, because nobody wants its effect
factor = "environment-size"
maximum = 4096

[analysis]
method = "anova"                # `steelyard analyze --help` lists the others
""",
    ),
    "setups": (
        "Does the time depend on how the program is started?",
        10,
        """
[[factor]]                      # compared: every combination of levels
factor = "environment-size"     # bytes of environment, which move the stack
levels = [0, 2048, 4096]        # the first level is the baseline

[[nuisance]]                    # randomised, because nobody wants its effect
factor = "stack-start"
levels = [0, 1024, 2048]

[analysis]
method = "anova"                # `steelyard analyze --help` lists the others
""",
    ),
    "screening": (
        "Which of many factors matter at all?",
        4,
        """
[design]
kind = "plackett-burman"        # few combinations for many factors of two levels

[[factor]]
factor = "environment-size"
levels = [0, 4096]

[[factor]]
factor = "stack-start"
levels = [0, 1024]

[[factor]]
factor = "aslr"
levels = ["on", "off"]

[[factor]]
factor = "warm-up-runs"
levels = [0, 1]

[analysis]
method = "screening"            # names the factors that deserve a full design; then
                                # steelyard experiment analyze --follow-up NEW.toml
""",
    ),
}
KINDS = tuple(_KINDS)


def first_file(path: str, kind: str, command: Sequence[str]) -> str:
    """The text of an experiment file of a kind.

    Parameters
    ----------
    path : str
        What it will be called, for the commands in its comments.
    kind : str
        One of `KINDS`.
    command : sequence of str
        The program and its arguments; empty: a program to be filled in, which runs as it stands.

    Raises
    ------
    UsageError
        There is a file of that name.
    """
    if os.path.lexists(path):
        raise UsageError(f"{path} is there already. Name another file.", field="FILE.toml")
    title, runs, rest = _KINDS[kind]
    benchmark = f"command = {_toml(list(command) or ['sleep', '0.1'])}"
    if kind == "flags":
        benchmark = _built(command)
    return _HEAD.format(title=title, path=path, runs=runs, benchmark=benchmark) + rest


def _built(command: Sequence[str]) -> str:
    """A benchmark that is built from the directory in which the file stands."""
    words = " ".join(command) or "{build}/program"
    build = "make" if command else "${CC:-cc} $CFLAGS *.c -o program"
    return _BUILT.format(command=_toml(words), build=_toml(build), source=_toml("."))


def _toml(value: str | list[str]) -> str:
    return json.dumps(value, ensure_ascii=False)
