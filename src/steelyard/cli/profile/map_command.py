"""`steelyard profile paths map`: the paths of keys, by a learnt map and by a program's code."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.cli.console.output import terminal_width, write_json, write_text
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import json_option
from steelyard.cli.profile.resize_command import DEFAULT_MAP


@dataclass(frozen=True, kw_only=True)
class MapOptions:
    """Where paths are looked up, and which."""

    static: str | None = option(
        "--static",
        metavar="BINARY",
        help="Search the code of this program for what was never learnt.",
    )
    keys: tuple[str, ...] = option(
        "--key",
        metavar="FUNCTION@HEIGHT",
        multiple=True,
        help="Show the paths of this key, with the height in bytes; repeatable.",
    )
    limit: int = option(
        "--limit",
        type=click.IntRange(1, 10_000),
        default=16,
        show_default=True,
        metavar="N",
        help="Search at most N paths of a key.",
    )
    json_target: str | None = json_option()


@click.command("map")
@takes(MapOptions)
@click.argument("path", metavar="[MAP]", required=False)
def map_command(given: MapOptions, path: str | None) -> None:
    """Show the paths that keys may mean: those of a learnt map, and those that code allows.

    With --static and no MAP nothing has to be learnt. With both, the answer says how many learnt
    paths the code allows, too.
    """
    from steelyard.app.profile.static_paths import map_paths

    if path is None and given.static is None:
        path = DEFAULT_MAP
    found = map_paths(path, given.static, given.keys, given.limit)
    if given.json_target is not None:
        from steelyard.report.kinds.paths.static_document import map_document

        write_json(map_document(found), given.json_target)
    if given.json_target != "-":
        from steelyard.report.kinds.paths.static_text import map_text

        write_text(map_text(found, terminal_width()))
