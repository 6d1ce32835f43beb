"""The command lines of the pages, with small budgets put in by rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    Path("README.md"),
    *sorted(path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md")),
]
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Usages, not calls: their words stand for something, or may be left out.
USAGE = re.compile(r"\[[A-Z\-<]|\[--|\[options|\.\.\.|…|<[a-z]| \| --|[A-Z]\|[A-Z]|\{[A-Z]|\w\|\w")
PROGRAMS = (
    *("steelyard", "make", "git", "pipx", "mkdir", "cd", "sh", "gcc", "patch", "valgrind"),
    *("hyperfine", "go", "python", "compare.py", "cmake", "rustc", "printf", "integrations/"),
    *(".venv/", "tools/"),
)
CALL = re.compile(
    rf"(?:[A-Z_]+=(?:'[^']*'|\"[^\"]*\"|\S*) )*(?:{'|'.join(map(re.escape, PROGRAMS))})"
)
IDENTIFIER = re.compile(r"\b01[0-9A-HJKMNP-TV-Z]{2,24}\b")
SMALL = "8"


@dataclass(frozen=True)
class Line:
    """A command of a page.

    Attributes
    ----------
    page : Path
        Where it stands.
    text : str
        As it is written, continued lines joined.
    output : str
        What the page shows below it; empty where it shows nothing.
    """

    page: Path
    text: str
    output: str

    @property
    def is_usage(self) -> bool:
        """Whether its words stand for others."""
        return USAGE.search(self.text.split("  #")[0]) is not None

    @property
    def statuses(self) -> set[int]:
        """How it may end. A gate may say no; what the page shows as an error has to be one."""
        if "steelyard: error:" in self.output or "\nfault: " in self.output:
            return {2}
        gates = ("--fail-if", "--require", "--bench", "GATES=", "first-walk.sh")
        if "suite doctor" in self.text:
            return {0, 4}
        return {0, 1} if any(word in self.text for word in gates) else {0}

    @property
    def small(self) -> str:
        """The line with few runs: `--runs N` and budgets are cut, and a precision, which takes many
        runs, goes."""
        text = self.text
        if "experiment events" in text and "--runs" not in text:
            text = text.replace("experiment events", f"experiment events --runs {SMALL}")
        text = re.sub(r"--runs (?=\d+)\d\d+", f"--runs {SMALL}", text)
        text = re.sub(r"--budget \d+s", "--budget 16runs", text)
        text = re.sub(r"--precision \S+ ", "", text)
        text = re.sub(r" --precision \S+$", "", text)
        return re.sub(r"-count \d+", "-count 2", text)


def lines(page: Path) -> Iterator[Line]:
    """The commands of a page in their order. A block with prompts has output between them."""
    for kind, block in BLOCK.findall((ROOT / page).read_text("utf-8")):
        if kind not in ("", "console", "sh", "bash"):
            continue
        text = block.replace("\\\n", " ")
        if re.search(r"^\$ ", text, re.MULTILINE):
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                yield Line(page, _plain(command), output)
        else:
            for line in text.splitlines():
                if CALL.match(line):
                    yield Line(page, _plain(line), "")


def _plain(text: str) -> str:
    return re.sub(r" {2,}(?!#)", " ", text.strip())


def blocks(page: Path, kind: str) -> Iterator[str]:
    """The blocks of a page of one kind, such as toml."""
    for found, block in BLOCK.findall((ROOT / page).read_text("utf-8")):
        if found == kind:
            yield block
