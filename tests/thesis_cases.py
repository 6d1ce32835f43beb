"""The comparison of compressors of Oliveira (2015), 4.3.1, with small programs in their place.

One of them does not link in the alphabetical order, as XZ did not there.
"""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "tests" / "data" / "linked-table"
EXAMPLES = ROOT / "examples" / "service"
REASON = "the table is torn"
_BUILT = """\
source = "{source}"
build = "{build}"
command = "{{build}}/table"
exit_codes = [0, 1]
"""
_ANY_ORDER = "sh -c 'sh -e build.sh || test -x table'"


def example(name: str, replicates: int | None = None) -> str:
    """An experiment file of the examples, with a number of replicates."""
    text = (EXAMPLES / name).read_text()
    if replicates is None:
        return text
    (line,) = [line for line in text.splitlines() if line.startswith("replicates = ")]
    return text.replace(line, f"replicates = {replicates}")


def small_compressors(replicates: int, flags: tuple[str, ...] = ()) -> str:
    """The file with programs that are built and run in no time, by hosts that are one platform;
    with a few of its flags where they are named."""
    text = example("compressors.toml", replicates)
    if flags:
        (line,) = [line for line in text.splitlines() if line.startswith('levels = ["-O0"')]
        text = text.replace(line, f"levels = {json.dumps(flags)}")
    for name, build in (("bzip2", _ANY_ORDER), ("xz", "sh -e build.sh")):
        wanted = f'program = "suite:{name}@size=test"\n'
        assert wanted in text
        text = text.replace(wanted, _BUILT.format(source=SOURCE, build=build))
    return text.replace("platform =", "worker =")
