"""Options that would do nothing in a call are refused before anything runs."""

from __future__ import annotations

from collections.abc import Collection

import click

from steelyard.core.errors import UsageError


def refuse_idle(situation: str, applies: Collection[str]) -> None:
    """Refuse every option of the present call that does nothing in its situation.

    Parameters
    ----------
    situation : str
        What the call does, as it follows 'does not belong'.
    applies : collection of str
        The parameters that have an effect; an option that is not among them is refused, so that
        one that is new has to be thought of.

    Raises
    ------
    UsageError
        It names the option.
    LookupError
        The command has no such parameter.
    """
    context = click.get_current_context()
    _check_known(applies)
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        given = source is click.core.ParameterSource.COMMANDLINE
        if given and isinstance(parameter, click.Option) and name not in applies:
            option = parameter.opts[0]
            raise UsageError(f"{option} does not belong {situation}.", field=option)


def all_but(names: Collection[str]) -> frozenset[str]:
    """The parameters of the present command without these."""
    _check_known(names)
    return frozenset(_known() - set(names))


def _known() -> set[str]:
    return {parameter.name or "" for parameter in click.get_current_context().command.params}


def _check_known(names: Collection[str]) -> None:
    """Refuse a name that no parameter of the present command has: it would refuse nothing."""
    unknown = set(names) - _known()
    if unknown:
        raise LookupError(f"no parameters of this command: {', '.join(sorted(unknown))}")
