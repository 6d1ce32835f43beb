"""Passwords are kept by scrypt as RFC 7914 has it, and told from all others."""

from __future__ import annotations

import base64

import pytest

from steelyard.core.errors import UsageError
from steelyard.service.passwords import is_password, kept_password


def test_a_password_is_told_from_others_and_kept_with_a_salt_of_its_own() -> None:
    kept = kept_password("correct horse battery")
    assert kept.startswith("scrypt$15$8$3$")
    assert "correct" not in kept
    assert is_password("correct horse battery", kept)
    assert not is_password("correct horse batterz", kept)


def test_the_vector_of_the_rfc_is_met() -> None:
    # RFC 7914, section 12, the second vector; its first 32 bytes.
    key = bytes.fromhex("fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162")
    words = (base64.b64encode(each).decode() for each in (b"NaCl", key))
    assert is_password("password", "$".join(("scrypt", "10", "8", "16", *words)))


def test_a_letter_with_its_accent_is_the_same_however_a_keyboard_sends_it(monkeypatch) -> None:
    monkeypatch.setattr("steelyard.service.passwords._LOG_COST", 4)
    assert is_password("cafe\u0301 with sugar", kept_password("caf\u00e9 with sugar"))


def test_nothing_is_the_password_of_who_has_none(monkeypatch) -> None:
    monkeypatch.setattr("steelyard.service.passwords._LOG_COST", 4)
    for given in ("", "x" * 12, "\udc80" * 12):
        assert not is_password(given, "")


@pytest.mark.parametrize("password", ["", "x" * 11, "x" * 201])
def test_one_that_is_too_short_or_too_long_is_refused(password) -> None:
    with pytest.raises(UsageError, match="12 to 200 characters"):
        kept_password(password)


def test_one_that_is_longer_than_any_is_no_password_even_where_it_begins_like_one(
    monkeypatch,
) -> None:
    monkeypatch.setattr("steelyard.service.passwords._LOG_COST", 4)
    assert not is_password("x" * 1000, kept_password("x" * 200))
