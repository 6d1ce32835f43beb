"""Look keys up in a map of call paths, in the code of a program, or in both."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress

from steelyard.analysis.paths.call_graph import (
    LIBRARY,
    POINTER,
    Beginning,
    learnt_steps,
    reached,
    without_calls,
)
from steelyard.analysis.paths.path_map import NO_HEIGHT, PathMap, PathNumbers, check_build
from steelyard.analysis.paths.path_marks import ANY_MARK, Call, mark_value
from steelyard.analysis.paths.stack_alignment import of_any_stack
from steelyard.analysis.paths.static_map import (
    AllowedPaths,
    CodeFacts,
    KeyAnswer,
    PathsOfMap,
)
from steelyard.analysis.paths.static_search import StaticSearch
from steelyard.analysis.paths.static_truth import StaticTruth, StepFinder, static_truth
from steelyard.analysis.paths.unlearnt_keys import FoundPaths, UnlearntKeys
from steelyard.app.profile.program_check import check_program
from steelyard.core.errors import SteelyardError, UsageError
from steelyard.profile.executable import FunctionNames
from steelyard.profile.paths.aligned_stacks import with_alignments
from steelyard.profile.paths.clone_notes import originals_of
from steelyard.profile.paths.code_graph import read_call_graph, read_underneath
from steelyard.profile.paths.learning_run import build_of
from steelyard.profile.paths.map_file import read_map

# What a thread carries, and where its stack begins.
Carried = tuple[int, int]
_AT = "@"
# Paths that are shown of a key.
MOST_PATHS = 8


class ProgramCode:
    """The calls of a program.

    Parameters
    ----------
    program : str
        Its file.
    path_map : PathMap or None
        What was learnt of it: the steps of its paths come first, and calls that the code does not
        show, as those through libraries, are taken from it.

    Raises
    ------
    UsageError
        It is no program that can be read, or nothing says how high its stack is as it begins.
    MissingCapabilityError
        What reads it was not built.
    """

    def __init__(self, program: str, path_map: PathMap | None) -> None:
        self.graph = read_call_graph(program)
        self.names = FunctionNames(program)
        self._originals = originals_of(program)
        beginnings: set[Beginning] = set()
        self._learnt = None
        if path_map is not None and path_map.nodes:
            self._learnt = learnt_steps(of_any_stack(path_map), self.graph)
            beginnings |= self._learnt.beginnings
        try:
            self.own_beginnings = self.graph.beginnings(read_underneath(program))
        except SteelyardError:
            if not beginnings:
                raise
            self.own_beginnings = []
        self.beginnings = beginnings | set(self.own_beginnings)
        if not self.beginnings:
            raise UsageError(
                f"Where the stack of {program} begins is not seen in its code.\n"
                "Its first instructions give the C library no function as main.",
                field="--static",
            )
        self._search = StaticSearch(self.graph, self.beginnings, self._learnt)
        whole = self.graph.whole
        marks = {} if path_map is None else path_map.marks
        numbers = {(whole(caller), whole(callee)): one for (caller, callee), one in marks.items()}
        steps = StepFinder(self.graph)
        by_address = steps.by_address()
        self.unlearnt = UnlearntKeys(
            self._search,
            numbers,
            by_address,
            steps.behind_varying(numbers),
            self.graph.varying,
            self._unmarked_search(numbers, by_address),
        )

    def _unmarked_search(
        self, numbers: Collection[Call], by_address: Collection[int]
    ) -> StaticSearch | None:
        """Of paths without marked calls; of a learnt step to a function that has an address it is
        not known whether it was such a call."""
        if not numbers:
            return None
        learnt = self._learnt
        if learnt is not None:
            learnt = learnt.without_calls({call for call in numbers if call[1] not in by_address})
        return StaticSearch(without_calls(self.graph, numbers), self.beginnings, learnt)

    def allowed(self, function: int, height_bytes: int, limit: int = MOST_PATHS) -> AllowedPaths:
        """The paths of a key, by names."""
        found = self._search.paths(function, height_bytes, limit)
        steps: dict[tuple[int, ...], int] = {}
        for at, path in enumerate(found.paths):
            steps.setdefault(path, found.unlearnt[at] if found.unlearnt else 0)
        paths = tuple(map(self.named, steps))
        unlearnt = tuple(steps.values()) if found.unlearnt else ()
        return AllowedPaths(paths, unlearnt, found.are_all, found.is_too_high)

    def allowed_to_carry(self, function: int, height_bytes: int, carried: Carried) -> AllowedPaths:
        """The paths of a key whose thread carries a value, by names."""
        found = self.of_thread(function, height_bytes, carried)
        shown = tuple(map(self.named, found.chains[:MOST_PATHS]))
        are_all = found.are_all and len(shown) == len(found.chains)
        return AllowedPaths(shown, found.unlearnt[:MOST_PATHS], are_all, found.is_too_high)

    def of_thread(self, function: int, height_bytes: int, carried: Carried | None) -> FoundPaths:
        """The paths of a key whose thread carries a value; None: that is not known."""
        if carried is None:
            return self.unlearnt.of_mark(function, height_bytes, ANY_MARK)
        value, start = carried
        return self.unlearnt.that_carry(
            function, height_bytes, lambda mark: mark_value(mark, start) == value
        )

    def named(self, chain: Sequence[int]) -> tuple[str, ...]:
        """The functions of a path as candidates of a map have them: a clone has the name of its
        original, and what has no name of its own its address, too."""
        return tuple(map(self._name, chain))

    def _name(self, function: int) -> str:
        original = self._originals.get(function, function)
        name = self.names.at(original)
        return f"{name}+{original:#x}" if name.startswith("[") else name

    def truth(self, path_map: PathMap) -> StaticTruth:
        """How many learnt paths are seen in the code alone."""
        names = {function: self.names.at(function) for function in self.graph.functions}
        return static_truth(path_map, self.graph, self.own_beginnings, names)

    def facts(self) -> CodeFacts:
        """What was read."""
        graph = self.graph
        kinds = [one.kind for one in graph.transfers]
        known = reached(graph, self.beginnings, and_varying=False)
        return CodeFacts(
            function_count=len(graph.functions),
            call_count=len(kinds) - kinds.count(POINTER) - kinds.count(LIBRARY),
            pointer_call_count=kinds.count(POINTER),
            taken_count=len(graph.taken),
            library_call_count=kinds.count(LIBRARY),
            reached_count=len(known),
            behind_varying_count=len(reached(graph, self.beginnings, and_varying=True) - known),
            varying={self.names.at(one): why for one, why in graph.varying.items()},
        )

    def addresses_of(self, name: str) -> tuple[int, ...]:
        """The functions of a name, or at an address.

        Raises
        ------
        UsageError
            There is none.
        """
        found = tuple(one for one in self.graph.functions if self.names.at(one) == name)
        with suppress(ValueError):
            found = found or tuple(
                one for one in (self.graph.whole(int(name, 0)),) if one in self.graph.functions
            )
        if not found:
            raise UsageError(f"{self.names.path} has no function {name!r}.", field="--key")
        return found


def map_paths(
    map_path: str | None, program: str | None, keys: Sequence[str], limit: int
) -> PathsOfMap:
    """What a map, a program's code, or both say of some keys.

    Parameters
    ----------
    map_path, program : str or None
        One of them is given.
    keys : sequence of str
        ``FUNCTION@HEIGHT``; a function by its name or its address.
    limit : int
        The most paths of a key that are searched in the code.

    Raises
    ------
    DataError
        The map is damaged, or of another build than the program.
    UsageError
        The program cannot be read, or has no such function.
    MissingCapabilityError
        What reads it was not built.
    """
    path_map = None if map_path is None else read_map(map_path)
    code = None
    if program is not None:
        check_program(program)
        if path_map is not None:
            check_build(path_map, build_of(program), os.path.basename(program))
            path_map = with_alignments(path_map, program)
        code = ProgramCode(program, path_map)
    answers = tuple(answer for key in keys for answer in _key_answers(key, path_map, code, limit))
    return PathsOfMap(
        program=path_map.program if path_map is not None else os.path.basename(program or ""),
        build=path_map.build if path_map is not None else build_of(program or ""),
        learnt_path_count=None if path_map is None else _path_count(path_map),
        code=None if code is None else code.facts(),
        truth=None if code is None or path_map is None else code.truth(path_map),
        keys=answers,
        has_call_sites=path_map is not None and path_map.has_call_sites,
    )


def _path_count(path_map: PathMap) -> int:
    return len(set(PathNumbers().of(path_map.nodes)))


def _key_answers(
    key: str, path_map: PathMap | None, code: ProgramCode | None, limit: int
) -> Iterable[KeyAnswer]:
    from steelyard.analysis.paths.lookup import KeyedPaths

    name, height = parse_key(key)
    if code is not None:
        functions = {one: code.names.at(one) for one in code.addresses_of(name)}
        whole = code.graph.parts
    else:
        functions, whole = _learnt_functions(path_map, name), dict[int, int]()
    for function, named in functions.items():
        learnt = ()
        if path_map is not None:
            learnt = KeyedPaths(path_map, whole).candidates(function, height)
        wanted = code if not learnt else None
        allowed = None if wanted is None else wanted.allowed(function, height, limit)
        yield KeyAnswer(named, height, learnt, allowed)


def _learnt_functions(path_map: PathMap | None, name: str) -> dict[int, str]:
    known = {} if path_map is None else path_map.functions
    found = {at: one for at, one in known.items() if name in (one, f"{at:#x}")}
    if not found:
        raise UsageError(f"The map has no function {name!r}.", field="--key")
    return found


def parse_key(text: str) -> tuple[str, int]:
    """A function's name and a height in bytes.

    Raises
    ------
    UsageError
        It is not written as ``FUNCTION@HEIGHT``.
    """
    name, _, height = text.rpartition(_AT)
    if not name or not height.isdecimal() or int(height) == NO_HEIGHT:
        raise UsageError(
            f"{text!r} is no key: write FUNCTION@HEIGHT, with the height in bytes, as main@256.",
            field="--key",
        )
    return name, int(height)
