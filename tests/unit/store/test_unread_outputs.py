"""What a tool printed for people is named, with what to import instead."""

import pytest

from steelyard.core.errors import DataError
from steelyard.store.file_format import detect_format
from steelyard.store.formats import FORMATS

PRINTED = {
    "--export-json FILE": "Benchmark 1: true\n  Time (mean ± σ):   1.5 ms ±  0.7 ms\n",
    "sample.json; divan": "running 1 test\ntest sum ... bench:      329 ns/iter (+/- 4)\n",
    "import target/criterion/NAME": "fib 20                  time:   [26.0 us 26.2 us 26.4 us]\n",
    "--reporter xml": "-----\nbenchmark name      samples       iterations    estimated\n",
    "--benchmark_out=FILE": (
        "-------\nBenchmark          Time             CPU   Iterations\nBM_x  1 ns  1 ns  9\n"
    ),
    "-rf json -rff FILE": "# JMH version: 1.37\n# VM version: JDK 17\n",
    "--benchmark-json FILE": "------------- benchmark: 2 tests -------------\nName (time in ns)\n",
    "-o FILE": "sum: Mean +- std dev: 26.1 ns +- 0.3 ns\n",
    "tinybench and vitest": "fib(10) x 1,431,759 ops/sec ±0.74% (93 runs sampled)\n",
}


@pytest.mark.parametrize("advice", PRINTED)
def test_what_a_tool_prints_is_named_with_what_to_import(tmp_path, advice):
    path = tmp_path / "printed.txt"
    path.write_text(PRINTED[advice], "utf-8")
    with pytest.raises(DataError) as raised:
        detect_format(str(path), FORMATS)
    assert "looks like none of the formats that can be read. It looks like" in str(raised.value)
    assert advice in str(raised.value)


def test_what_nobody_knows_gets_the_names_of_the_formats(tmp_path):
    (tmp_path / "x").write_text("well\n")
    with pytest.raises(DataError, match=r"--format: benchfmt, .*vitest"):
        detect_format(str(tmp_path / "x"), FORMATS)
