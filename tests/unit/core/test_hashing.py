import hashlib

import pytest

from steelyard.core.hashing import sha256_hex_of_file, sha256_of


def test_the_built_in_digest_is_that_of_hashlib():
    assert sha256_of(b"steelyard") == hashlib.sha256(b"steelyard").digest()


@pytest.mark.parametrize("size", [0, 1, 1 << 20, (1 << 20) + 1])
def test_files_of_every_size_are_hashed_from_their_beginning(tmp_path, size):
    path = tmp_path / "file"
    path.write_bytes(b"x" * size)
    with path.open("rb") as file:
        file.read(1)
        assert sha256_hex_of_file(file) == hashlib.sha256(b"x" * size).hexdigest()
