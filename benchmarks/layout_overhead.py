"""What does a moving layout cost? User and system time against plain clang -O2, in blocks.

Programs of the suite are built by clang-19 and by `steelyard cc`, and every treatment of the
second is compared with the first by `steelyard compare`, in randomised blocks. `heap+code` is
built without frame pointers and pads; the others are one program whose environment differs.

    .venv/bin/python -m benchmarks.layout_overhead --runs 10 bzip2 lua zstd
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from steelyard.app.suite.suite_name import SuiteName
from steelyard.app.suite.suite_program import Workshop
from steelyard.core.experiment_spec import LaunchSpec
from steelyard.suite.known_recipes import RecipeRegistry
from steelyard.suite.suite_compilers import Toolchain

STEELYARD = Path(sys.executable).with_name("steelyard")
PLAIN = Toolchain(cc="clang-19", flags="-O2")
MOVING = Toolchain(cc=f"{STEELYARD} cc", cxx=f"{STEELYARD} c++", flags="-O2")
WITHOUT_PADS = Toolchain(cc=MOVING.cc, cxx=MOVING.cxx, flags="-O2 --layout=code,heap")
TREATMENTS = {
    "none": (MOVING, "none"),
    "code": (WITHOUT_PADS, "code"),
    "stack": (MOVING, "stack"),
    "heap": (WITHOUT_PADS, "heap"),
    "code+heap": (WITHOUT_PADS, "code,heap"),
    "all": (MOVING, "code,stack,heap"),
}


def launch(workshop: Workshop, program: str, toolchain: Toolchain, size: str) -> LaunchSpec:
    """How the program is run, built by this toolchain."""
    name = SuiteName(program, toolchain, size)
    return workshop.ready(RecipeRegistry().get(program), name).variant.launch


def command(spec: LaunchSpec, treatment: str | None) -> str:
    """The command line, with the treatment in its environment."""
    words = [] if treatment is None else ["env", f"STEELYARD_LAYOUT={treatment}"]
    return shlex.join([*words, *spec.argv])


def ratios(program: str, options: argparse.Namespace) -> dict[str, tuple[float, float, float]]:
    """Ratio of each treatment to the plain program, with its interval."""
    workshop = Workshop()
    plain = launch(workshop, program, PLAIN, options.size)
    commands = [command(plain, None)]
    for toolchain, treatment in TREATMENTS.values():
        commands.append(command(launch(workshop, program, toolchain, options.size), treatment))
    names = [f"--name={name}" for name in ("plain", *TREATMENTS)]
    with tempfile.TemporaryDirectory() as folder:
        words = ["--metric", "cpu_time", "--runs", str(options.runs), "--json", "-", "--wait"]
        words += ["--store", f"{folder}/store", "--directory", plain.working_directory or folder]
        if plain.stdin_file:
            words += ["--stdin", plain.stdin_file]
        words += [f"--exit-code={code}" for code in plain.expected_exit_codes]
        words += [f"--env={name}={value}" for name, value in plain.environment if value is not None]
        done = subprocess.run(
            [str(STEELYARD), "compare", *names, *words, *commands],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise RuntimeError(f"{program}: {done.stderr.strip()}")
    found = {}
    for comparison in json.loads(done.stdout)["comparisons"]:
        ratio = comparison["ratio"]
        found[comparison["candidate"]] = (ratio["estimate"], ratio["low"], ratio["high"])
    return found


def print_table(rows: dict[str, dict[str, tuple[float, float, float]]]) -> None:
    """A line a program, then the median and the largest of each treatment."""
    print("| program | " + " | ".join(TREATMENTS) + " |")
    print("|---|" + "---|" * len(TREATMENTS))
    for program, found in rows.items():
        cells = (
            f"{found[name][0]:.3f} ± {found[name][2] - found[name][0]:.3f}" for name in TREATMENTS
        )
        print(f"| {program} | " + " | ".join(cells) + " |")
    for word, choose in (("median", median), ("largest", max)):
        cells = (
            f"{choose([found[name][0] for found in rows.values()]):.3f}" for name in TREATMENTS
        )
        print(f"| {word} | " + " | ".join(cells) + " |")


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print; a program that cannot be compared is named and left out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--size", default="train")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args(arguments)
    rows = {}
    for program in options.programs:
        try:
            rows[program] = ratios(program, options)
        except RuntimeError as error:
            print(error, file=sys.stderr)
            continue
        print(
            program, {name: round(found[0], 3) for name, found in rows[program].items()}, flush=True
        )
    if rows:
        print_table(rows)
    return 0 if len(rows) == len(options.programs) else 1


if __name__ == "__main__":
    sys.exit(main())
