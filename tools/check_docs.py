"""The docs keep up with the program: a page a command, every option on it, every link alive."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from write_experiment_fields import PAGE, with_fields

from steelyard.cli.main import program

PAGES = Path("docs/commands")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
TABLE_ROW = re.compile(r"\|.*\|\s*$")
TABLE_RULE = re.compile(r"\|[-:| ]+$")
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


def commands_below(
    group: click.Group, context: click.Context, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with its words, groups and their members alike."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        yield (*path, name), command
        if isinstance(command, click.Group):
            inner = click.Context(command, info_name=name, parent=context)
            yield from commands_below(command, inner, (*path, name))


def option_names(command: click.Command) -> Iterator[str]:
    """The long names of a command's options, with those that switch one off."""
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            names = (*parameter.opts, *parameter.secondary_opts)
            yield from (name for name in names if name.startswith("--"))


def mentions(text: str, option: str) -> bool:
    """Whether a page names an option, and not only a longer one that begins alike."""
    return re.search(re.escape(option) + r"(?![\w-])", text) is not None


def command_problems() -> Iterator[str]:
    """Commands without a page, and options that their page does not name."""
    documented: set[str] = set()
    for words, command in commands_below(program, click.Context(program)):
        page = PAGES / f"{words[0]}.md"
        documented.add(words[0])
        if not page.is_file():
            if len(words) == 1:
                yield f"steelyard {words[0]} has no page {page}"
            continue
        text = page.read_text("utf-8")
        if " ".join(words) not in text:
            yield f"{page} does not mention steelyard {' '.join(words)}"
        for option in option_names(command):
            if not mentions(text, option):
                yield f"{page} does not mention {option} of steelyard {' '.join(words)}"
    for page in sorted(PAGES.glob("*.md")):
        if page.stem not in documented:
            yield f"{page} is about a command that there is not"


def experiment_file_problems() -> Iterator[str]:
    """A table of the fields of experiment files that is not the one that they make."""
    text = PAGE.read_text("utf-8")
    if with_fields(text) != text:
        yield f"{PAGE} has other fields than are declared; python tools/write_experiment_fields.py"


def anchors(page: Path) -> set[str]:
    """The anchors that headings make, as common Markdown renderers name them."""
    headings = re.findall(r"^#+\s+(.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }


def link_problems() -> Iterator[str]:
    """Links between the project's own pages that lead nowhere."""
    for page in [*sorted(Path().glob("*.md")), *sorted(Path("docs").rglob("*.md"))]:
        for target in LINK.findall(CODE.sub("", page.read_text("utf-8"))):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            linked = page.parent / file if file else page
            if not linked.exists():
                yield f"{page} links to {target}, which is not there"
            elif anchor and linked.suffix == ".md" and anchor not in anchors(linked):
                yield f"{page} links to {target}, which has no such heading"


def table_problems(page: Path) -> Iterator[str]:
    """Tables that a blank line or a wrong number of cells cuts."""
    lines = re.sub(
        r"```.*?```", lambda m: "\n" * m[0].count("\n"), page.read_text("utf-8"), flags=re.S
    )
    rows = lines.split("\n")
    for number, line in enumerate(rows[:-1], 1):
        begins = TABLE_ROW.match(line) and not (number > 1 and TABLE_ROW.match(rows[number - 2]))
        if not begins:
            continue
        if not TABLE_RULE.match(rows[number]):
            yield f"{page}, line {number}: a table without its rule: is it cut by a blank line?"
        elif _cell_count(line) != _cell_count(rows[number]):
            yield f"{page}, line {number}: a table whose rule has another number of cells"


def _cell_count(line: str) -> int:
    return len(re.sub(r"\\\||`[^`]*`", "", line).strip().strip("|").split("|"))


def main() -> int:
    """Print every problem; the exit status says whether there was one."""
    problems = [*command_problems(), *experiment_file_problems(), *link_problems()]
    for page in [*sorted(Path().glob("*.md")), *sorted(Path("docs").rglob("*.md"))]:
        problems += table_problems(page)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
