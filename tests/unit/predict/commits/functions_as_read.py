"""Programs as their functions are read, without a compiler."""

from steelyard.predict.commits.program_code import FUNCTION, ProgramCode


def program(functions, machine="x86-64", objects=(), **more):
    """A program of functions.

    `functions` are (name, digest) or (name, digest, references), or mappings with more columns.
    """
    rows = [row if isinstance(row, dict) else as_row(*row) for row in functions]
    columns = {key: [row[key] for row in rows] for key in as_row("", 0)}
    return ProgramCode(
        machine=machine,
        build_id="",
        stripped=False,
        libraries=more.get("libraries", ["libc.so.6"]),
        producers=more.get("producers", []),
        externals=more.get("externals", []),
        objects=[name for name, _ in objects],
        object_sizes_bytes=[8] * len(objects),
        object_digests=[digest for _, digest in objects],
        source=more.get("source", "program"),
        **columns,
    )


def as_row(name, digest, references=(), instructions=20, loop=0, sketch=None):
    """The columns of one function; like digests have like sketches."""
    return {
        "names": name,
        "digests": digest,
        "loop_digests": loop,
        "instructions": instructions,
        **dict.fromkeys(("floating", "vector", "branches", "calls", "memory"), 0),
        "sketches": sketch or [digest * 31 + place for place in range(8)],
        "references": list(references),
    }


def call(place):
    """A reference to a function."""
    return (FUNCTION, place, 0)
