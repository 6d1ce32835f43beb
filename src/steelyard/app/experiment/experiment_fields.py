"""The fields of experiment files: the one declaration of them.

The schema that `steelyard experiment schema` prints, what the reader knows, and the table in
docs/commands/experiment.md are made from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.allocation.hosts_asked import BUILDS
from steelyard.allocation.worker_facts import REBOOTS
from steelyard.app.experiment.field_types import (
    Field,
    Table,
    anything,
    choice,
    flag,
    inner,
    list_of,
    mapping_of,
    scalar,
    text,
    text_or_number,
    whole,
)

DESIGN_KINDS = (
    "full-factorial", "fractional-factorial", "plackett-burman", "latin-square", "d-optimal"
)  # fmt: skip
_LEVEL = scalar("text, a number, or true and false for on and off")
_CHOICES = mapping_of(
    "factors with a level or a list of levels each",
    {
        "description": "a level or a list of levels",
        "type": ["string", "number", "boolean", "array"],
        "minItems": 1,
        "items": _LEVEL,
    },
    minProperties=1,
)
# The fields of factors that set something by commands of the user's own, or on the machine.
FACTOR_TEXTS = (
    Field("set", text("the command that sets a level of a factor of yours")),
    Field("get", text("the command that prints the level")),
    Field("undo", text("the command that undoes it")),
    Field("cpus", text("the CPUs that it is about")),
    Field("services", text("the services that it is about")),
)
_POWER = inner(
    '{change = "1%", variation = "0.8%"} and, if you like, effect and probability',
    Field("effect", text("the name of a factor")),
    Field("change", text_or_number('a share such as "1%", of the mean'), is_required=True),
    Field(
        "variation",
        text_or_number(
            'a share such as "0.8%": the variation of a trial, as `steelyard measure` tells it'
        ),
        is_required=True,
    ),
    Field("probability", text_or_number('a share such as "80%"')),
)
# Named as the options of `steelyard package run`.
PACKAGE_OPTIONS = inner(
    'options of its environment, such as {memory = "1GiB", network = true}',
    Field("environment", choice('"contained" or "trusted"', "contained", "trusted")),
    Field("network", flag()),
    Field("image", text("a folder such as ./root, or the name of an image")),
    Field("memory", text_or_number('a size such as "1GiB"')),
    Field("disk", text_or_number('a size such as "1GiB"')),
    Field("inodes", whole(1)),
    Field("processes", whole(1)),
    Field("setup_timeout", text_or_number('a time such as "10min"')),
)
EXPERIMENT = Table(
    "experiment",
    (
        Field("name", text()),
        Field("seed", whole(0)),
        Field("runs", whole(1), "blocks; 30 unless something else ends the experiment"),
        Field("precision", text_or_number('the half-width at which to stop, such as "1%"')),
        Field(
            "effect",
            text(
                "the factor, or the interaction A:B of two-level ones, whose ratio is to be that "
                "precise"
            ),
        ),
        Field("power", _POWER, "chooses the number of blocks"),
        Field(
            "budget",
            text_or_number('a time such as "30min" or a number of trials such as "500runs"'),
        ),
        Field("metrics", list_of("a list of metrics; the first is analysed", text())),
        Field(
            "repeat",
            inner("executions in a block, such as {execution = 3}", Field("execution", whole(1))),
        ),
        Field("warmup", whole(0), "runs of each combination that are not counted"),
        Field("confidence", text_or_number('a share such as "95%"')),
        Field("timeout", text_or_number('a time such as "10s"'), "a longer trial has failed"),
        Field("iterations", text("how the harness writes its iterations")),
        Field("quiet", list_of("a list of what to make quiet", text())),
        Field("order", choice('"blocks" or "sequential"', "blocks", "sequential")),
        Field(
            "setup_each",
            choice('"block" or "trial"', "block", "trial"),
            "how often levels of nuisance factors are drawn",
        ),
    ),
)
BENCHMARK = Table(
    "benchmark",
    (
        Field("name", text(), "the command unless given"),
        Field(
            "command",
            {
                "description": "text, or a list of words",
                "type": ["string", "array"],
                "minLength": 1,
                "minItems": 1,
                "items": {"description": "text", "type": "string"},
            },
            "this, `program` or `package`",
        ),
        Field(
            "program",
            {
                "description": 'a name such as "suite:zstd"',
                "type": "string",
                "pattern": "^suite:",
            },
            "this, `command` or `package`",
        ),
        Field(
            "package",
            text("an archive or a folder"),
            "this, `command` or `program`: a [benchmark package](package.md); from the folder of "
            "the file, or else from the working directory",
        ),
        Field("package_options", PACKAGE_OPTIONS, "as the options of [package run](package.md)"),
        Field("shell", flag(), "run the command by /bin/sh"),
        Field("build", text("the build command"), "as `--build` of [compare](compare.md)"),
        Field(
            "source",
            text("a directory"),
            "as `--build-source` of [compare](compare.md); from the folder of the file, or else "
            "from the working directory",
        ),
        Field(
            "environment",
            mapping_of(
                'variables with their values, such as {LANG = "C"}',
                {"description": "text", "type": ["string", "number"]},
            ),
        ),
        Field("directory", text("a directory"), "where each trial runs"),
        Field("stdin", text("a file")),
        Field("prepare", text("a command"), "before each trial, untimed"),
        Field("cleanup", text("a command"), "after each trial, untimed"),
        Field("setup", text("a command"), "once, before the first trial"),
        Field(
            "expected_s",
            {"description": "a number above 0", "type": "number", "exclusiveMinimum": 0},
            "seconds of one trial, for the estimate of `plan`",
        ),
        Field(
            "exit_codes",
            list_of("a list of exit codes", whole(0, maximum=255), 1),
            "those that count as success; 0 unless given",
        ),
    ),
    about="a program",
    least_count=1,
    either=("command", "program", "package"),
)
FACTOR = Table(
    "factor",
    (
        Field("name", text(), "of its column; the factor's own unless given"),
        Field("factor", text("the name of a factor"), is_required=True),
        Field(
            "levels",
            list_of("a list of two levels or more, each once", _LEVEL, 2, uniqueItems=True),
            is_required=True,
        ),
        Field(
            "share",
            text_or_number('a share such as "75%", from 0% to 100%'),
            "of the levels, drawn from the seed and rounded up; 0% is one level",
        ),
        *FACTOR_TEXTS,
    ),
    about="a factor",
)
NUISANCE = Table(
    "nuisance",
    (
        Field("name", text(), "of its column; the factor's own unless given"),
        Field("factor", text("the name of a factor"), is_required=True),
        Field("levels", list_of("a list of levels", _LEVEL, 1), "to draw from"),
        *FACTOR_TEXTS,
    ),
    about="a factor that is randomised",
    others={
        "description": "a whole number: an option of how the factor draws",
        "type": "integer",
    },
)
CONSTRAINT = Table(
    "constraint",
    (
        Field("when", _CHOICES, is_required=True),
        Field("require", _CHOICES, "this or `forbid`"),
        Field("forbid", _CHOICES, "this or `require`"),
    ),
    about="a constraint",
    either=("require", "forbid"),
)
DESIGN = Table(
    "design",
    (
        Field("kind", choice(", ".join(DESIGN_KINDS), *DESIGN_KINDS), "the first unless given"),
        Field("generators", list_of('a list such as ["E = A:B:C"]', text()), "of a fraction"),
        Field("fraction", whole(1, "p of a fraction of one in 2^p, from 1 on")),
        Field("folded", flag(), "of `plackett-burman`"),
        Field("points", whole(1, "combinations of a d-optimal design, a whole number from 1 on")),
        Field(
            "interactions",
            whole(
                1,
                "the most factors in an interaction that a d-optimal design tells, a whole number "
                "from 1 on",
            ),
        ),
    ),
)
ANALYSIS = Table(
    "analysis",
    (
        Field("method", text("the name of an analysis"), "`anova` unless given"),
        Field("response", text("the name of a metric"), "the first unless given"),
        Field("factors", list_of("a list of factors", text()), "all that was varied unless given"),
        Field("quantiles", list_of("a list of shares", text_or_number("a share such as 0.9"), 1)),
        Field(
            "rows",
            choice('"trials" or "iterations"', "trials", "iterations"),
            "what a row of the table is",
        ),
        Field(
            "options",
            mapping_of(
                "options of the method, such as {interactions = 2}", scalar("text or a number")
            ),
        ),
    ),
)
CAUSE = Table(
    "cause",
    (
        Field("factor", anything("what is said to cause the effect")),
        Field("levels", anything("its levels"), "these or `draw`"),
        Field("draw", anything("how it draws levels"), "this or `levels`"),
        Field(
            "intervention",
            anything("factors that are held, with their levels"),
            "this or `command`",
        ),
        Field("command", anything("the program with the intervention built in")),
        Field("response", anything("a metric")),
        Field("intermediate", anything("a metric that stands between cause and effect")),
        Field("tolerance", anything("the share of the variance that may be left")),
        Field("margin", anything("a change that does not matter, relative to the mean")),
    ),
)
EVENTS = Table(
    "events",
    (
        Field("record", anything("what to record")),
        Field("functions", anything("functions to probe")),
        Field("probes", anything("probes to use")),
        Field("stacks", anything("whether to record call stacks")),
        Field(
            "paths",
            anything(
                "a map of call paths, instead of stacks; from the folder of the file, or else "
                "from the working directory"
            ),
        ),
        Field("log", anything("a log that the program writes")),
        Field("response", anything("a metric")),
        Field("most", anything("the most events")),
        Field("correction", anything("for many kinds of events")),
    ),
)
HOSTS = Table(
    "hosts",
    (
        Field(
            "require",
            anything('facts of hosts, such as {architecture = "x86_64", memory = ">= 8GiB"}'),
        ),
        Field(
            "factors",
            anything(
                'factors of hosts with a share or a list of levels, such as {platform = "50%"}'
            ),
        ),
        Field("replicates", anything("blocks on each worker"), "`runs` unless given"),
        Field("workers", anything('how many workers: a number, "2-8" or "2-"')),
        Field(
            "redundant",
            anything('a share of the blocks, such as "20%"'),
            "that another worker of the same platform repeats, each as a replicate of its own",
        ),
        Field(
            "reboot",
            choice('"never", "experiment", "block" or "trial"', *REBOOTS),
            "before what a host is booted anew; only hosts that can be booted are asked",
        ),
        Field(
            "builds",
            choice('"worker" or "platform"', *BUILDS),
            "who builds: each worker for itself, or one for all of its platform",
        ),
        Field("time_limit", text_or_number('a time such as "2h"'), "from when it was sent"),
        Field("cost_limit", text_or_number('a time such as "10h"'), "of all workers together"),
    ),
)
TABLES = (
    EXPERIMENT, BENCHMARK, FACTOR, NUISANCE, CONSTRAINT, DESIGN, ANALYSIS, CAUSE, EVENTS, HOSTS
)  # fmt: skip


def experiment_schema() -> dict[str, Any]:
    """The JSON Schema of experiment files, draft 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "experiment-file.json",
        "title": "An experiment file (TOML)",
        "description": "What to vary, what to randomise and what to measure.",
        "type": "object",
        "required": [table.name for table in TABLES if table.least_count],
        "additionalProperties": False,
        "properties": {table.name: table.schema() for table in TABLES},
    }


def field_rows() -> list[str]:
    """The table of all fields, as lines of Markdown."""
    return rows_of(TABLES)


def rows_of(tables: Sequence[Table]) -> list[str]:
    """The table of the fields of some tables, as lines of Markdown."""
    rows = ["| table | field | takes |", "|---|---|---|"]
    for table in tables:
        name = f"[[{table.name}]]" if table.about else f"[{table.name}]"
        for field in table.fields:
            words = [_escaped(field.takes["description"])]
            words += ["required"] if field.is_required else []
            words += [field.note] if field.note else []
            rows.append(f"| `{name}` | `{field.name}` | {'; '.join(words)} |")
        if table.others is not None:
            rows.append(f"| `{name}` | any other | {_escaped(table.others['description'])} |")
    return rows


def _escaped(words: str) -> str:
    return words.replace("|", "\\|")
