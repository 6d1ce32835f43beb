"""Options that commands of a service share."""

from __future__ import annotations

import click

from steelyard.cli.options.option_groups import option
from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError

_TOKEN_FILE = "A file with the token for --server; the variable STEELYARD_TOKEN holds it otherwise."


def server_option() -> str | None:
    """``--server``, as every command of a service takes it."""
    return option(
        "--server",
        metavar="ADDRESS",
        help="The address of a service; the variable STEELYARD_SERVER holds it otherwise; this "
        "machine's by default.",
    )


def token_file_option(told: str = _TOKEN_FILE) -> str | None:
    """``--token-file``, which goes with it."""
    return option(
        "--token-file",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help=told,
    )


def token_in(path: str | None) -> str | None:
    """The token that a file holds; None without a file.

    Raises
    ------
    DataError
        The file cannot be read, or is empty.
    """
    if path is None:
        return None
    try:
        with open(path, encoding="ascii", opener=regular_opener) as file:
            token = file.read(4096).strip()
    except OSError as error:
        raise DataError(
            f"The token in {path} cannot be read: {error.strerror}.", field="--token-file"
        ) from None
    except ValueError:
        raise DataError(
            f"The token in {path} cannot be read: it is no text.", field="--token-file"
        ) from None
    if not token:
        raise DataError(f"The file {path} holds no token.", field="--token-file")
    return token
