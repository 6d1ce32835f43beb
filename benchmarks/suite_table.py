"""The tables of docs/suite.md: `python -m benchmarks.suite_table [--measure RUNS]`.

Without --measure the list of programs alone is made anew; the measured table stays.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "suite.md"


def told(*words: str) -> str:
    """What `steelyard suite` prints."""
    command = [sys.executable, "-m", "steelyard.cli.main", "suite", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def put(text: str, name: str, table: str) -> str:
    """`text` with `table` between the marks of that name."""
    begin, end = f"<!-- {name}: made by benchmarks/suite_table.py -->", f"<!-- end of {name} -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    return pattern.sub(lambda _: f"{begin}\n{table}\n{end}", text)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", type=int, metavar="RUNS")
    parser.add_argument("--size", default="train")
    options = parser.parse_args()
    programs = json.loads(told("list", "--json", "-"))["programs"]
    notes = [f"- {item['name']}: {item['notes']}" for item in programs if item["notes"]]
    table = "\n".join([told("list", "--markdown"), *notes])
    text = put(PAGE.read_text("utf-8"), "programs", table)
    if options.measure:
        began_s = time.monotonic()
        table = told(
            *("describe", "--size", options.size, "--runs", str(options.measure), "--markdown")
        )
        took_s = time.monotonic() - began_s
        head = (
            f"Size `{options.size}`, {options.measure} runs each; all in {took_s / 60:.0f} min.\n"
        )
        text = put(text, "measured", f"{head}\n{table}")
    PAGE.write_text(text, "utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
