"""`steelyard fc`: gfortran, for programs that move while they run."""

from __future__ import annotations

import click

from steelyard.cli.layout.cc_command import DRIVER_SETTINGS
from steelyard.cli.layout.compiler_drivers import call_driver


@click.command("fc", context_settings=DRIVER_SETTINGS, add_help_option=False)
@click.argument("arguments", metavar="ARGUMENTS...", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> int:
    """Compile and link Fortran as gfortran does; the program's code and heap move while it runs.

    All options are gfortran's, but --layout, --layout-interval and --layout-seed.
    """
    return call_driver("fc", arguments)
