"""`steelyard serve`: the store's pages, and the service that runs experiments, on this machine."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from steelyard.cli.console.output import write_note, write_text
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import store_option
from steelyard.cli.store.opened_library import opened_library
from steelyard.core.errors import MissingCapabilityError
from steelyard.core.interruption import wait_until

if TYPE_CHECKING:
    from steelyard.app.service.service_settings import ServiceSettings

HELP = """
Show the store's experiments and history in a browser, and run the experiments that are sent.

Pages are served to this machine alone, below an address with a secret in it, which is printed. They
follow the store as it changes, without secrets of commands and environments. A worker runs on this
machine what is sent by `steelyard submit` or by the form on the page `service`. With a file of
settings people of other machines sign in, through a proxy with TLS.

\b
steelyard serve
steelyard serve --port 0 --store results.sqlite --no-worker
steelyard serve --config service.toml
"""


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """What serve takes."""

    config: str | None = option(
        "--config",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Settings of the service as TOML; options that are given besides go before it.",
    )
    port: int | None = option(
        "--port",
        type=click.IntRange(0, 65535),
        help="The port of the loopback interface; 0 takes one that is free (default: 8350).",
    )
    worker: bool | None = option(
        "--worker/--no-worker",
        default=None,
        help="Run the trials of experiments that are sent on this machine (default: --worker).",
    )
    database: str | None = option(
        "--database",
        metavar="FILE|URL",
        help="What the service keeps its data in: a file, or postgresql://...; beside the store "
        "by default.",
    )
    check: bool = option(
        "--check",
        is_flag=True,
        help="Say what of the things that the settings ask for is missing, and what mends it, and "
        "end.",
    )
    invite: bool = option(
        "--invite",
        is_flag=True,
        help="Print a link by which someone makes an administrator's account, and end.",
    )
    store: str | None = store_option("The store to show.")


@click.command("serve", help=HELP, short_help="Show the store, and run experiments that are sent.")
@takes(ServeOptions)
def command(given: ServeOptions) -> None:
    """Open what is served once, so that what is wrong with it is said, and serve it."""
    from steelyard.app.service.first_steps import first_steps, invitation_link
    from steelyard.app.service.local_service import (
        COMMAND_TOKEN,
        SLURM_TOKEN,
        WORKER_TOKEN,
        announced,
        local_place,
    )
    from steelyard.app.service.local_worker import local_worker
    from steelyard.app.service.opened_service import opened_service
    from steelyard.app.service.service_settings import read_service_settings
    from steelyard.app.service.slurm_workers import started_by_slurm
    from steelyard.app.service.worker_levels import default_name
    from steelyard.web.service.service_server import open_port, serving
    from steelyard.web.store_site import StoreSite

    settings = read_service_settings(given.config).changed(
        database=given.database, port=given.port, worker=given.worker
    )
    place = local_place(given.store)
    database = settings.database or place.database
    if given.check:
        _say_what_is_missing(settings, database, place.directory)
        return
    if given.invite:
        write_text(f"{invitation_link(settings, database)}\n")
        return
    with opened_library(given.store) as library:
        path = library.store.path
    with suppress(KeyboardInterrupt), ExitStack() as stack:
        opened = stack.enter_context(open_port(settings))
        service = stack.enter_context(opened_service(database, place.packages))
        service.quotas = settings.quotas
        service.packages.most_account_bytes = settings.most_bytes
        service.archives.most_account_bytes = settings.most_archive_bytes
        token = service.access.owner_token(COMMAND_TOKEN)
        stack.enter_context(announced(place, opened.local_address, token))
        ended = stack.enter_context(serving(opened, service, StoreSite(path), settings))
        write_note(f"{opened.address} (Ctrl-C ends it)")
        for line in first_steps(service, settings, opened.address):
            write_note(line)
        if settings.worker:
            own, name = service.access.owner_token(WORKER_TOKEN), default_name()
            stack.enter_context(
                local_worker(opened.local_address, own, place.worker, name, write_note)
            )
        if settings.slurm is not None:
            own = service.access.owner_token(SLURM_TOKEN)
            stack.enter_context(
                started_by_slurm(service, settings.slurm, opened.address, own, write_note)
            )

        wait_until(ended.wait)


def _say_what_is_missing(settings: ServiceSettings, database: str, directory: str) -> None:
    from steelyard.app.service.service_check import check_service

    found = list(check_service(settings, database, directory))
    write_text("".join(f"{each.line}\n" for each in found))
    missing = [each.about for each in found if each.mend]
    if missing:
        raise MissingCapabilityError(
            f"{len(missing)} of {len(found)} things are missing: {', '.join(missing)}.",
            field="--check",
        )
