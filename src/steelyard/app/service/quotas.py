"""How much of a service a member may use at once, or in a month."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from steelyard.app.service.who_may import KEEPERS
from steelyard.core.errors import UsageError
from steelyard.service.accounts import Identity
from steelyard.service.submission_limits import account_cost_s
from steelyard.service.submissions import open_trials

MONTH_S = 30 * 86_400.0
_HOUR_S = 3600.0


@dataclass(frozen=True)
class Quotas:
    """Of each member; None is no limit. Operators and administrators have none.

    Parameters
    ----------
    trials : int or None
        That wait or run.
    hours : int or None
        Of workers, for their experiments, in 30 days.
    """

    trials: int | None = None
    hours: int | None = None


def refuse_past_quota(
    connection: Connection,
    who: Identity,
    quotas: Quotas,
    asked: tuple[int, float | None],
    now_s: float,
) -> None:
    """See that a member uses no more than the quotas.

    Parameters
    ----------
    asked : tuple of int and float or None
        Trials, and seconds of workers, of what is to be sent; None where that is not known.

    Raises
    ------
    UsageError
        That is too much.
    """
    if who.role in KEEPERS:
        return
    count, cost_s = asked
    if quotas.trials is not None:
        already = open_trials(connection, who.account_id)
        if already + count > quotas.trials:
            raise UsageError(
                f"{who.name} may have {quotas.trials} trials waiting or running, has {already}, "
                f"and this experiment has {count}. Wait, cancel one, or leave levels out.",
                field="quota",
            )
    if quotas.hours is not None:
        used_s = account_cost_s(connection, who.account_id, now_s - MONTH_S, now_s)
        if used_s >= quotas.hours * _HOUR_S or used_s + (cost_s or 0.0) > quotas.hours * _HOUR_S:
            more = "" if cost_s is None else f", and this experiment takes {cost_s / _HOUR_S:.1f}"
            raise UsageError(
                f"{who.name} may use {quotas.hours} hours of workers in 30 days, has used "
                f"{used_s / _HOUR_S:.1f}{more}. Wait, or leave levels out.",
                field="quota",
            )
