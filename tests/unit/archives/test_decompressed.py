"""Compressed streams are read forward, to their end, and what follows them is noticed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma

import pytest

from steelyard.archives.decompressed import Decompressed, decompressed

TEXT = bytes(range(256)) * 5000
COMPRESSORS = pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])


def opened(data: bytes) -> Decompressed:
    found = decompressed(io.BytesIO(data))
    assert isinstance(found, Decompressed)
    return found


def test_what_is_not_compressed_is_read_as_it_is():
    assert decompressed(io.BytesIO(b"plain")).read(9) == b"plain"


@COMPRESSORS
def test_reads_of_any_size_give_the_content(compress):
    stream = opened(compress(TEXT))
    found = b""
    for size in (1, 7, 1000, 300_000, 10**7):
        found += stream.read(size)
        assert stream.tell() == len(found)
    assert found == TEXT
    assert stream.read(1) == b""
    assert not stream.has_rest


@COMPRESSORS
def test_going_forward_skips_and_going_back_is_refused(compress):
    stream = opened(compress(TEXT))
    assert stream.seek(700_001) == 700_001
    assert stream.read(3) == TEXT[700_001:700_004]
    with pytest.raises(ValueError, match="forward"):
        stream.seek(5)
    assert stream.seek(10**9) == len(TEXT)


@COMPRESSORS
@pytest.mark.parametrize("zeros", [0, 4, 300_000])
def test_streams_with_zeros_between_are_one_and_garbage_behind_is_told(compress, zeros):
    parts = compress(TEXT) + bytes(zeros) + compress(b"more")
    assert opened(parts).read(10**8) == TEXT + b"more"
    stream = opened(parts + bytes(zeros) + b"garbage")
    assert stream.read(10**8) == TEXT + b"more"
    assert stream.has_rest


@COMPRESSORS
def test_a_stream_that_is_cut_off_is_an_error(compress):
    with pytest.raises(EOFError, match="cut off"):
        opened(compress(TEXT)[:-3]).read(10**8)
