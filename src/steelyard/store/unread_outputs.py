"""What tools print for people, which is not read: how each is told to write what is."""

from __future__ import annotations

import re

# What a text has, what it is, and what to import instead.
_KNOWN = (
    (
        rb"^test \S.* \.\.\. bench: +[\d.,]+ ns/iter",
        "the table of cargo bench",
        "for criterion.rs import target/criterion/NAME/new/sample.json; divan's own table is read",
    ),
    (
        rb"^\S.*\n? +time: +\[[\d.]+ \S+ [\d.]+ \S+ [\d.]+ \S+\]",
        "what criterion.rs prints",
        "import target/criterion/NAME/new/sample.json",
    ),
    (
        rb"^benchmark name +samples +iterations +est",
        "what Catch2 prints",
        "run it with --reporter xml and import that",
    ),
    (
        rb"^Benchmark .*\n?.*Iterations|^-+\nBenchmark +Time +CPU",
        "what Google Benchmark prints",
        "run it with --benchmark_out=FILE --benchmark_out_format=json and import FILE",
    ),
    (
        rb"^# JMH version|^Benchmark +(\(\S+\) +)*Mode +Cnt +Score",
        "what JMH prints",
        "run it with -rf json -rff FILE and import FILE",
    ),
    (
        rb"^Benchmark (#\d+|\d+): |^  Time \(mean ",
        "what hyperfine prints",
        "run it with --export-json FILE and import FILE",
    ),
    (
        rb"^-+ benchmark: \d+ tests",
        "what pytest-benchmark prints",
        "run it with --benchmark-json FILE and import FILE",
    ),
    (
        rb"^(\S+: )?Mean \+- std dev: ",
        "what pyperf prints",
        "run it with -o FILE and import FILE",
    ),
    (
        rb"^.+ x [\d,.]+ ops/sec \xc2\xb1",
        "what benchmark.js prints",
        "it has no single values; tinybench and vitest write those",
    ),
)


def advice_on(head: bytes) -> str:
    """A sentence on what the text is and what can be read instead; empty where nobody knows it."""
    for pattern, what, instead in _KNOWN:
        if re.search(pattern, head, re.MULTILINE):
            return f"It looks like {what}: {instead}."
    return ""
