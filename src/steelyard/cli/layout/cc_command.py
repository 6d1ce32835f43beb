"""`steelyard cc`: clang for C, for programs that move while they run."""

from __future__ import annotations

import click

from steelyard.cli.layout.compiler_drivers import call_driver

DRIVER_SETTINGS = {
    "ignore_unknown_options": True,
    "allow_interspersed_args": False,
    "help_option_names": [],
}


@click.command("cc", context_settings=DRIVER_SETTINGS, add_help_option=False)
@click.argument("arguments", metavar="ARGUMENTS...", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> int:
    """Compile and link C as clang does; the program's code, stack and heap move while it runs.

    All options are clang's, but --layout, --layout-interval and --layout-seed.
    """
    return call_driver("cc", arguments)
