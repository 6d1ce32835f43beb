"""Programs that tests ask for are those that the set-up installs, and are asked for in one way."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

from tests import needs

ROOT = Path(__file__).parents[2]
ASKS_THE_MACHINE = {"which", "machine", "geteuid"}


def names(node: ast.AST) -> set[str]:
    """What is called or looked up below a node, by the last part of its name."""
    return {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)} | {
        each.id for each in ast.walk(node) if isinstance(each, ast.Name)
    }


def skips_by_itself(node: ast.AST) -> bool:
    """Whether this skips tests for a program, a processor or a user."""
    match node:
        case ast.Call(func=ast.Attribute(attr="skipif"), args=[condition, *_]):
            return bool(names(condition) & ASKS_THE_MACHINE)
        case ast.If(test=condition, body=[ast.Expr(value=ast.Call() as call)]):
            # A condition that asks for more than these is not theirs.
            is_plain = not isinstance(condition, ast.BoolOp)
            return (
                "skip" in names(call.func)
                and is_plain
                and bool(names(condition) & ASKS_THE_MACHINE)
            )
    return False


def test_a_program_that_no_set_up_installs_is_refused():
    with pytest.raises(ValueError, match=r"no-such-program is not in .*tools/test_programs"):
        needs.need("no-such-program")


def test_a_test_for_which_programs_are_missing_names_them_and_their_packages(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None if name != "gcc" else "/usr/bin/gcc")
    with pytest.raises(pytest.skip.Exception) as skipped:
        needs.need("gcc", "javac", "jcmd", "gdb")
    assert skipped.value.msg == (
        "it takes javac and jcmd and gdb: apt-get install default-jdk-headless gdb"
    )


def test_set_up_looks_for_the_programs_of_the_same_list(tmp_path):
    told = subprocess.run(
        ["/bin/bash", "-c", ". tools/test_tools.sh; missing_test_tools"],
        cwd=ROOT,
        env={"PATH": str(tmp_path), "root": str(ROOT), "venv": str(ROOT / ".venv")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stderr == ""
    missing = dict(line.split(":") for line in told.stdout.splitlines())
    assert missing.keys() >= {"gcc", "gdb", "clang++", "valgrind"}
    assert {name: missing[name] for name in missing if name in needs.PACKAGES}.items() <= (
        needs.PACKAGES.items()
    )


@pytest.mark.parametrize(
    "text",
    [
        'skip = pytest.mark.skipif(shutil.which("gdb") is None, reason="no gdb")',
        'skip = pytest.mark.skipif(os.uname().machine != "x86_64", reason="another")',
        'if os.geteuid():\n    pytest.skip("no root")',
    ],
)
def test_a_skip_that_asks_the_machine_itself_is_found(text):
    assert any(skips_by_itself(node) for node in ast.walk(ast.parse(text)))


def test_tests_ask_for_programs_processors_and_root_in_one_way():
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path != Path(needs.__file__)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if skips_by_itself(node)
    ]
    assert found == [], "use tests.needs"
