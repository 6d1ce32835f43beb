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
    (("compaer", "a", "b"), ("Did you mean 'compare'?",)),
    (("compare", "--precison", "2%", "true", "true"), ("--precision",)),
    (("compare", "--budget", "5parsecs", "true", "true"), ("30s or 2min",)),
    (("compare", "--margin", "2", "true", "true"), ("1% or 0.01",)),
    (("compare", "--metric", "walltime", "true", "true"), ("Did you mean 'wall_time'?",)),
    (("compare", "--fail-if", "slow:2%", "true", "true"), ("slower:2%",)),
    (("compare", "./no-such-file", "true"), ("./no-such-file", "no")),
    (
        ("compare", "--parameter", "n=1,2", "true"),
        ("--parameter n is used nowhere", "'program {n}'"),
    ),
    (("measure", "--runs", "5", "--precision", "1%", "--", "true"), ("--runs", "--precision")),
    (("report",), ("no experiment yet", "steelyard measure")),
    (("report", "--format", "htm"), ("Did you mean 'html'?",)),
    (("experiment", "plan", "no-such.toml"), ("no-such.toml", "No such file")),
    (("experiment", "plan", "unknown-factor.toml"), ("line 4", "Did you mean 'flags'?")),
    (("experiment", "plan", "unknown-method.toml"), ("line 4", "Did you mean 'anova'?")),
    (("experiment", "plan", "unknown-source.toml"), ("line 4", "no directory 'nowhere'")),
    (
        (
            "experiment",
            "cause",
            "--factor",
            "stack-start",
            "--intervene",
            "aslrr=off",
            "--",
            "true",
        ),
        ("--intervene", "Did you mean 'aslr'?"),
    ),
    (
        ("experiment", "cause", "--factor", "environment-size", "--", "true"),
        ("--intervene", "--instead"),
    ),
]

_BENCHMARK = '[[benchmark]]\ncommand = "true"\n'
FILES = {
    "unknown-factor.toml": f'{_BENCHMARK}[[factor]]\nfactor = "flag"\nlevels = ["-O1", "-O2"]\n',
    "unknown-method.toml": f'{_BENCHMARK}[analysis]\nmethod = "anvoa"\n',
    "unknown-source.toml": f'{_BENCHMARK}build = "make"\nsource = "nowhere"\n',
}


@pytest.mark.parametrize(("typed", "words"), MISTAKES, ids=lambda part: " ".join(part)[:40])
def test_a_typical_mistake_gets_a_message_that_names_the_mend(user, typed, words):
    for name, text in FILES.items():
        (user.home / name).write_text(text)
    told = user.types(*typed)
    assert told.status in (2, 3), told.out
    assert told.err.startswith("steelyard: error: ")
    assert "Traceback" not in told.err
    for word in words:
        assert word in told.err
