"""Ten minutes of fuzzing over all readers, and inputs of 1 MB within their time and memory."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.readers import readers
from tests.needs import needs

SECONDS = int(os.environ.get("STEELYARD_FUZZ_SECONDS", "600"))
READERS = sorted(readers())
MEGABYTE = 10**6
MEMORY_BYTES = 500 * 10**6
PROCESSOR_S = 5
# Reads the file in this process, whose memory and time are limited.
READ = """
import resource, sys, time
from tests.fuzz.reader import check_message
from tests.fuzz.readers import readers
from steelyard.core.errors import SteelyardError
import numpy, pyarrow.csv, sqlalchemy
reader = readers()[sys.argv[1]]
def used():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before, started = used(), time.process_time()
try:
    reader.read(sys.argv[2])
except SteelyardError as error:
    check_message(error.message)
print(time.process_time() - started, used() - before)
"""


@pytest.mark.parametrize("name", READERS)
def test_no_input_ends_in_anything_but_an_error_of_ours(name):
    pytest.importorskip("atheris", reason="it takes atheris: make fuzz installs it")
    seconds = max(1, SECONDS // len(READERS))
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.fuzz", name, "--seconds", str(seconds)],
        capture_output=True,
        check=False,
        timeout=seconds + 300,
    )
    assert run.returncode == 0, run.stderr.decode("utf-8", "replace")[-3000:]


def grown(seed: bytes, way: str) -> bytes:
    """A file of 1 MB that is made of one that is read."""
    if way == "repeated":
        return (seed * (MEGABYTE // max(1, len(seed)) + 1))[:MEGABYTE]
    if way == "last line repeated":
        head, _, last = seed.rstrip(b"\n").rpartition(b"\n")
        return (head + b"\n" + (last + b"\n") * (MEGABYTE // (len(last) + 1)))[:MEGABYTE]
    if way == "one long line":
        return seed.replace(b"\n", b" ") * (MEGABYTE // max(1, len(seed)))
    if way == "other names in each line":
        head, _, last = seed.rstrip(b"\n").rpartition(b"\n")
        count = MEGABYTE // (len(last) + 12)
        lines = (re.sub(rb"[A-Za-z_]+", rb"\\g<0>%d" % place, last) for place in range(count))
        return head + b"\n" + b"\n".join(lines) + b"\n"
    if way == "many columns":
        head, _, rest = seed.partition(b"\n")
        more = b"".join(b",c%d" % place for place in range(MEGABYTE // 16))
        return head + more + b"\n" + rest.replace(b"\n", b",1" * (MEGABYTE // 16) + b"\n")
    if way == "nested":
        return seed[:1] + b"[{" * (MEGABYTE // 2)
    if way == "a long word":
        middle = len(seed) // 2
        return seed[:middle] + b"9" * (MEGABYTE - len(seed)) + seed[middle:]
    return seed[: len(seed) // 2] + bytes(MEGABYTE - len(seed) // 2)


WAYS = (
    *("repeated", "last line repeated", "one long line", "nested", "a long word", "zeros"),
    *("other names in each line", "many columns"),
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", READERS)
def test_an_input_of_a_megabyte_takes_little_time_and_memory(name, way, tmp_path):
    reader = readers()[name]
    path = tmp_path / reader.name
    path.write_bytes(grown(reader.seeds[0], way))
    run = subprocess.run(
        [sys.executable, "-c", READ, name, str(path)],
        capture_output=True,
        check=False,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60)),
    )
    assert run.returncode == 0, run.stderr.decode("utf-8", "replace")[-3000:]
    seconds, taken_bytes = map(float, run.stdout.split())
    assert seconds < PROCESSOR_S
    assert taken_bytes < MEMORY_BYTES


def test_every_file_of_the_corpus_belongs_to_a_reader():
    corpus = Path(__file__).parent.parent / "fuzz" / "corpus"
    assert {path.name for path in corpus.iterdir()} <= set(READERS)


NATIVE = ("call_frames", "messages", "class_file", "symbolizer", "bodies")


@needs("clang++-19")
@pytest.mark.parametrize("target", NATIVE)
def test_no_input_of_a_native_reader_ends_in_a_fault(target):
    run = subprocess.run(
        ["tools/fuzz_native.sh", str(max(1, SECONDS // 20)), target],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=SECONDS + 600,
    )
    assert run.returncode == 0, run.stdout.decode("utf-8", "replace")[-3000:]
