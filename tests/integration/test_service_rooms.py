"""Root file systems and libraries of workers, as factors of an experiment that is sent."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from tests.integration.test_service import sent, serving, written  # noqa: F401 - a fixture
from tests.packages import need_containers, package
from tests.small_images import small_image

COUNT = "{ echo 'files (count)'; ls /usr/bin | grep -c .; } > results.csv\n"
FILE = """\
[experiment]
seed = 2
metrics = ["files=iterations:count", "wall_time"]
[[benchmark]]
package = "p"
{options}
[hosts]
replicates = 2
{hosts}
"""

FACTOR = """\
[[factor]]
name = "root"
factor = "image"
levels = ["small", "large", "host"]
"""


@pytest.fixture
def rooms(user):
    """A directory with images that a container may see, and one with libraries."""
    need_containers(user.home)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for image, more in (("small", ()), ("large", ("cat", "wc"))):
            (folder / "images" / image).mkdir(parents=True)
            small_image(folder / "images" / image, "sh", "tar", "ls", "grep", *more)
        (folder / "images" / "large" / "etc").mkdir()
        (folder / "images" / "large" / "etc" / "os-release").write_text('PRETTY_NAME="Large 1"\n')
        for each in ("one", "two"):
            (folder / "libraries" / each).mkdir(parents=True)
        user.environment["STEELYARD_IMAGES"] = str(folder / "images")
        user.environment["STEELYARD_LIBRARIES"] = str(folder / "libraries")
        yield folder


def file_of(user, hosts="", options=""):
    package(user.home / "p", COUNT)
    (user.home / "e.toml").write_text(FILE.format(hosts=hosts, options=options))
    return "e.toml"


def blocks_of(served, identifier):
    """The experiment, and the values of its first metric by the image of their block."""
    told = served.gets(f"api/experiments/{identifier}/trials")
    placement = told["experiment"]["placement"]
    levels = [dict(worker["levels"]) for worker in placement["workers"]]
    found = {}
    for trial in told["trials"]:
        assert trial["status"] == "ok", trial
        image = levels[placement["blocks"][trial["block"]]]["image"]
        found.setdefault(image, []).append(trial["measurements"]["files"])
    return told, found


def test_root_file_systems_are_levels_and_each_trial_says_by_its_block_which_it_had(
    user,
    serving,  # noqa: F811
    rooms,
) -> None:
    served = serving()
    served.has_worker()
    facts = served.gets("api/workers")["workers"][0]["facts"]
    assert (facts["images"], facts["libraries"]) == (["large", "small"], ["one", "two"])
    file = file_of(user, 'factors = {image = ["small", "large"]}')
    told = sent(user, file)
    assert (told["trials"], told["blocks"]) == (4, 4)
    assert served.ended(told["experiment"])["parts"] == {"done": 4}
    whole, values = blocks_of(served, told["experiment"])
    assert values == {"small": [[4.0]] * 2, "large": [[6.0]] * 2}
    first = whole["experiment"]
    assert [name for name, _ in first["placement"]["workers"][0]["levels"]].count("image") == 1
    rooms_of = {each["image"]["name"]: each["image"] for each in whole["provenance"]["rooms"]}
    assert rooms_of["large"]["release"] == "Large 1"
    assert len({each["digest"] for each in rooms_of.values()}) == 2
    # The image is a factor of the analysis that nobody had to ask for.
    token = user.home / "token"
    token.write_text(served.token)
    address = f"{served.address}service/{told['experiment']}"
    assert user.types("import", address, "--token-file", str(token)).status == 0
    found = user.types("experiment", "analyze", "latest", "--json", "-").document()
    assert "image" in {effect["term"] for effect in found["effects"]}


def test_root_file_systems_alternate_within_a_block_where_a_factor_varies_them(
    user,
    serving,  # noqa: F811
    rooms,
) -> None:
    served = serving("--no-worker")
    served.enrols("bare")
    assert user.types("worker", "--once", "--name", "w", "--directory", "w").status == 0
    text = f"{FACTOR}\n{(user.home / file_of(user)).read_text()}"
    (user.home / "within.toml").write_text(text)
    told = sent(user, str(user.home / "within.toml"))
    # The one without images is not asked.
    assert (told["trials"], told["blocks"], told["workers"]) == (6, 2, ["w"])
    assert user.types("worker", "--once", "--name", "w", "--directory", "w").status == 0
    whole = served.gets(f"api/experiments/{told['experiment']}/trials")
    trials = whole["trials"]
    assert [trial["status"] for trial in trials] == ["ok"] * 6
    images = [dict(each["parameters"])["root"] for each in whole["experiment"]["variants"]]
    assert {
        block: sorted(images[trial["variant"]] for trial in trials if trial["block"] == block)
        for block in (0, 1)
    } == {block: ["host", "large", "small"] for block in (0, 1)}
    seen = {
        image: {
            tuple(trial["measurements"]["files"])
            for trial in trials
            if images[trial["variant"]] == image
        }
        for image in ("small", "large")
    }
    assert seen == {"small": {(4.0,)}, "large": {(6.0,)}}
    (found,) = whole["provenance"]["rooms"]
    assert [each["name"] for each in found["images"]] == ["large", "small"]
    assert found["workers"] == ["w"]


def test_an_image_is_varied_within_blocks_or_among_them(user, serving, rooms) -> None:  # noqa: F811
    serving("--no-worker")
    assert user.types("worker", "--once", "--name", "w", "--directory", "w").status == 0
    text = (user.home / file_of(user, 'factors = {image = ["small"]}')).read_text()
    (user.home / "twice.toml").write_text(f"{FACTOR}\n{text}")
    told = user.types("submit", str(user.home / "twice.toml"))
    assert told.status == 2
    assert "`image` is varied twice" in told.err


def test_a_worker_without_the_image_is_not_asked(user, serving, rooms) -> None:  # noqa: F811
    served = serving("--no-worker")
    served.enrols("bare")
    file = file_of(user, options='package_options = {image = "small"}')
    told = user.types("submit", file)
    assert told.status == 2
    assert "None of 1 workers gives what is asked: images has small" in told.err
    assert user.types("worker", "--once", "--name", "w", "--directory", "w").status == 0
    document = sent(user, file)
    assert document["workers"] == ["w"]
    assert user.types("worker", "--once", "--name", "w", "--directory", "w").status == 0
    trials = served.gets(f"api/experiments/{document['experiment']}/trials")["trials"]
    assert [trial["measurements"]["files"] for trial in trials] == [[4.0], [4.0]]


def test_an_image_that_went_away_is_a_failed_block_with_the_reason(
    user,
    serving,  # noqa: F811
    rooms,
) -> None:
    served = serving("--no-worker")
    assert user.types("worker", "--once", "--name", "w", "--directory", "w").status == 0
    identifier = sent(user, file_of(user, 'factors = {image = ["small"]}'))["experiment"]
    os.rename(rooms / "images" / "small", rooms / "images" / "other")
    for _ in range(3):
        user.types("worker", "--once", "--name", "w", "--directory", "w")
    assert served.gets(f"api/experiments/{identifier}")["parts"] == {"failed": 2}
    page = served.asks("GET", f"service/{identifier}")[1]
    assert "This host has no image &#39;small&#39;; it has large, other" in page


def test_libraries_go_before_those_installed_and_the_environment_stays_as_long(
    user,
    serving,  # noqa: F811
    rooms,
) -> None:
    seen = user.home / "seen"
    command = f"sh -c 'echo \"$LD_LIBRARY_PATH\" >> {seen}'"
    served = serving()
    served.has_worker()
    file = written(user, f'"""{command}"""', 1, 'factors = {libraries = "100%"}')
    told = sent(user, file)
    assert (told["trials"], told["blocks"]) == (6, 3)
    assert served.ended(told["experiment"])["state"] == "done"
    lines = Counter(seen.read_text().split())
    assert {line.rstrip("/"): count for line, count in lines.items()} == {
        "/nonexistent": 2,
        **{str(rooms / "libraries" / name): 2 for name in ("one", "two")},
    }
    assert {len(line) for line in lines} == {200}


def test_the_root_file_system_of_a_command_is_the_hosts_own(user, serving) -> None:  # noqa: F811
    serving("--no-worker").enrols("a")
    told = user.types("submit", written(user, hosts='factors = {image = "100%"}'))
    assert told.status == 2
    assert "steelyard package init FOLDER -- CMD" in told.err


def test_blocks_that_two_workers_run_show_which_of_them_lies(user, serving) -> None:  # noqa: F811
    served = serving("--no-worker")

    def works(name):
        user.environment["FACTOR"] = "9" if name == "liar" else "1"
        assert user.types("worker", "--once", "--name", name, "--directory", name).status == 0

    names = ("a", "b", "liar")
    for name in names:
        works(name)
    command = "sh -c 'sleep $(echo $FACTOR | sed s/^/0./)'"
    hosts = 'factors = {worker = "100%"}\nredundant = "100%"'
    told = sent(user, written(user, f'"{command}"', 3, hosts))
    assert (told["trials"], told["blocks"]) == (36, 18)
    for name in (*names, "a", "b"):
        works(name)
    found = served.gets(f"api/experiments/{told['experiment']}")
    assert found["repeats"]["pairs"] >= 3
    for each in found["repeats"]["disagreements"]:
        assert "liar" in (each["worker"], each["repeated_by"]), each
    states = {each["worker"]: each for each in served.gets("api/workers")["workers"]}
    assert states["liar"]["status"] == "quarantined"
    assert "about blocks that both ran" in states["liar"]["reason"]
    assert [states[name]["status"] for name in ("a", "b")] == ["idle", "idle"]
    page = served.asks("GET", f"service/{told['experiment']}")[1]
    assert "Blocks that cannot both be right" in page
