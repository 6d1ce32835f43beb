from pathlib import Path

import pytest

from steelyard.core.errors import DataError
from steelyard.suite.read_recipe import read_recipe
from steelyard.suite.recipe import Input

WHOLE = """
name = "tiny"
title = "A tiny program"
description = "Does next to nothing."
languages = ["c"]
licence = "MIT"
groups = ["native"]
[source]
kind = "own"
version = "1"
[build]
script = "$CC own/tiny.c -o tiny"
program = "tiny"
[run]
argv = ["{program}", "{input}/data"]
environment = { LANG = "C" }
[sizes.test]
inputs = [{ file = "data", generator = "text", seed = 3, bytes = 100 }]
check = [{ comparator = "text", expected = "test.txt" }]
[sizes.train]
argv = ["{program}", "more"]
environment = { MODE = "fast" }
check = [{ comparator = "text", expected = "test.txt", ignore = "^took" }]
[sizes.ref]
check = [{ comparator = "numbers", expected = "test.txt", tolerance_ratio = 1e-6 }]
"""


@pytest.fixture
def written(tmp_path: Path):
    def write(text: str, name: str = "tiny") -> str:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "test.txt").write_text("fine\n")
        path = tmp_path / f"{name}.toml"
        path.write_text(text)
        return str(path)

    return write


def test_a_recipe_says_all_of_its_program(written):
    recipe = read_recipe(written(WHOLE))
    assert recipe.name == "tiny"
    assert recipe.sizes["test"].inputs == (Input("data", "text", 3, {"bytes": 100}),)
    assert recipe.versions == ("1",)


def test_sizes_take_what_is_said_for_all_of_them(written):
    sizes = read_recipe(written(WHOLE)).sizes
    assert sizes["test"].argv == ("{program}", "{input}/data")
    assert sizes["train"].argv == ("{program}", "more")
    assert dict(sizes["train"].environment) == {"LANG": "C", "MODE": "fast"}
    assert dict(sizes["test"].environment) == {"LANG": "C"}


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('title = "A tiny program"', "", "title"),
        ('licence = "MIT"', 'licence = ""', "licence"),
        ('licence = "MIT"', 'license = "MIT"', "licence"),
        ('groups = ["native"]', 'groups = ["natve"]', "groups"),
        ('groups = ["native"]', "groups = []", "groups"),
        ('name = "tiny"', 'name = "other"', "name"),
        ('kind = "own"', 'kind = "svn"', "source.kind"),
        ('version = "1"', 'versions = "1"', "source.version"),
        ('kind = "own"', 'kind = "own"\nshared = ["none"]', "source.shared"),
        ('program = "tiny"', "", "build.program"),
        ("[run]", "[run]\nstdout = 3", "sizes.test.stdout"),
        ('"{program}", "{input}/data"', '"{program}", "{data}"', "sizes.test.argv"),
        ("seed = 3", "sede = 3", "sizes.test.inputs[0].seed"),
        ("seed = 3", "seed = -3", "sizes.test.inputs[0].seed"),
        ('file = "data"', 'file = "../data"', "sizes.test.inputs[0].file"),
        ('"text", seed', '"make.py", seed', "sizes.test.inputs[0].generator"),
        ('expected = "test.txt" }]\n[sizes.train]', 'expected = "none" }]\n[sizes.train]', "check"),
        ("tolerance_ratio = 1e-6", "tolerance_ratio = -1", "sizes.ref.check[0].tolerance_ratio"),
        ('"numbers"', '"text"', "sizes.ref.check[0].tolerance_ratio"),
        ('"numbers"', '"sha256"', "sizes.ref.check[0].expected"),
        ('ignore = "^took"', 'ignore = "("', "sizes.train.check[0].ignore"),
        ("[sizes.ref]\ncheck", "[sizes.ref]\nchecks", "sizes.ref.checks"),
        ("[run]", "[changed]\ninput = 'none'\n[run]", "changed.input"),
        ("[run]", "[[requires]]\npackage = 'zlib1g-dev'\n[run]", "requires[0].package"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_field(written, old, new, field):
    assert old in WHOLE
    path = written(WHOLE.replace(old, new))
    with pytest.raises(DataError) as caught:
        read_recipe(path)
    assert path in caught.value.message
    assert field in (caught.value.field or "")


@pytest.mark.parametrize(
    "files", ["tiny_1.diff.gz", "tiny_1.tar.gz", "tiny_1.orig.tar.gz tiny_1.orig-b.tar.gz"]
)
def test_a_source_package_is_described_or_is_one_tarball_of_its_authors(written, files):
    def recipe_of(names: str) -> str:
        listed = ", ".join(
            f'{{ file = "{name}", size = 1, sha256 = "{"0" * 64}" }}' for name in names.split()
        )
        source = f'kind = "debian"\npackage = "tiny"\n[[source.releases]]\nfiles = [{listed}]\n'
        return written(WHOLE.replace('kind = "own"\n', source))

    assert read_recipe(recipe_of("tiny_1.orig.tar.gz")).source.releases[0].is_tarball
    assert not read_recipe(recipe_of("tiny_1.dsc tiny_1.orig.tar.gz")).source.releases[0].is_tarball
    with pytest.raises(DataError) as caught:
        read_recipe(recipe_of(files))
    assert "releases[0].files" in (caught.value.field or "")


def test_a_program_without_inputs_says_how_its_output_can_differ(written):
    without = WHOLE.replace(
        'inputs = [{ file = "data", generator = "text", seed = 3, bytes = 100 }]', ""
    )
    with pytest.raises(DataError, match=r"changed\.argv"):
        read_recipe(written(without))
    whole = without.replace("[run]", '[changed]\nargv = ["{program}", "4"]\n[run]')
    assert read_recipe(written(whole)).changed.argv == ("{program}", "4")


def test_a_file_that_is_no_toml_is_one_clear_error(written, tmp_path):
    with pytest.raises(DataError, match="is not TOML"):
        read_recipe(written("name = "))
    with pytest.raises(DataError, match="No such file"):
        read_recipe(str(tmp_path / "none.toml"))
