"""A run of a program that notes every call path it takes."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.analysis.paths.path_map import (
    NO_CALL_SITE,
    Alignment,
    PathMap,
    PathNode,
    merged_nodes,
)
from steelyard.analysis.paths.stack_alignment import CANONICAL_START, moved
from steelyard.core.decoding import regular_opener
from steelyard.core.elf_file import from_elf
from steelyard.core.errors import UsageError
from steelyard.core.hashing import sha256_hex_of_file
from steelyard.core.native_program import native_program
from steelyard.core.program_loader import has_other_loader, loader_of
from steelyard.core.program_path import program_path
from steelyard.profile.executable import FunctionNames
from steelyard.profile.paths.added_code import CODE_SECTION
from steelyard.profile.paths.aligned_stacks import aligning_functions
from steelyard.profile.paths.clone_notes import originals_of
from steelyard.profile.paths.marked_program import marks_of
from steelyard.profile.paths.path_trees import PathTree, PlannedFunctions, read_plan, read_trees
from steelyard.profile.paths.planner_output import PLANNER_ADVICE
from steelyard.profile.symbols.elf_symbols import read_symbols
from steelyard.profile.symbols.source_lines import source_lines

_SITES_VARIABLE = "STEELYARD_PATHS_CALL_SITES"


@dataclass(frozen=True)
class LearningRun:
    """What one run took.

    Parameters
    ----------
    path_map : PathMap
        Of this run alone.
    function_count : int
        Functions of the program's file.
    thread_count : int
        Threads that entered one of them.
    exit_status : int
        That of the program; 128 and the signal where one ended it.
    """

    path_map: PathMap
    function_count: int
    thread_count: int
    exit_status: int


def build_of(program: str) -> str:
    """The build id of a program, or the digest of its file where it has none."""
    found = read_symbols(program).build_id
    if found:
        return found
    with open(program, "rb", opener=regular_opener) as file:
        return f"sha256:{sha256_hex_of_file(file)}"


@dataclass(frozen=True)
class Surroundings:
    """Where a command runs apart from the caller: what it prints goes nowhere.

    Parameters
    ----------
    directory : str or None
    stdin : str or None
        A file.
    """

    directory: str | None = None
    stdin: str | None = None


def learning_run(
    argv: Sequence[str],
    program: str,
    apart: Surroundings | None = None,
    call_sites: bool = False,
) -> LearningRun:
    """Run a command and note every path that `program` takes in it.

    Parameters
    ----------
    argv : sequence of str
    program : str
        The file whose functions are watched.
    apart : Surroundings, optional
        None: the command has the standard streams and the directory of the caller.
    call_sites : bool
        Tell paths apart by their call sites, too.

    Raises
    ------
    UsageError
        The program cannot be watched, or did not run, or none of its calls was noted; or its calls
        are led through wrappers, so that it has no call sites of its own.
    MissingCapabilityError
        The recorder was not built.
    """
    library = native_program(
        "libsteelyard-paths.so", "the recorder of paths", advice=PLANNER_ADVICE
    )
    if has_other_loader(program):
        raise UsageError(
            f"The call paths of {program} cannot be learnt: it is loaded by {loader_of(program)}.\n"
            "The recorder is a library of glibc. Build the program with glibc, or find paths "
            "without learning, with `profile record --paths auto`.",
            field="command",
        )
    if call_sites:
        _refuse_wrapped(program)
    with tempfile.TemporaryDirectory(prefix="steelyard-paths-") as folder:
        plan_path, trees = os.path.join(folder, "plan"), os.path.join(folder, "trees")
        os.mkdir(trees)
        plan = _planned(program, plan_path)
        status = _status_of(argv, _environment(library, plan_path, trees, call_sites), apart)
        if not os.path.exists(os.path.join(trees, "ready")):
            raise UsageError(
                f"The recorder did not come to work in {program}.\nThe command ended with status "
                f"{status}. A program that another one starts is named by --program; one with more "
                "rights than its user (setuid), or with a cleared environment (env -i), loads no "
                "recorder.",
                field="command",
            )
        found = read_trees(trees, plan)
    names, originals = FunctionNames(program), originals_of(program)
    aligning = _aligning(program, found)
    nodes = merged_nodes(
        [
            moved(tree.nodes, aligning, tree.stack_start or CANONICAL_START, CANONICAL_START)
            for tree in found
        ]
    )
    if not nodes:
        raise UsageError(
            f"No call of a function of {program} was noted.\nIt has tables of frames (.eh_frame) "
            f"for {len(plan.starts)} functions, and none of these was called. gcc and clang write "
            "them for all functions with -fasynchronous-unwind-tables.",
            field="command",
        )
    functions = {node.function for node in nodes}
    path_map = PathMap(
        program=os.path.basename(program),
        build=build_of(program),
        run_count=1,
        functions={at: names.at(originals.get(at, at)) for at in functions},
        unwatched={names.at(address): why for address, why in plan.unwatched.items()},
        nodes=nodes,
        lost_count=sum(tree.lost_count for tree in found),
        guessed_count=sum(tree.guessed_count for tree in found),
        marks=marks_of(program),
        call_sites=_site_names(program, nodes) if call_sites else None,
        originals=originals,
        aligning={at: one for at, one in aligning.items() if at in functions},
    )
    return LearningRun(path_map, len(plan.starts), len(found), status)


def _aligning(program: str, trees: Sequence[PathTree]) -> dict[int, Alignment]:
    """Functions that align their stack; nothing can be told by them where the stack of a thread
    began at several places."""
    found = aligning_functions(program)
    if all(tree.stack_start is not None for tree in trees):
        return found
    return {at: one._replace(depth_bytes=None) for at, one in found.items()}


def _planned(program: str, plan_path: str) -> PlannedFunctions:
    planner = native_program(
        "steelyard-path-planner", "the planner of paths", advice=PLANNER_ADVICE
    )
    done = subprocess.run(
        [planner, program, plan_path], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode != 0:
        reason = done.stderr.decode(errors="replace").strip() or "the planner was killed"
        raise UsageError(
            f"The call paths of {program} cannot be learnt.\n{reason}", field="command"
        )
    return read_plan(plan_path)


def _refuse_wrapped(program: str) -> None:
    if from_elf(program, lambda elf: elf.section(CODE_SECTION) is not None, False):
        raise UsageError(
            f"Calls of {program} are led through wrappers, and these return to the wrappers.\n"
            "Learn call sites of the program as it was before `resize`.",
            field="--call-sites",
        )


def _site_names(program: str, nodes: Sequence[PathNode]) -> dict[int, str]:
    sites = sorted({node.call_site for node in nodes} - {NO_CALL_SITE})
    # A call site is where its call returns to, which may be the next line.
    lines = source_lines(program, [site - 1 for site in sites])
    return dict(zip(sites, lines, strict=True))


def _environment(library: str, plan_path: str, trees: str, call_sites: bool) -> dict[str, str]:
    before = os.environ.get("LD_PRELOAD", "")
    kept = {_SITES_VARIABLE: "1"} if call_sites else {}
    inherited = {name: value for name, value in os.environ.items() if name != _SITES_VARIABLE}
    return {
        **inherited,
        **kept,
        "LD_PRELOAD": f"{library}:{before}" if before else library,
        "STEELYARD_PATHS_PLAN": plan_path,
        "STEELYARD_PATHS_FOLDER": trees,
    }


def _status_of(argv: Sequence[str], environment: dict[str, str], apart: Surroundings | None) -> int:
    command = [program_path(argv[0]), *argv[1:]]
    try:
        if apart is None:
            process = subprocess.Popen(command, env=environment)
        else:
            with open(apart.stdin or os.devnull, "rb") as stdin:
                process = subprocess.Popen(
                    command,
                    env=environment,
                    cwd=apart.directory,
                    stdin=stdin,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
    except OSError as error:
        raise UsageError(
            f"{argv[0]} cannot be started: {error.strerror}.", field="command"
        ) from None
    # Ctrl-C is the program's; what it did until then is learnt.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        status = process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    return status if status >= 0 else 128 - status
