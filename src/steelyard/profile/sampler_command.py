"""The command line of the native sampler, and the header of what it records."""

from __future__ import annotations

import json
import time
import uuid
from typing import Any

from steelyard.core.native_program import native_program
from steelyard.core.sampled_events import EVERY, event_names
from steelyard.profile.boot_identity import boot_id
from steelyard.profile.recording_request import Recording, round_samples_of


def sampler_path() -> str:
    """The installed sampler.

    Raises
    ------
    MissingCapabilityError
        It was not built.
    """
    return native_program("steelyard-sampler", "the sampler", variable="STEELYARD_SAMPLER")


def sampler_argv(recording: Recording, report: int) -> list[str]:
    """The command line of the sampler, which reports on the descriptor `report`."""
    header = json.dumps(
        {
            "id": uuid.uuid4().hex,
            "started_unix_s": time.time(),
            "argv": list(recording.argv),
            "process": recording.process,
            **_when(recording),
            "stacks": recording.stacks,
            "threads_only": recording.threads_only,
            "boot_id": boot_id(),
            **({"path_map": dict(recording.path_map)} if recording.path_map else {}),
        }
    )
    options = {
        "--output": recording.output,
        "--header": header,
        "--report": str(report),
        "--event": recording.event,
        "--period": repr(float(recording.period_ns)),
        "--spread": recording.spread,
        "--ratio": repr(float(recording.ratio)),
        "--round-samples": str(round_samples_of(recording)),
        "--seed": str(recording.seed),
        "--stacks": recording.stacks,
        "--scope": "threads" if recording.threads_only else "any",
        "--duration": repr(float(recording.duration_s or 0)),
        "--rotate-bytes": str(recording.rotate_bytes),
        "--keep-files": str(recording.keep_files),
    }
    if recording.program:
        options["--program"] = recording.program
    if recording.stack_notes:
        options["--stack-notes"] = recording.stack_notes
    if recording.marks:
        options["--marks"] = recording.marks
    if recording.word_below_frame_bytes:
        options["--word-below-frame"] = str(recording.word_below_frame_bytes)
    if recording.walk_keys:
        options["--walk-keys"] = recording.walk_keys
    if recording.spares or recording.walk_keys:
        options["--spare-name"] = recording.path_map["program"]
        options["--spare-build"] = recording.path_map["build"]
    if recording.counted:
        options["--every"] = str(recording.every)
    words = [word for pair in options.items() for word in pair]
    words += [word for event in recording.counted for word in ("--count", event.as_word())]
    argv = [sampler_path(), *words]
    if recording.process is not None:
        return [*argv, "--pid", str(recording.process)]
    return [*argv, "--", *recording.argv]


def _when(recording: Recording) -> dict[str, Any]:
    """What the header says of which samples are taken."""
    if recording.counted:
        return {
            "period": recording.every,
            "unit": "events",
            "spread": EVERY,
            "event": event_names(recording.counted),
        }
    return {
        "period": recording.period_ns,
        "unit": "ns" if recording.event == "cpu-clock" else "cycles",
        "spread": recording.spread,
        "round_samples": round_samples_of(recording),
        "ratio": recording.ratio,
        "seed": recording.seed,
        "event": recording.event,
    }
