import importlib.metadata
import sys

import pytest

from steelyard.core.errors import RegistryError, UnknownNameError
from steelyard.core.plugins import failed_plugins
from steelyard.core.registry import Folder, Registry

EXTENSION = """
class Sound:
    def __init__(self, name): self.name = name
EXTENSION = Sound({name!r})
"""


class Sound:
    def __init__(self, name):
        self.name = name


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A package of two extensions, a private module, and one that is no extension."""
    package = tmp_path / "menagerie"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "lion.py").write_text(EXTENSION.format(name="lion"))
    (package / "sea_cow.py").write_text(EXTENSION.format(name="sea-cow"))
    (package / "_shared.py").write_text("raise RuntimeError('private modules are not extensions')")
    (package / "plain.py").write_text("ANSWER = 42")
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [name for name in sys.modules if name.split(".")[0] == "menagerie"]:
        del sys.modules[name]


@pytest.fixture
def registry(folder):
    return Registry("animal", "menagerie", "steelyard.animals")


def entry_points(monkeypatch, *extensions):
    class Point:
        def __init__(self, extension):
            self.value = f"elsewhere:{extension.name}"
            self.load = lambda: extension

    asked = {}

    def found(*, group):
        asked["group"] = group
        return [Point(extension) for extension in extensions]

    monkeypatch.setattr(importlib.metadata, "entry_points", found)
    return asked


def test_one_name_is_found_without_importing_its_neighbours(registry):
    assert registry.get("lion").name == "lion"
    assert "menagerie.sea_cow" not in sys.modules


def test_a_name_with_hyphens_lives_in_a_module_with_underscores(registry):
    assert registry.get("sea-cow").name == "sea-cow"


def test_names_are_sorted_and_private_modules_left_alone(registry):
    assert registry.names() == ["lion", "sea-cow"]
    assert [extension.name for extension in registry] == ["lion", "sea-cow"]


def test_an_unknown_name_lists_the_known_ones(registry):
    with pytest.raises(UnknownNameError, match=r"no animal called 'unicorn'. Known: lion, sea-cow"):
        registry.get("unicorn")
    assert "unicorn" not in registry
    assert "lion" in registry


@pytest.mark.parametrize("name", ["", "../lion", "_shared", "lion.EXTENSION", "os"])
def test_a_name_is_never_a_way_to_import_something_else(registry, name):
    with pytest.raises(UnknownNameError):
        registry.get(name)


def test_entry_points_of_the_same_name_join(registry, monkeypatch):
    asked = entry_points(monkeypatch, Sound("zebra"))
    assert registry.names() == ["lion", "sea-cow", "zebra"]
    assert asked == {"group": "steelyard.animals"}


def test_a_name_taken_twice_is_an_error_that_names_both(registry, monkeypatch):
    entry_points(monkeypatch, Sound("lion"))
    with pytest.raises(RegistryError, match=r"'lion' is registered twice: by menagerie\.lion and"):
        registry.names()


def test_an_extension_under_another_name_than_its_file_is_still_found(registry, folder):
    (folder / "tiger.py").write_text(EXTENSION.format(name="panther"))
    assert registry.get("panther").name == "panther"
    assert "tiger" not in registry


@pytest.fixture
def keepers(folder):
    """A second folder of other things, one of which defines an animal of its own beside."""
    (folder / "keepers").mkdir()
    (folder / "keepers" / "__init__.py").touch()
    (folder / "keepers" / "zebra.py").write_text(
        EXTENSION.format(name="zebra").replace("EXTENSION", "ANIMAL") + "EXTENSION = Sound('other')"
    )
    (folder / "keepers" / "broom.py").write_text("EXTENSION = None")
    return Folder("menagerie.keepers", "ANIMAL")


def test_an_extension_may_stand_in_a_folder_of_other_things_by_another_name(keepers):
    registry = Registry("animal", "menagerie", "steelyard.animals", also=(keepers,))
    assert registry.get("zebra").name == "zebra"
    assert "menagerie.sea_cow" not in sys.modules
    assert registry.names() == ["lion", "sea-cow", "zebra"]
    assert "broom" not in registry
    assert "other" not in registry


def test_a_name_in_two_folders_is_an_error_that_names_both(keepers, folder):
    (folder / "zebra.py").write_text(EXTENSION.format(name="zebra"))
    registry = Registry("animal", "menagerie", "steelyard.animals", also=(keepers,))
    with pytest.raises(
        RegistryError, match=r"by menagerie\.zebra and by menagerie\.keepers\.zebra"
    ):
        registry.names()


class Broken:
    value = "elsewhere:broken"

    def __init__(self, error):
        self._error = error

    def load(self):
        raise self._error


@pytest.mark.parametrize(
    "error",
    [ImportError("no module x"), SyntaxError("bad"), SystemExit(3), RuntimeError("\x1b[2J")],
)
def test_a_plugin_that_fails_is_named_and_left_out(registry, monkeypatch, error):
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: [Broken(error)])
    assert registry.names() == ["lion", "sea-cow"]
    (told,) = failed_plugins()
    assert "animal elsewhere:broken" in told
    assert type(error).__name__ in told
    assert failed_plugins() == ()


def test_a_plugin_that_lacks_what_all_others_have_is_left_out(registry, folder, monkeypatch):
    for name in ("lion", "sea_cow"):
        (folder / f"{name}.py").write_text(EXTENSION.format(name=name) + "Sound.roar = 'r'\n")
    entry_points(monkeypatch, Sound("zebra"))
    assert registry.names() == ["lion", "sea_cow"]
    assert "no 'roar'" in failed_plugins()[0]


def test_a_broken_extension_says_what_it_could_not_import(registry, folder):
    (folder / "broken.py").write_text("import no_such_module_anywhere")
    with pytest.raises(ModuleNotFoundError, match="no_such_module_anywhere"):
        registry.get("broken")
