"""The launcher's messages: netstrings of netstrings, which carry any byte."""

from __future__ import annotations

import os

from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import Variant
from steelyard.measure.program import (
    environment_of,
    find_program,
    padded_path,
    stack_padding_of,
)


def message(*fields: bytes) -> bytes:
    """One message; its first field says what it is."""
    content = b"".join(b"%d:%b," % (len(field), field) for field in fields)
    return b"%d:%b," % (len(content), content)


def run_message(position: int, block: int, variant: int, build: int, warmup: bool) -> bytes:
    """The message that queues one trial of the program `variant`."""
    numbers = (position, block, variant, variant, build, int(warmup))
    return message(b"run", *(b"%d" % number for number in numbers))


def program_message(index: int, variant: Variant) -> bytes:
    """The message that defines the program `index`.

    Raises
    ------
    UsageError
        The program does not exist, or a string holds a zero byte.
    """
    launch = variant.launch
    environment = environment_of(launch)
    pairs: list[tuple[bytes, bytes]] = []
    pairs += _command(b"", launch.argv, environment, variant, stack_padding_of(launch))
    pairs += [(b"environment", b"%b=%b" % item) for item in environment.items()]
    for prefix, step in ((b"prepare-", variant.prepare), (b"cleanup-", variant.cleanup)):
        if step is not None:
            pairs += _command(prefix, step, environment, variant)
    for name, value in ((b"directory", launch.working_directory), (b"input", launch.stdin_file)):
        if value is not None:
            pairs.append((name, os.fsencode(value)))
    pairs += _conditions(variant)
    for name, value in pairs:
        if b"\0" in value:
            raise UsageError(
                f"The {name.decode()} of {variant.name!r} holds a zero byte, which no program "
                "can be given.",
                field=name.decode(),
            )
    return message(b"program", b"%d" % index, *(part for pair in pairs for part in pair))


def _command(
    prefix: bytes,
    argv: tuple[str, ...],
    environment: dict[bytes, bytes],
    variant: Variant,
    stack_padding_bytes: int = 0,
) -> list[tuple[bytes, bytes]]:
    if not argv:
        raise UsageError(f"{variant.name!r} has an empty command.", field="command")
    directory = variant.launch.working_directory
    if not prefix and variant.prepare is not None and "/" in argv[0]:
        path = os.fsencode(argv[0])  # Its preparation may be what makes it.
    else:
        path = find_program(argv[0], environment, directory)
    pairs = [(prefix + b"path", padded_path(path, stack_padding_bytes))]
    pairs += [(prefix + b"argument", os.fsencode(argument)) for argument in argv]
    return pairs


def _conditions(variant: Variant) -> list[tuple[bytes, bytes]]:
    launch = variant.launch
    pairs = [(b"expected-exit-code", b"%d" % code) for code in launch.expected_exit_codes]
    if launch.timeout_s is not None:
        pairs.append((b"timeout-ns", b"%d" % max(1, round(launch.timeout_s * 1e9))))
    if launch.cpus is not None:
        pairs.append((b"cpus", b",".join(b"%d" % cpu for cpu in launch.cpus)))
    if launch.aslr is not None:
        pairs.append((b"aslr", b"%d" % launch.aslr))
    if launch.nice is not None:
        pairs.append((b"nice", b"%d" % launch.nice))
    if launch.realtime_priority is not None:
        pairs.append((b"realtime-priority", b"%d" % launch.realtime_priority))
    if launch.private_network:
        pairs.append((b"private-network", b"1"))
    if launch.memory_nodes is not None:
        pairs.append((b"memory-nodes", b",".join(b"%d" % node for node in launch.memory_nodes)))
    if launch.clock_shift_s is not None:
        pairs.append((b"clock-shift-s", b"%d" % launch.clock_shift_s))
    if launch.container is not None:
        pairs.append((b"container", os.fsencode(launch.container)))
    if launch.warmup_runs:
        pairs.append((b"warmup-runs", b"%d" % launch.warmup_runs))
    pairs += [(b"limit", os.fsencode(name) + b"=%d" % value) for name, value in launch.limits]
    return pairs
