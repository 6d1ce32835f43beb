"""From the values of options to what the use cases take."""

from __future__ import annotations

from typing import Any

from steelyard.app.experiment.weigh import Gate
from steelyard.app.request.build_request import BuildRequest
from steelyard.app.request.command_text import is_suite_name, parse_environment, split_command
from steelyard.app.request.experiment_request import Request
from steelyard.app.request.level_request import RequestedLevels, requested_levels
from steelyard.app.running import Place, told_place
from steelyard.cli.console.hidden import hide
from steelyard.cli.console.output import write_note
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_budget, parse_cpus, parse_duration, parse_ratio
from steelyard.core.recorded_names import names_secret
from steelyard.core.stopping_spec import StoppingSpec, StoppingUntil
from steelyard.store.location import store_path

DEFAULT_BUDGET = "10min"


def stopping_from(
    precision: str | None,
    budget: str | None,
    runs: int | None,
    min_runs: int | None,
    until: StoppingUntil = "precision",
) -> StoppingSpec:
    """The rule to stop that the options ask for; `until` where they ask for none."""
    if runs is not None and (precision or min_runs):
        raise UsageError(
            "--runs fixes the number of runs; it does not go with --precision or --min-runs.",
            field="--runs",
        )
    budget_s, budget_runs = parse_budget(budget or DEFAULT_BUDGET, "--budget")
    if runs is not None and budget is None:
        budget_s = None
    default = StoppingSpec()
    return StoppingSpec(
        precision_ratio=parse_ratio(precision, "--precision")
        if precision
        else default.precision_ratio,
        minimum_blocks=min_runs or default.minimum_blocks,
        budget_s=budget_s,
        budget_runs=budget_runs,
        runs=runs,
        until="precision" if precision else until,
    )


def request_from(
    commands: tuple[tuple[str, ...], ...],
    values: dict[str, Any],
    until: StoppingUntil = "precision",
) -> Request:
    """The request that a call's options and commands make.

    Variants that run one after the other cannot end by their verdicts: the baseline's runs are
    over before the first of another one.
    """
    if values["order"] == "sequential":
        until = "precision"
    levels = requested_levels(
        values["levels"],
        values["repeat"],
        builds=builds_asked(commands, values),
        # Whether a program of the suite writes iterations, its recipe says.
        iterations=values["iterations"] is not None or any(is_suite_name(c[0]) for c in commands),
    )
    dimensioned = values.get("dimensioned", False)
    if dimensioned and values["repeat"]:
        raise UsageError(
            "--dimensioned takes the counts from the store; it does not go with --repeat.",
            field="--dimensioned",
        )
    hide(value for name, value in parse_environment(values["environment"]) if names_secret(name))
    quiet = values["knobs"] or (("default",) if values["quiet"] else ())
    return Request(
        commands=commands,
        timeout_s=_duration(values["timeout"], "--timeout"),
        cpus=None if values["cpus"] is None else parse_cpus(values["cpus"], "--cpus"),
        exit_codes=values["exit_codes"] or (0,),
        stopping=_levelled_stopping(levels, values, until),
        levels=levels,
        dimensioned=dimensioned,
        build=BuildRequest(
            commands=values["build_commands"],
            sources=values["build_sources"],
            randomize=tuple((values["randomize"] or "").split(",")) if values["randomize"] else (),
            timeout_s=_duration(values["build_timeout"], "--build-timeout"),
            cc=values["cc"],
            cxx=values["cxx"],
            ld=values["ld"],
        ),
        confidence=parse_ratio(values["confidence"], "--confidence"),
        margin_ratio=parse_ratio(values["margin"], "--margin"),
        quiet=tuple(quiet),
        **{
            name: values[name]
            for name in (
                "shell",
                "names",
                "prepare",
                "cleanup",
                "setup",
                "environment",
                "environment_padding_bytes",
                "recorded_environment",
                "directory",
                "stdin_file",
                "parameters",
                "layouts",
                "metrics",
                "order",
                "warmup_count",
                "method",
                "seed",
                "note",
                "iterations",
                "benchmark",
                "warmup_iteration_count",
            )
        },
    )


def builds_asked(commands: tuple[tuple[str, ...], ...], values: dict[str, Any]) -> bool:
    """Whether there are builds that may be repeated: by command, or of programs of the suite."""
    if values["build_commands"]:
        return True
    asked = any(text.startswith("build=") for text in values["repeat"]) or values["randomize"]
    return bool(asked) and is_suite_name(commands[0][0])


def _duration(text: str | None, option: str) -> float | None:
    return None if text is None else parse_duration(text, option)


def _levelled_stopping(
    levels: RequestedLevels, values: dict[str, Any], until: StoppingUntil
) -> StoppingSpec:
    """The rule to stop; a count of the highest level is a fixed number of runs."""
    runs = values["runs"]
    if levels.top_count is not None:
        option = f"--repeat {levels.top_level}={levels.top_count}"
        for other in ("runs", "precision", "min_runs"):
            if values[other] is not None:
                name = f"--{other.replace('_', '-')}"
                raise UsageError(
                    f"{option} fixes the repetitions of the highest level; it does not go with "
                    f"{name}.",
                    field="--repeat",
                )
        runs = levels.top_count
    return stopping_from(values["precision"], values["budget"], runs, values["min_runs"], until)


def split_commands(texts: tuple[str, ...], shell: bool) -> tuple[tuple[str, ...], ...]:
    """Commands as argument vectors; with a shell each stays one string."""
    if shell:
        return tuple((text,) for text in texts)
    return tuple(
        (text,) if is_suite_name(text) else split_command(text, "command") for text in texts
    )


def place_from(values: dict[str, Any]) -> Place:
    """Where the experiment is kept."""
    return told_place(store_path(values["store"]), values.get("wait", False), write_note)


def parse_gate(text: str | None) -> Gate | None:
    """A gate from ``slower`` or ``slower:2%``."""
    if text is None:
        return None
    verdict, separator, share = text.partition(":")
    if verdict not in ("slower", "faster"):
        raise UsageError(
            f"--fail-if takes slower or faster, or slower:2%; it got {text!r}.", field="--fail-if"
        )
    return Gate(verdict, parse_ratio(share, "--fail-if") if separator else 0.0)
