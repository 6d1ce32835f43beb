"""`steelyard worker`: this host runs what a service gives it."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass

import click

from steelyard.cli.console.output import write_note
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import store_option
from steelyard.cli.service.service_options import server_option, token_file_option, token_in

HELP = """
Enrol this host as a worker of a service, and run what the service gives until interrupted.

Only outgoing connections are made. The token needs the scope `enrol`.

\b
steelyard worker --server https://bench.example --token-file token
"""


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """What worker takes."""

    server: str | None = server_option()
    token_file: str | None = token_file_option()
    name: str | None = option(
        "--name", metavar="NAME", help="What the worker is called; the host's name by default."
    )
    tags: tuple[str, ...] = option(
        "--tag",
        multiple=True,
        metavar="WORD",
        help="A word that experiments can require under `tags`; may be repeated.",
    )
    directory: str | None = option(
        "--directory",
        type=click.Path(file_okay=False),
        metavar="DIR",
        help="Where results wait until the service has taken them; beside the store by default.",
    )
    boot_command: str | None = option(
        "--boot-command",
        metavar="CMD",
        help="Boot this host by CMD where an experiment asks for it, such as 'systemctl reboot'.",
    )
    once: bool = option(
        "--once", is_flag=True, help="End as soon as there is nothing to run for this host."
    )
    store: str | None = store_option("The store beside which the worker keeps its files.")


@click.command("worker", help=HELP, short_help="Run trials for a service on this host.")
@takes(WorkerOptions)
def command(given: WorkerOptions) -> None:
    """Enrol, then ask for parts and run them."""
    from steelyard.app.service.host_boots import checked_boot_command
    from steelyard.app.service.local_service import ServiceFinder, local_place
    from steelyard.app.service.reference_benchmark import ReferenceBenchmark
    from steelyard.app.service.worker_levels import default_name
    from steelyard.app.service.worker_loop import (
        LONGEST_SILENCE_S,
        HostFacts,
        WorkerLoop,
        enrolled_worker,
    )
    from steelyard.app.service.worker_place import WorkerPlace

    boots = checked_boot_command(given.boot_command)
    finder = ServiceFinder(given.server, token_in(given.token_file), given.store)
    place = WorkerPlace(given.directory or local_place(given.store).worker)
    name = given.name or default_name()
    with suppress(KeyboardInterrupt), place.held(write_note):
        longest_s = LONGEST_SILENCE_S if given.once else math.inf
        about = HostFacts(name, given.tags, boots=bool(boots))
        own = enrolled_worker(finder.client, about, place, write_note, longest_s)
        write_note(f"worker {name} of {own.shown_address}")
        reference = ReferenceBenchmark(place.directory)
        loop = WorkerLoop(own, place, write_note, finder.address, reference.reading, boots)
        loop.run(once=given.once)
