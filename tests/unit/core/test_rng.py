import hashlib

from steelyard.core.rng import SEED_LIMIT, derive_seed, fresh_seed


def test_a_seed_gives_the_same_stream_on_every_machine_and_version():
    # Stored seeds must mean the same plan for ever, so the derivation is fixed by value.
    digest = hashlib.sha256(b"42/block/3").digest()[:8]
    assert derive_seed(42, "block", 3) == int.from_bytes(digest, "big") % SEED_LIMIT


def test_purposes_have_streams_of_their_own():
    seeds = {derive_seed(1, purpose, number) for purpose in ("a", "b") for number in range(50)}
    assert len(seeds) == 100


def test_another_seed_moves_every_purpose():
    purposes = [("block", 0), ("block", 1), ("bootstrap",), ("events", "a"), ()]
    seeds = {derive_seed(seed, *purpose) for seed in range(50) for purpose in purposes}
    assert len(seeds) == 50 * len(purposes)


def test_seeds_fit_a_signed_64_bit_column():
    assert all(0 <= derive_seed(seed, "x") < 2**63 for seed in range(200))
    assert 0 <= fresh_seed() < SEED_LIMIT
