"""Options of the same name and meaning in many commands; each call gives a field of its own."""

from __future__ import annotations

import click

from steelyard.cli.console.masked_values import show_secrets
from steelyard.cli.options.option_groups import option


def store_option(
    help_text: str = "The store (default: in the user's data directory).",
) -> str | None:
    """The file of the store."""
    return option("--store", metavar="FILE", help=help_text)


def json_option(help_text: str = "Write JSON to FILE; - prints.") -> str | None:
    """Where the answer goes as JSON."""
    return option("--json", metavar="FILE", help=help_text)


def share_option(name: str, default: str, help_text: str) -> str:
    """A share of one, such as 95% or 0.95, with what it is unless said."""
    return option(name, default=default, show_default=True, metavar="SHARE", help=help_text)


def wait_option(help_text: str = "Wait while another measurement holds the machine.") -> bool:
    """Whether to wait for the machine."""
    return option("--wait", is_flag=True, help=help_text)


def recorded_environment_option() -> tuple[str, ...]:
    """The variables whose values are kept."""
    return option(
        "--record-env",
        multiple=True,
        metavar="NAME",
        help="Keep the value of this variable too; of others that explain no result a digest.",
    )


def secrets_option() -> bool:
    """Whether secrets are printed."""
    return option(
        "--show-secrets",
        is_flag=True,
        callback=_show_secrets,
        help="Also values of variables, and passwords in commands, which are masked otherwise.",
    )


def _show_secrets(context: click.Context, parameter: click.Parameter, asked: bool) -> bool:
    if asked:
        show_secrets()
    return asked
