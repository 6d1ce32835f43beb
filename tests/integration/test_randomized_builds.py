"""Builds whose layout is randomised, with the compilers and linkers of this machine."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steelyard.build.randomizations import RANDOMIZATIONS
from steelyard.build.run_build import Build, run_build
from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import MissingCapabilityError, RandomizationError, UsageError
from tests.needs import needs

PROJECT = Path(__file__).parents[1] / "data" / "layout"
EXPECTED = (PROJECT / "expected").read_text()
MAKE = 'make -s LDFLAGS="$LDFLAGS" && ./program > said'
FUNCTIONS = ("circle", "circle_twice", "square", "square_twice", "first_of", "second_of")


pytestmark = needs("make", "cc", "ld")

TOOLS = [
    pytest.param((), "", id="system"),
    pytest.param((("LD", "ld.lld"),), "", id="lld", marks=needs("ld.lld")),
    pytest.param(
        (("CC", "clang"),), "-fuse-ld=lld", id="clang-lld", marks=needs("clang", "ld.lld")
    ),
]
Tools = tuple[tuple[str, str], ...]


@pytest.fixture
def built(tmp_path: Path) -> Callable[..., Build]:
    """Builds the test project, or changes of it, each time in a directory of its own."""
    count = 0

    def build(
        *randomize: str,
        seed: int = 1,
        command: str = MAKE,
        compilers: Tools = (),
        linking: str = "",
        source: Path = PROJECT,
    ) -> Build:
        nonlocal count
        count += 1
        spec = BuildSpec(
            ("/bin/sh", "-c", command),
            str(source),
            environment=(("LDFLAGS", linking),),
            compilers=compilers,
            randomize=randomize,
            timeout_s=60.0,
        )
        return run_build(spec, seed, str(tmp_path / f"build-{count}"))

    return build


def changed(tmp_path: Path, file: str, text: str) -> Path:
    """A copy of the project with one file of other contents."""
    copy = tmp_path / "changed"
    shutil.copytree(PROJECT, copy)
    (copy / file).write_text(text)
    return copy


def program(build: Build) -> bytes:
    return Path(build.directory, "program").read_bytes()


def realised(build: Build) -> dict[str, Any]:
    [link] = build.realised["links"]
    return link["realised"]


def own_functions(build: Build) -> list[str]:
    """The project's functions in the order in which `nm`, not we, finds them in the program."""
    listing = subprocess.run(
        ["nm", "-n", f"{build.directory}/program"], capture_output=True, text=True, check=True
    )
    names = [line.split()[-1] for line in listing.stdout.splitlines()]
    return [name for name in names if name in FUNCTIONS]


@pytest.mark.parametrize("name", RANDOMIZATIONS.names())
def test_the_program_still_works_and_what_was_realised_is_told(
    built: Callable[..., Build], name: str
) -> None:
    made = built(name)
    assert Path(made.directory, "said").read_text() == EXPECTED
    assert made.realised["randomize"] == (name,)
    assert realised(made)["objects"] == 4, "an archive's member that nobody needs came in"


@pytest.mark.parametrize(("compilers", "linking"), TOOLS)
def test_seeds_give_other_orders_and_the_same_seed_the_same_bits(
    built: Callable[..., Build], compilers: Tools, linking: str
) -> None:
    names = ("link-order", "function-order", "section-padding")
    made = [built(*names, seed=seed, compilers=compilers, linking=linking) for seed in (1, 1, 2, 3)]
    assert {Path(build.directory, "said").read_text() for build in made} == {EXPECTED}
    assert program(made[0]) == program(made[1])
    orders = [tuple(own_functions(build)) for build in made]
    assert len(set(orders)) == 3
    assert all(sorted(order) == sorted(FUNCTIONS) for order in orders)


def test_what_is_recorded_is_what_nm_finds(built: Callable[..., Build]) -> None:
    made = built("function-order")
    with open(realised(made)["functions_file"]) as file:
        recorded = [line.split()[1] for line in file]
    assert [name for name in recorded if name in FUNCTIONS] == own_functions(made)
    assert {"circle.c:scaled", "square.c:scaled"} < set(recorded)


def test_functions_of_a_module_stay_together_where_that_is_asked(
    built: Callable[..., Build],
) -> None:
    for name in ("module-order", "function-order-within-module"):
        stems = [function.partition("_")[0] for function in own_functions(built(name))]
        runs = [stem for index, stem in enumerate(stems) if index == 0 or stems[index - 1] != stem]
        assert stems.count("circle") == 2
        assert runs.count("circle") == 1
        assert runs.count("square") == 1


def test_objects_and_members_of_archives_come_in_the_order_asked_for(
    built: Callable[..., Build],
) -> None:
    default = own_functions(built("link-order-default"))
    assert own_functions(built("link-order-reverse"))[0].startswith("square")
    assert default[0] == "first_of"
    named = built("link-order-alphabetical")
    assert realised(named)["first_objects"] == [
        "first.o",
        "libshapes.a(circle.o)",
        "libshapes.a(square.o)",
        "main.o",
    ]


def test_padding_moves_functions_and_keeps_their_order(built: Callable[..., Build]) -> None:
    one, other = built("section-padding", seed=1), built("section-padding", seed=2)
    assert own_functions(one) == own_functions(other)
    assert realised(one)["order_sha256"] == realised(other)["order_sha256"]
    assert realised(one)["addresses_sha256"] != realised(other)["addresses_sha256"]


def test_randomisations_add_up(built: Callable[..., Build]) -> None:
    both = built("link-order", "module-order", "function-order-within-module", "section-padding")
    assert Path(both.directory, "said").read_text() == EXPECTED
    [link] = both.realised["links"]
    assert set(link["units"]) == set(both.realised["randomize"])


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("$CC -O2 *.c -o program", id="in-one-call"),
        pytest.param("printf '%s\\n' -O2 *.c -o program > words && $CC @words", id="response-file"),
        pytest.param("make -s CFLAGS='-O2 -g -s'", id="stripped"),
        pytest.param("make -s -j4 'AR=ar T' MAKEFLAGS= libshapes.a && make -s", id="thin-archive"),
        pytest.param(
            "make -s main.o first.o libshapes.a && "
            "$CC main.o first.o -Wl,--whole-archive libshapes.a -Wl,--no-whole-archive -o program",
            id="whole-archive",
        ),
        pytest.param(
            "make -s main.o first.o libshapes.a && "
            "$CC main.o first.o -Wl,--start-group -L. -lshapes -Wl,--end-group -static -o program",
            id="group-static",
        ),
        pytest.param(
            "make -s && $LD -r circle.o square.o -o both.o && $CC main.o first.o both.o -o program",
            id="partial-link",
        ),
        pytest.param(
            "$CC -fPIC -shared *e.c -o libshapes.so && "
            "$CC main.c first.c -L. -lshapes -Wl,-rpath,. -o program",
            id="shared",
        ),
    ],
)
def test_every_way_to_link_is_randomised(built: Callable[..., Build], command: str) -> None:
    made = built("link-order", "function-order", command=f"{command} && ./program > said")
    assert Path(made.directory, "said").read_text() == EXPECTED
    assert all(link["realised"]["functions"] for link in made.realised["links"])
    assert "program" in {link["output"] for link in made.realised["links"]}


def test_queries_of_the_compiler_and_the_linker_are_answered(built: Callable[..., Build]) -> None:
    queries = (
        "$CC --version && $CC -v && $CC -E - </dev/null && $CC -M main.c && $CC -S main.c && "
        "$CC -print-prog-name=ld && $LD --version && $LD -v && "
        'basename "$CC" && cd / && ln -s "$CC" $STEELYARD_BUILD_DIR/mycc && '
        "$STEELYARD_BUILD_DIR/mycc --version && cd - && "
    )
    made = built("link-order", command=queries + MAKE)
    said = Path(made.log).read_text()
    assert "warning" not in said
    assert "\ncc\n" in said


REFUSALS = [
    pytest.param(
        "function-order",
        "make -s CFLAGS='-O2 -fno-function-sections'",
        "-ffunction-sections",
        id="whole",
    ),
    pytest.param("link-order", "make -s CFLAGS='-O2 -flto'", "without -flto", id="lto"),
    pytest.param(
        "function-order",
        "ld --verbose | sed '1,/^===/d;/^===/,$d' > own.ld && make -s LDFLAGS=-Wl,-T,own.ld",
        r"linker script \(-T\)",
        id="script",
    ),
    pytest.param(
        "link-order", "make -s program CC=/usr/bin/cc", r"ignores CC, CXX and LD", id="ignored"
    ),
    pytest.param(
        "link-order",
        "make -s && $LD -r *.o -o all && $CC all -o program",
        r"link-order has nothing to order.*program \(1\)",
        id="one-object",
    ),
    pytest.param(
        "function-order", "make -s LDFLAGS=-fuse-ld=gold", "gold would not link it so", id="gold"
    ),
]


@pytest.mark.parametrize(("name", "command", "reason"), REFUSALS)
def test_what_cannot_be_randomised_is_refused_by_name(
    built: Callable[..., Build], name: str, command: str, reason: str
) -> None:
    with pytest.raises(RandomizationError, match=reason) as refused:
        built(name, command=command)
    assert name in refused.value.message
    assert refused.value.exit_status == 2


@needs("clang", "ld.lld")
def test_an_order_of_the_projects_own_is_refused(built: Callable[..., Build]) -> None:
    own = "echo square > order && make -s LDFLAGS='-fuse-ld=lld -Wl,--symbol-ordering-file=order'"
    with pytest.raises(RandomizationError, match="orders sections itself"):
        built("function-order", command=own, compilers=(("CC", "clang"),))


def test_a_link_that_only_a_configure_script_tries_is_not_refused(
    built: Callable[..., Build],
) -> None:
    trial = "echo 'int main(void) {return 0;}' > conftest.c && $CC -flto conftest.c -o conftest && "
    made = built("link-order", command=trial + MAKE)
    assert [link["output"] for link in made.realised["links"]] == ["program"]


def test_a_link_error_is_the_projects_own(built: Callable[..., Build]) -> None:
    made = built(
        "link-order",
        command=f"if $CC main.c -o conftest 2> complaint; then exit 1; fi; {MAKE}",
    )
    assert "undefined reference" in Path(made.directory, "complaint").read_text()


def test_hand_written_assembly_moves_as_one(built: Callable[..., Build], tmp_path: Path) -> None:
    assembly = (
        ".text\n.globl one, two\n.type one, @function\none: ret\n.type two, @function\ntwo: ret\n"
    )
    source = changed(tmp_path, "hand.s", assembly + '.section .note.GNU-stack,"",@progbits\n')
    command = "$CC -c hand.s && make -s LDFLAGS=hand.o && ./program > said"
    made = built("function-order", command=command, source=source)
    assert Path(made.directory, "said").read_text() == EXPECTED


def test_a_randomisation_that_is_unknown_is_named(built: Callable[..., Build]) -> None:
    with pytest.raises(UsageError, match="no randomisation called 'stack'"):
        built("stack")


def test_a_path_that_makefiles_would_part_is_refused(tmp_path: Path) -> None:
    spec = BuildSpec(("make",), str(PROJECT), randomize=("link-order",))
    with pytest.raises(UsageError, match=r"white space. .* the store \(--store\)"):
        run_build(spec, 1, str(tmp_path / "with space"))


def test_the_linker_is_found_by_a_python_whose_path_has_white_space(
    built: Callable[..., Build], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "my programs" / "python3"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert built("link-order").realised["links_count"] > 0


def test_a_compiler_that_is_missing_is_named_with_its_package(built: Callable[..., Build]) -> None:
    with pytest.raises(MissingCapabilityError, match="apt-get install g\\+\\+"):
        built("link-order", compilers=(("CXX", "no-such-compiler"),))


def test_a_compiler_that_takes_no_such_words_is_refused(
    built: Callable[..., Build], tmp_path: Path
) -> None:
    compiler = tmp_path / "othercc"
    compiler.write_text("#!/bin/sh\necho 'unknown option -B' >&2; exit 1\n")
    compiler.chmod(0o755)
    with pytest.raises(MissingCapabilityError, match=r"othercc.*unknown option -B"):
        built("link-order", compilers=(("CC", str(compiler)),))


def test_a_compiler_behind_a_launcher_keeps_its_name(
    built: Callable[..., Build], tmp_path: Path
) -> None:
    launcher = tmp_path / "ccache"
    # Who asks a compiler for its version has no folder of a build.
    note = '[ -z "$STEELYARD_BUILD_DIR" ] || echo called >> "$STEELYARD_BUILD_DIR/launched"'
    launcher.write_text(f'#!/bin/sh\n{note}\nexec "$@"\n')
    launcher.chmod(0o755)
    made = built(
        "link-order",
        command=f'basename "$CC" > name && {MAKE}',
        compilers=(("CC", f"{launcher} {shutil.which('cc')} -DUNUSED='a b'"),),
    )
    assert Path(made.directory, "name").read_text() == "cc\n"
    assert Path(made.directory, "launched").exists()


def test_what_is_recorded_is_json(built: Callable[..., Build]) -> None:
    realised = built("link-order").realised
    again = json.loads(json.dumps(realised, allow_nan=False))
    assert again == {**realised, "randomize": ["link-order"]}
