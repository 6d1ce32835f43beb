"""`steelyard suite`: real programs to measure with."""

from __future__ import annotations

from collections.abc import Sequence

import click

from steelyard.cli.console.output import terminal_width, write_json, write_note, write_text
from steelyard.cli.options.option_groups import takes
from steelyard.cli.suite.description_files import (
    figure_form,
    progress,
    write_description,
)
from steelyard.cli.suite.suite_options import (
    NAMES,
    AcceptOptions,
    AddOptions,
    BuildOptions,
    DescribeOptions,
    DoctorOptions,
    FetchOptions,
    SuiteListOptions,
    SuiteRunOptions,
)
from steelyard.core.errors import MissingCapabilityError, UsageError

FAILED_STATUS = 3


@click.group("suite", short_help="Real programs to measure with.")
def command() -> None:
    """Fetch, build and run real programs, and measure with them.

    A NAME is a program, such as zstd, or a group: native, io, latency, jvm, in-process, all.
    """


@command.command("list")
@takes(SuiteListOptions)
@NAMES
def list_programs(given: SuiteListOptions, names: tuple[str, ...]) -> None:
    """List the programs: what they are, and where they come from."""
    from steelyard.app.suite.suite_choice import chosen_recipes, input_generators, known_recipes
    from steelyard.report.kinds.suite.document import suite_document
    from steelyard.report.kinds.suite.text import (
        generators_table,
        markdown,
        programs_table,
        table_text,
    )

    generators, as_markdown, json_target = given.generators, given.as_markdown, given.json_target
    if generators and names:
        raise UsageError(
            "--generators lists what makes inputs, and takes no names.", field="--generators"
        )
    if json_target == "-" and (generators or as_markdown):
        flag = "--generators" if generators else "--markdown"
        raise UsageError(
            f"{flag} is of the printed table, and --json - prints a document.", field=flag
        )
    # Without names also those that the user would have to bring.
    recipes = chosen_recipes(names) if names else known_recipes()
    write_json(suite_document(recipes), json_target)
    if json_target == "-":
        return
    table = generators_table(input_generators()) if generators else programs_table(recipes)
    write_text(markdown(table) if as_markdown else table_text(table, terminal_width()))


@command.command("fetch")
@takes(FetchOptions)
@NAMES
def fetch(given: FetchOptions, names: tuple[str, ...]) -> None:
    """Fetch the sources of programs into the cache, and verify them."""
    from steelyard.app.suite.suite_choice import chosen_recipes
    from steelyard.app.suite.suite_fetch import fetch_into_cache, refuse_missing
    from steelyard.report.kinds.suite.document import suite_fetch_document
    from steelyard.report.kinds.suite.text import fetch_table, table_text

    show = progress()
    outcomes, cache = fetch_into_cache(chosen_recipes(names), show)
    show("")
    if given.json_target != "-":
        write_text(table_text(fetch_table(outcomes), terminal_width()))
    refuse_missing(outcomes, cache)
    write_json(suite_fetch_document(outcomes, cache.root), given.json_target)


@command.command("build")
@takes(BuildOptions)
@NAMES
def build(given: BuildOptions, names: tuple[str, ...]) -> int:
    """Build programs, with each compiler and each set of flags, into the cache."""
    from steelyard.app.suite.suite_build import build_programs
    from steelyard.app.suite.suite_choice import chosen_programs
    from steelyard.app.suite.suite_program import Workshop
    from steelyard.report.kinds.suite.document import suite_build_document
    from steelyard.report.kinds.suite.text import build_table, table_text

    show = progress()
    programs = chosen_programs(names, "test", given.cc, given.flags)
    outcomes = build_programs(programs, Workshop(say=show))
    show("")
    write_json(suite_build_document(outcomes), given.json_target)
    if given.json_target != "-":
        write_text(table_text(build_table(outcomes)))
    return _told([(o.recipe.name, o.problem) for o in outcomes if o.problem])


@command.command("run")
@takes(SuiteRunOptions)
@NAMES
def run(given: SuiteRunOptions, names: tuple[str, ...]) -> int:
    """Run programs and check what they write."""
    from steelyard.app.suite.suite_choice import chosen_programs
    from steelyard.app.suite.suite_program import Workshop
    from steelyard.app.suite.suite_run import run_programs
    from steelyard.report.kinds.suite.document import suite_run_document
    from steelyard.report.kinds.suite.text import run_table, table_text

    show = progress()
    programs = chosen_programs(names, given.size, given.cc, given.flags)
    outcomes = run_programs(programs, Workshop(say=show), given.runs, wait=given.wait)
    show("")
    write_json(suite_run_document(outcomes), given.json_target)
    if given.json_target != "-":
        write_text(table_text(run_table(outcomes), terminal_width()))
    status = _told([(o.recipe.name, o.problem) for o in outcomes if o.problem])
    only_missing = all(outcome.missing for outcome in outcomes if outcome.problem)
    return MissingCapabilityError.exit_status if status and only_missing else status


@command.command("accept")
@takes(AcceptOptions)
@NAMES
def accept(given: AcceptOptions, names: tuple[str, ...]) -> None:
    """Run programs once and print what they wrote as checks, for a new recipe."""
    from steelyard.app.suite.suite_choice import chosen_programs
    from steelyard.app.suite.suite_program import Workshop
    from steelyard.app.suite.suite_run import accepted_checks

    workshop = Workshop(say=progress())
    for recipe, asked in chosen_programs(names, given.size, None, ()):
        write_text(accepted_checks(recipe, asked, workshop))


@command.command("describe")
@takes(DescribeOptions)
@NAMES
def describe(given: DescribeOptions, names: tuple[str, ...]) -> int:
    """Describe programs from measurements on this machine.

    Each is run --runs times, once more under the sampler, and once with its allocations counted.
    """
    from steelyard.app.suite.suite_choice import chosen_programs
    from steelyard.app.suite.suite_describe import describe_programs
    from steelyard.app.suite.suite_program import Workshop
    from steelyard.report.kinds.suite.description import description_table
    from steelyard.report.kinds.suite.document import suite_description_document
    from steelyard.report.kinds.suite.text import markdown, table_text

    form = figure_form(given.plot)
    show = progress()
    programs = chosen_programs(names, given.size, given.cc, given.flags)
    found = describe_programs(programs, Workshop(say=show), given.runs, wait=given.wait)
    show("")
    write_json(suite_description_document(found), given.json_target)
    if given.json_target != "-":
        table = description_table(found)
        write_text(markdown(table) if given.as_markdown else table_text(table, terminal_width()))
    about = f"Size {given.size}, {given.runs} runs of each program."
    write_description(found, about, given.page, (given.plot, form))
    for item in found:
        _note_all(item.run.recipe.name, item.notes)
    return _told([(i.run.recipe.name, i.run.problem) for i in found if i.run.problem])


@command.command("add")
@takes(AddOptions)
@click.argument("file", metavar="FILE")
def add(given: AddOptions, file: str) -> None:
    """Take in a recipe of your own, with the folder beside it."""
    from steelyard.app.suite.suite_choice import add_recipe

    recipe = add_recipe(file, replace=given.replace)
    write_text(f"{recipe.name} is known now: {recipe.path}\n")


@command.command("doctor")
@takes(DoctorOptions)
@NAMES
def doctor(given: DoctorOptions, names: tuple[str, ...]) -> int:
    """List what this machine lacks for programs, and the one command that installs it."""
    from steelyard.app.suite.suite_choice import chosen_recipes
    from steelyard.app.suite.suite_doctor import install_command, needs_with
    from steelyard.report.kinds.suite.document import suite_doctor_document
    from steelyard.report.kinds.suite.text import needs_table, table_text

    needs = needs_with(chosen_recipes(names), (given.cc or "").split(","))
    install = install_command(needs)
    write_json(suite_doctor_document(needs, install), given.json_target)
    if given.json_target != "-":
        write_text(table_text(needs_table(needs), terminal_width()))
        told = "Nothing is missing." if install is None else f"Install what is missing: {install}"
        write_text(f"\n{told}\n")
    return 0 if install is None else MissingCapabilityError.exit_status


def _note_all(name: str, notes: Sequence[str]) -> None:
    for note in notes:
        write_note(f"{name}: {note}")


def _told(problems: Sequence[tuple[str, str]]) -> int:
    """Tell every problem on standard error; gives the exit status."""
    for name, problem in problems:
        write_note(f"{name}: {problem}")
    return FAILED_STATUS if problems else 0
