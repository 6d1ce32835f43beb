"""`steelyard serve`: the store's experiments and history as pages in a browser."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.cli.console.output import write_note
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import store_option
from steelyard.cli.store.opened_library import opened_library

PORT = 8350
HELP = """
Show the store's experiments and history in a browser.

Pages are served to this machine alone, below an address with a secret in it, which is printed. They
follow the store as it changes, without secrets of commands and environments, and change nothing.

\b
steelyard serve
steelyard serve --port 0 --store results.sqlite
"""


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """What serve takes."""

    port: int = option(
        "--port",
        type=click.IntRange(0, 65535),
        default=PORT,
        show_default=True,
        help="The port of the loopback interface; 0 takes one that is free.",
    )
    store: str | None = store_option("The store to show.")


@click.command("serve", help=HELP, short_help="Show the store in a browser.")
@takes(ServeOptions)
def command(given: ServeOptions) -> None:
    """Open the store once, so that what is wrong with it is said, and serve it."""
    from steelyard.web.store_server import serve_store
    from steelyard.web.store_site import StoreSite

    with opened_library(given.store) as library:
        path = library.store.path
    serve_store(
        StoreSite(path), given.port, lambda address: write_note(f"{address} (Ctrl-C ends it)")
    )
