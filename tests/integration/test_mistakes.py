"""Typical mistakes of who uses Steelyard for the first time: each message names the mend."""

import pytest

# What is typed, and what the message has to say.
MISTAKES = [
    (("measure", "gzip", "-6", "-c", "f"), ("-6", "steelyard measure -- gzip -6 -c f")),
    (("measure", "no-such-program"), ("no-such-program", "PATH")),
    (("compare", "gzip -c f > /dev/null", "true"), ("'>'", "--shell")),
    (("compare", "cat f | wc", "true"), ("'|'", "--shell")),
    (("compare", "cd x && make", "true"), ("'&&'", "--shell")),
    (("compare", "--runs", "2", "cat *.no-such", "true"), ("'*.no-such'", "--shell")),
    (("compare", "true"), ("two commands", "steelyard measure")),
    (("compare", "sh -c 'exit", "true"), ("quotation", "--shell")),
]


@pytest.mark.parametrize(("typed", "words"), MISTAKES, ids=lambda part: " ".join(part)[:40])
def test_a_typical_mistake_gets_a_message_that_names_the_mend(user, typed, words):
    told = user.types(*typed)
    assert told.status in (2, 3), told.out
    assert told.err.startswith("steelyard: error: ")
    assert "Traceback" not in told.err
    for word in words:
        assert word in told.err
