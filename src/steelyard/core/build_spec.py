"""How a program is built anew for each repetition of a level, as a frozen value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BuildSpec:
    """How a program is built. A new build may give a new layout, and so a new mean.

    ``{build}`` in the build's own words, and in the launch of its variant, stands for the
    directory of the build, which is new and empty (or a copy of `source`) for each.

    Parameters
    ----------
    argv : tuple of str
        The build command, run in the build's directory.
    source : str or None
        A directory whose contents are copied into the build's directory first.
    environment : tuple of (name, value)
        Changes to the environment of Steelyard; a value of None removes the variable.
    compilers : tuple of (name, program)
        The real programs behind ``CC``, ``CXX``, ``FC`` and ``LD``; those not named are taken
        from the environment, or Debian's usual ones.
    randomize : tuple of str
        Names of the randomisations of the build room, such as ``link-order``; each draws from
        the seed of the build.
    seed : int or None
        Of the randomisations that `seeds` does not name; None: drawn for each build.
    timeout_s : float or None
        After it the build is ended and has failed.
    seeds : tuple of (randomisation, seed)
        Where a level of a factor names the seed of one.
    self_contained : bool
        Nothing but what this specification says goes into the build, so that it may be kept for
        other experiments.
    """

    argv: tuple[str, ...]
    source: str | None = None
    environment: tuple[tuple[str, str | None], ...] = ()
    compilers: tuple[tuple[str, str], ...] = ()
    randomize: tuple[str, ...] = ()
    timeout_s: float | None = None
    seed: int | None = None
    seeds: tuple[tuple[str, int], ...] = ()
    self_contained: bool = False
