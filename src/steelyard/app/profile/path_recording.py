"""Record a profile whose samples are looked up in a map of call paths."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from steelyard.app.profile.event_recording import program_of
from steelyard.app.profile.path_watch import Tell
from steelyard.app.profile.record_profile import record_profile
from steelyard.core.errors import DataError, UsageError
from steelyard.profile.paths.walked_beside import AUTO, KEYS, walked_beside
from steelyard.profile.recording_request import Recording


@dataclass(frozen=True)
class PathsAsked:
    """How call paths are found.

    Parameters
    ----------
    map_path : str
        The map that the samples are looked up in when they are read; `AUTO`: one of the stacks that
        are walked beside; `KEYS`: none yet.
    library_frames : bool
        Copy stacks, and walk the frames of libraries up to the program's last one.
    walk_ambiguous : bool
        Walk the stack where the key is ambiguous by the map, as far as tells the path.
    program : str or None
        The file that the command runs in the end; None: the one that it names.
    watch : callable or None
        Takes each key that was never learnt, while the program runs.
    """

    map_path: str
    library_frames: bool = False
    walk_ambiguous: bool = False
    program: str | None = None
    watch: Tell | None = None


def record_paths(
    recording: Recording,
    asked: PathsAsked,
    say: Callable[[str], None],
    java: bool | None = None,
) -> dict[str, Any]:
    """Record samples with the registers that keys are made of, and give what the sampler says.

    Parameters
    ----------
    recording : Recording
    asked : PathsAsked
    say : callable
        Takes a note for the user.
    java : bool or None
        As `record_profile`.

    Raises
    ------
    DataError
        The map is damaged or empty, or of another build of the program.
    UsageError, MissingCapabilityError, SteelyardError
        As `record_profile`.
    """
    from steelyard.profile.paths.sample_keys import AMBIGUOUS, LIBRARIES
    from steelyard.profile.paths.stack_notes import noting_stacks
    from steelyard.profile.watched_target import check_target

    check_target(recording)
    program = asked.program or program_of(recording)
    refuse_moving(program, recording.environment)
    known = _known_map(asked.map_path, program)
    if asked.library_frames:
        _check_is_program("--library-frames", program, known["program"])
        known["walked"] = LIBRARIES
        recording = replace(recording, stacks="dwarf", program=os.path.realpath(program))
    if recording.counted:
        # What a thread carries is in no event of the kernel.
        known.pop("marks", None)
    if asked.walk_ambiguous:
        _check_walks(recording, asked, program, known)
        known["walked"] = AMBIGUOUS
    recording = replace(recording, path_map=known)
    with (
        _walking_ambiguous(recording, asked, program) as telling,
        _sampling(telling) as sampling,
        noting_stacks(sampling) as noting,
        _walking(noting, asked.map_path == AUTO, say) as begun,
        _watching(noting, asked.watch),
    ):
        return record_profile(noting, say, java, begun)


def _check_walks(
    recording: Recording, asked: PathsAsked, program: str, known: Mapping[str, str]
) -> None:
    """Refuse to walk stacks where that is done already, or cannot be."""
    field = "--walk-ambiguous"
    why = ""
    if asked.map_path == AUTO:
        why = "--paths auto walks stacks of its own, and has no map yet"
    elif asked.map_path == KEYS:
        why = "--paths keys has no map, which says what is ambiguous"
    elif asked.library_frames:
        why = "--library-frames copies each stack"
    elif recording.stacks != "none":
        why = "--stacks keeps the chain of every sample"
    elif recording.counted:
        why = "of events no stack is copied"
    elif "marks" in known:
        why = "the program's calls are marked, so that its samples are its own"
    if why:
        raise UsageError(f"--walk-ambiguous is not for this: {why}.", field=field)
    _check_is_program(field, program, known["program"])


@contextmanager
def _walking_ambiguous(
    recording: Recording, asked: PathsAsked, program: str
) -> Iterator[Recording]:
    from steelyard.profile.paths.ambiguous_keys import walking_ambiguous
    from steelyard.profile.paths.map_file import read_map

    if not asked.walk_ambiguous:
        yield recording
        return
    with walking_ambiguous(recording, read_map(asked.map_path), program) as found:
        yield found


@contextmanager
def _sampling(recording: Recording) -> Iterator[Recording]:
    from steelyard.profile.paths.mark_samples import sampling_marks

    if "marks" not in recording.path_map:
        yield recording
        return
    with sampling_marks(recording) as found:
        yield found


@contextmanager
def _walking(
    recording: Recording, is_wanted: bool, say: Callable[[str], None]
) -> Iterator[Callable[[int], None]]:
    if not is_wanted:
        yield lambda _: None
        return
    with walked_beside(recording, say) as begun:
        if recording.process is not None:
            begun(recording.process)
        yield begun


@contextmanager
def _watching(recording: Recording, tell: Tell | None) -> Iterator[None]:
    from steelyard.app.profile.path_watch import watching

    if tell is None:
        yield
        return
    with watching(recording.output, recording.path_map["path"], tell):
        yield


def _check_is_program(option: str, path: str, name: str) -> None:
    """Refuse a command that names another program than that of the map: its file is read."""
    if os.path.basename(os.path.realpath(path)) != name:
        raise UsageError(
            f"{option} needs a command that names {name} itself, and not what starts it.",
            field=option,
        )


def _known_map(map_path: str, program: str) -> dict[str, str]:
    """What a profile says of its map.

    Another build of the program that the map is of is refused; what starts it may be anything.
    """
    from steelyard.profile.paths.aligned_stacks import aligning_functions
    from steelyard.profile.paths.learning_run import build_of
    from steelyard.profile.paths.mark_samples import CARRIED
    from steelyard.profile.paths.matching_map import matching_map

    name = os.path.basename(os.path.realpath(program))
    if map_path == AUTO:
        # The report needs them.
        aligning_functions(program, "--paths")
    if map_path in (AUTO, KEYS):
        return {"path": map_path, "program": name, "build": build_of(program)}
    path_map = matching_map(map_path, program)
    path = os.path.abspath(map_path)
    marks = {"marks": CARRIED} if path_map.marks else {}
    return {"path": path, "program": path_map.program, "build": path_map.build, **marks}


def refuse_moving(program: str, environment: Mapping[str, str]) -> None:
    """Refuse a program that moves its functions while it runs.

    Raises
    ------
    UsageError
        It does, and its environment does not keep it from that.
    """
    from steelyard.layout.audit import is_moving_build

    layout = environment.get("STEELYARD_LAYOUT", os.environ.get("STEELYARD_LAYOUT"))
    with suppress(DataError):
        if layout != "none" and is_moving_build(program):
            raise UsageError(
                f"{program} moves its functions while it runs, so its keys mean no paths.\n"
                "Give it a layout that stays: STEELYARD_LAYOUT=none.",
                field="command",
            )
