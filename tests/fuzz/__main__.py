"""Fuzz one reader with coverage feedback, by Atheris (libFuzzer for Python).

    .venv/bin/python -m tests.fuzz READER --seconds 60
    .venv/bin/python -m tests.fuzz READER --inputs 300000 [--seconds 180]
    .venv/bin/python -m tests.fuzz --list

The corpus in tests/fuzz/corpus/READER is begun from; inputs that reach new code are added to
build/fuzz/READER, and `--keep` copies small ones of them into the corpus. An input that ends in
anything but an error of Steelyard's, takes more than 5 s or more than 500 MB beyond the libraries
stops the run, and is written to build/fuzz.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
WORK = Path("build") / "fuzz"
# Beyond what Python, numpy and the instrumentation take by themselves.
MEMORY_MB = 500
TIMEOUT_S = 5
# The corpus is of small files: larger ones say the same again.
KEPT_BYTES = 600
KEPT_COUNT = 24


def main() -> None:
    """Parse, instrument, fuzz."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reader", nargs="?")
    parser.add_argument("--list", action="store_true", help="list the readers")
    parser.add_argument("--seconds", type=int, help="end after this long (default: 60)")
    parser.add_argument("--inputs", type=int, help="end after this many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="copy what an earlier run found")
    options = parser.parse_args()
    if options.list:
        from tests.fuzz.readers import readers

        sys.stdout.write("\n".join([*readers(), ""]))
        return
    if options.keep:
        _keep(options.reader)
    else:
        _fuzz(options)


def _keep(reader: str) -> None:
    """Copy the smallest inputs that reached new code into the corpus."""
    found = [path for path in (WORK / reader).iterdir() if not path.name.startswith("seed-")]
    small = [path for path in found if path.stat().st_size <= KEPT_BYTES]
    (CORPUS / reader).mkdir(parents=True, exist_ok=True)
    for path in sorted(small, key=lambda path: (path.stat().st_size, path.name))[-KEPT_COUNT:]:
        shutil.copyfile(path, CORPUS / reader / path.name[:16])


def _fuzz(options: argparse.Namespace) -> None:
    import atheris

    # What the readers import is instrumented as it is imported.
    with atheris.instrument_imports(include=["steelyard"]):
        from tests.fuzz.reader import check_message
        from tests.fuzz.readers import readers
    from steelyard.core.errors import SteelyardError

    reader = readers()[options.reader]
    work, corpus = WORK / options.reader, CORPUS / options.reader
    for folder in (work, corpus):
        folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(reader.seeds):
        (work / f"seed-{number}").write_bytes(seed)
    folder = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    path = os.path.join(folder, reader.name)

    def one(data: bytes) -> None:
        with open(path, "wb") as file:
            file.write(data)
        try:
            reader.read(path)
        except SteelyardError as error:
            check_message(error.message)

    seconds = options.seconds or (0 if options.inputs else 60)
    arguments = [
        sys.argv[0],
        *([f"-runs={options.inputs}"] if options.inputs else []),
        *([f"-max_total_time={seconds}"] if seconds else []),
        f"-seed={options.seed}",
        f"-timeout={TIMEOUT_S}",
        f"-rss_limit_mb={MEMORY_MB + 300}",
        f"-artifact_prefix={WORK}/{options.reader}-",
        "-print_final_stats=1",
        "-max_len=65536",
    ]
    atheris.Setup([*arguments, str(work), str(corpus)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
