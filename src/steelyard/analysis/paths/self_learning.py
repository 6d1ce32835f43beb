"""A map that a recording makes of itself: of the stacks that were walked at some of its samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from steelyard.analysis.paths.path_map import NO_HEIGHT, ROOT, PathMap, PathNode
from steelyard.analysis.paths.stack_alignment import Key

Chain = tuple[int, ...]
# A key is believed when so many of its stacks were walked.
_BELIEVED_COUNT = 3


@dataclass(frozen=True)
class WalkLooks:
    """What became of the looks at which stacks may be walked.

    Parameters
    ----------
    copied_bytes : int
        Of stacks, by the kernel's records of samples.
    look_count : int or None
        All looks; None: the kernel could not be asked to drop any, and each stack was copied.
    spared_count : int
        Looks at believed keys, at which nothing was copied.
    checked_count : int
        Looks at believed keys that were drawn to be walked again.
    elsewhere_count : int
        Looks in code that is not the program's, at which nothing was copied.
    """

    copied_bytes: int
    look_count: int | None = None
    spared_count: int = 0
    checked_count: int = 0
    elsewhere_count: int = 0


@dataclass(frozen=True)
class SelfLearning:
    """What was learnt, and how well it held.

    Parameters
    ----------
    path_map : PathMap
        Its counts are samples, not calls.
    walk_count : int
        Stacks that were walked to their end in the program.
    check_count, wrong_count : int
        Of these, those whose key was believed by then, and those of them with a path that the key
        had never had.
    looks : WalkLooks or None
        None: the recording does not tell.
    """

    path_map: PathMap
    walk_count: int
    check_count: int
    wrong_count: int
    looks: WalkLooks | None = None


def self_learnt(empty: PathMap, keys: Sequence[Key | str], chains: Sequence[Chain]) -> SelfLearning:
    """Learn the paths of keys in the order of samples.

    Parameters
    ----------
    empty : PathMap
        Its program, build and names of functions; with `stack_residues` where functions of the
        program align their stack.
    keys : sequence
        For each sample its key, or why it has none.
    chains : sequence of tuple of int
        The functions on its stack, outermost first; empty where it was not walked to its end.
    """
    tree = _Tree()
    seen: dict[Key, dict[Chain, int]] = {}
    walks = checks = wrong = 0
    for key, chain in zip(keys, chains, strict=True):
        if isinstance(key, str) or not chain:
            continue
        walks += 1
        paths = seen.setdefault(key, {})
        if sum(paths.values()) >= _BELIEVED_COUNT:
            checks += 1
            wrong += chain not in paths
        paths[chain] = paths.get(chain, 0) + 1
        tree.count(chain, key)
    has_residues = empty.stack_residues is not None
    learnt = replace(
        empty,
        run_count=1,
        nodes=tree.nodes,
        stack_residues=tree.residues if has_residues else None,
    )
    return SelfLearning(learnt, walks, checks, wrong)


class _Tree:
    """Nodes of paths; those that lead to a key have no height, as nobody asked for it."""

    def __init__(self) -> None:
        self.nodes: list[PathNode] = []
        self.residues: list[int] = []
        self._places: dict[tuple[int, int, int, int], int] = {}

    def count(self, chain: Chain, key: Key) -> None:
        parent = ROOT
        for function in chain[:-1]:
            parent = self._place(parent, function, NO_HEIGHT, 0)
        end = self._place(parent, chain[-1], key.height_bytes, key.residue_bytes)
        self.nodes[end] = self.nodes[end]._replace(call_count=self.nodes[end].call_count + 1)

    def _place(self, parent: int, function: int, height_bytes: int, residue_bytes: int) -> int:
        key = parent, function, height_bytes, residue_bytes
        place = self._places.setdefault(key, len(self.nodes))
        if place == len(self.nodes):
            self.nodes.append(PathNode(parent, function, height_bytes, 0))
            self.residues.append(residue_bytes)
        return place
