"""`measure`, `compare` and `resume` for Python programs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from steelyard.api.weighed_experiment import Weighed
from steelyard.cli.options.called_options import Command, command_text, option_words
from steelyard.cli.options.once_option import make_strict
from steelyard.cli.options.option_groups import gathered
from steelyard.cli.options.project_defaults import completed_call
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.app.experiment.weigh import Weighing
    from steelyard.app.running import Watcher

G = TypeVar("G")
_LOG = logging.getLogger("steelyard")


def measure(
    command: Command | None = None, *, watch: Watcher | None = None, **options: Any
) -> Weighed:
    """Weigh one program, as ``steelyard measure`` does.

    Parameters
    ----------
    command : str or sequence of str
        A text is split into words as a shell would, but run without one. None goes with
        ``bench=NAME``, a benchmark of ``steelyard.toml``.
    watch : callable, optional
        Called with the progress, often.
    **options
        Those of the command line, with ``_`` in place of ``-``: ``precision="1%"``,
        ``budget="30s"``, ``runs=20``, ``env={"LANG": "C"}``, ``quiet=True``, ``store="s.sqlite"``.

    Raises
    ------
    SteelyardError
        In the words of the command line.
    KeyboardInterrupt
        After what had been measured was kept.

    Examples
    --------
    >>> found = steelyard.measure("gzip -6 -c data.txt", precision="2%")
    >>> found.means[0].mean
    """
    from steelyard.cli.weigh.measure_command import command as click_command
    from steelyard.cli.weigh.measure_command import measurement_request
    from steelyard.cli.weigh.weighing_options import WeighingOptions

    texts = [] if command is None else [command_text(command)]
    given, words = _parsed(click_command, WeighingOptions, options, texts)
    request = measurement_request(given, words["words"])
    return _run(request, given.answer.store, given.machine.wait, watch)


def compare(*commands: Command, watch: Watcher | None = None, **options: Any) -> Weighed:
    """Weigh programs against the first of them, as ``steelyard compare`` does.

    Parameters
    ----------
    *commands : str or sequence of str
        Two or more; or one with ``parameter={"level": [1, 6, 9]}`` for ``{level}`` in it.
    watch, **options
        As `measure` has them; ``fail_if=["slower:2%"]`` makes gates for `Weighed.passed`.

    Raises
    ------
    SteelyardError, KeyboardInterrupt
        As `measure` does.

    Examples
    --------
    >>> found = steelyard.compare("./old", "./new", budget="1min")
    >>> found.verdicts
    {'./new': 'faster'}
    """
    from steelyard.cli.weigh.compare_command import CompareOptions, comparison_request
    from steelyard.cli.weigh.compare_command import command as click_command

    texts = [command_text(command) for command in commands]
    given, words = _parsed(click_command, CompareOptions, options, texts)
    request = comparison_request(given, words["commands"])
    return _run(request, given.weighing.answer.store, given.weighing.machine.wait, watch)


def resume(experiment: str | Weighed, *, watch: Watcher | None = None, **options: Any) -> Weighed:
    """Go on with an experiment, as ``steelyard resume`` does.

    Parameters
    ----------
    experiment : str or Weighed
        Its identifier, the first characters of it, ``latest``, or what was measured.
    watch, **options
        ``runs="+10"``, ``precision="0.5%"``, ``budget="5min"``; the store is that of what was
        measured.
    """
    from steelyard.app.experiment.weigh import weigh_further
    from steelyard.cli.weigh.resume_command import ResumeOptions, onward_from
    from steelyard.cli.weigh.resume_command import command as click_command
    from steelyard.cli.weigh.weighing_request import place_from

    if isinstance(experiment, Weighed):
        options = {"store": experiment.store, **options}
        experiment = experiment.experiment
    given, _ = _parsed(click_command, ResumeOptions, options, [experiment])
    place = place_from(given.answer.store, given.wait, _LOG.info)
    gates = given.gates.gates
    weighing = weigh_further(experiment, onward_from(given), place, watch, gates)
    return _ended(weighing, given.answer.store)


def _parsed(
    command: click.Command, kind: type[G], options: Mapping[str, Any], arguments: list[str]
) -> tuple[G, dict[str, Any]]:
    words = [*option_words(command, options), *(["--", *arguments] if arguments else [])]
    call = completed_call(command.name or "", make_strict(command), words)
    try:
        with command.make_context(command.name, [*call.words], default_map=call.values) as context:
            values = context.params
    except click.ClickException as error:
        raise UsageError(error.format_message()) from None
    return gathered(kind, values), values


def _run(request: Any, store: str | None, wait: bool, watch: Watcher | None) -> Weighed:
    from steelyard.app.experiment.weigh import weigh
    from steelyard.cli.weigh.weighing_request import place_from

    return _ended(weigh(request, place_from(store, wait, _LOG.info), watch), store)


def _ended(weighing: Weighing, store: str | None) -> Weighed:
    found = Weighed(weighing, store)
    if found.stopped == "interrupted":
        raise KeyboardInterrupt(
            f"what was measured is kept as {found.experiment}; steelyard.resume() goes on with it"
        )
    return found
