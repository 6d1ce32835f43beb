"""The paths that the code of a program has for samples whose keys were never learnt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from steelyard.analysis.paths.lookup import Candidate
from steelyard.analysis.paths.path_map import PathMap
from steelyard.analysis.paths.static_map import AllowedPaths, UnlearntPaths
from steelyard.app.profile.static_paths import Carried, ProgramCode

# Function, height, and what the thread carried; None: that is not known.
UnlearntKey = tuple[int, int, Carried | None]
Chain = tuple[int, ...]
# Keys of one report whose paths are listed.
_MOST_LISTED = 100


@dataclass(frozen=True)
class PathsByCode:
    """What the code says of samples whose keys were never learnt.

    Parameters
    ----------
    keys : sequence of UnlearntKey or None
        Of each sample; None: it has a learnt key, or none.
    candidates : mapping of UnlearntKey to tuple of Candidate
        Of keys of which the code has all paths, in equal parts, as nothing says how often each was
        taken; those with the fewest steps that were never learnt come first.
    routes : mapping of UnlearntKey to frozenset of tuple of int
        The same as addresses of whole functions, outermost first.
    listed : tuple of UnlearntPaths
        The keys with most samples, also those of which not all paths were found.
    """

    keys: Sequence[UnlearntKey | None]
    candidates: Mapping[UnlearntKey, tuple[Candidate, ...]]
    routes: Mapping[UnlearntKey, frozenset[Chain]]
    listed: tuple[UnlearntPaths, ...]

    def beside(self, learnt: Sequence[tuple[Candidate, ...]]) -> list[tuple[Candidate, ...]]:
        """The candidates of each sample, by the map or by the code."""
        return [
            one if key is None else self.candidates.get(key, ())
            for key, one in zip(self.keys, learnt, strict=True)
        ]

    def routes_of_samples(self) -> list[frozenset[Chain]]:
        """The paths of each sample that are by the code."""
        nothing = frozenset[Chain]()
        return [nothing if key is None else self.routes.get(key, nothing) for key in self.keys]


def paths_by_code(
    program: str, path_map: PathMap, keys: Sequence[UnlearntKey | None]
) -> PathsByCode:
    """Search the code of a program.

    Parameters
    ----------
    program : str
        Its file.
    path_map : PathMap
    keys : sequence of UnlearntKey or None
        Of each sample; None: it has a learnt key, or none.

    Raises
    ------
    UsageError, MissingCapabilityError
        As `ProgramCode`.
    """
    samples = Counter(key for key in keys if key is not None)
    if not samples:
        return PathsByCode(keys, {}, {}, ())
    # The search ends after a number of paths, so keys with most samples come first.
    wanted = sorted(samples.items(), key=lambda one: (-one[1], one[0][:2], one[0][2] or ()))
    code = ProgramCode(program, path_map)
    # The code has no path with call sites, and one of its paths may be several of these.
    searched = [] if path_map.has_call_sites else [key for key, _ in wanted]
    found = {key: one.candidates for key in searched if (one := code.of_thread(*key)).candidates}
    return PathsByCode(
        keys,
        {key: _candidates(code, chains) for key, chains in found.items()},
        {key: frozenset(chains) for key, chains in found.items()},
        _listed(code, wanted[:_MOST_LISTED]),
    )


def _candidates(code: ProgramCode, chains: Sequence[Chain]) -> tuple[Candidate, ...]:
    # Parts of a function, and copies of it, have one name.
    names = dict.fromkeys(map(code.named, chains))
    return tuple(Candidate(one, 1 / len(names), is_learnt=False) for one in names)


def _listed(
    code: ProgramCode, wanted: Sequence[tuple[UnlearntKey, int]]
) -> tuple[UnlearntPaths, ...]:
    # Threads with other stacks carry other values of the same path.
    counts: Counter[tuple[int, int, AllowedPaths]] = Counter()
    for (function, height, carried), samples in wanted:
        if carried is None:
            allowed = code.allowed(function, height)
        else:
            allowed = code.allowed_to_carry(function, height, carried)
        counts[function, height, allowed] += samples
    return tuple(
        UnlearntPaths(code.names.at(function), height, samples, allowed)
        for (function, height, allowed), samples in counts.most_common()
    )
