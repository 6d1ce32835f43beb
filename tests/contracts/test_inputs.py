"""What every maker of inputs keeps: the same bytes for the same seed, on any machine."""

from __future__ import annotations

import hashlib
import re

import pytest

from steelyard.suite.inputs import GENERATORS

every_generator = pytest.mark.parametrize("generator", list(GENERATORS), ids=lambda g: g.name)
# Recipes rest on these bytes: a change needs another name, or new digests in every recipe.
KNOWN = {
    "binary": "3793c21e",
    "noise": "76fcbe44",
    "text": "c7f45411",
    "words": "5a4e4bcd",
}


def made(generator, seed: int = 1, **parameters) -> bytes:
    return b"".join(generator.make(seed, {**generator.parameters, **parameters}))


@every_generator
def test_it_says_what_it_is(generator):
    assert re.fullmatch(r"[a-z][a-z-]*", generator.name)
    assert generator.description.endswith(".")
    assert generator.parameters


@every_generator
def test_a_seed_gives_the_same_bytes_and_another_one_others(generator):
    first = made(generator)
    assert first
    assert made(generator) == first
    assert made(generator, seed=2) != first


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_the_bytes_are_those_that_recipes_rest_on(name):
    assert hashlib.sha256(made(GENERATORS.get(name))).hexdigest()[:8] == KNOWN[name]


@pytest.mark.parametrize("name", ["text", "binary", "noise"])
@pytest.mark.parametrize("size", [0, 1, 4095, 70_000])
def test_a_size_in_bytes_is_kept(name, size):
    assert len(made(GENERATORS.get(name), bytes=size)) == size
