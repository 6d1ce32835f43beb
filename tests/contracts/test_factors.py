"""What every factor must keep."""

import pytest

from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import HostLevel, LaunchSpec, Variant
from steelyard.core.package_spec import PackageSpec
from steelyard.factors.kinds import FACTORS
from steelyard.host.properties import SETTINGS

VARIANT = Variant(
    "program",
    LaunchSpec(("./program", "{input}")),
    build=BuildSpec(("make",)),
    package=PackageSpec("0" * 64),
)
# A level of each factor whose levels only a person can name.
NAMED = {
    "allocator": "/usr/lib/libother.so",
    "background-load": "cpu:2",
    "command": "fast",
    "compiler": "clang-19",
    "cpu": "0,1",
    "filesystem": "ext4",
    "flags": "-O2",
    "frequency-limit": "2400",
    "governor": "performance",
    "image": "debian-12",
    "input": "large.txt",
    "knobs": "aslr+cpu-shield",
    "layout": "code,heap@5ms",
    "nice": "5",
    "numa-node": "0",
    "reboot": "on",
    "swap": "off",
    "stack-hold": "4000",
    "warm-up-runs": "2",
    "working-directory": "/tmp",
}


def a_level(factor):
    return NAMED[factor.name] if factor.draw is None else factor.draw(7, factor.draws)


DRAWN = [name for name in FACTORS.names() if FACTORS.get(name).draw is not None]
OF_HOST = [name for name in FACTORS.names() if FACTORS.get(name).part == "host"]
OF_BUILDS = [name for name in FACTORS.names() if FACTORS.get(name).part == "build"]


@pytest.mark.parametrize("name", FACTORS.names())
class TestFactor:
    def test_it_says_what_it_changes(self, name):
        factor = FACTORS.get(name)
        assert factor.name == name
        assert factor.description.endswith(".")
        assert factor.part in ("launch", "build", "host")

    def test_a_level_changes_its_part_of_the_variant_and_nothing_else(self, name):
        factor = FACTORS.get(name)
        level = factor.level(a_level(factor), "levels")
        changed = factor.apply(VARIANT, level)
        assert changed != VARIANT
        for part in {"launch", "build", "host"} - {factor.part}:
            assert getattr(changed, part) == getattr(VARIANT, part)

    def test_the_normal_form_of_a_level_is_normal(self, name):
        factor = FACTORS.get(name)
        level = factor.level(a_level(factor), "levels")
        assert factor.level(level, "levels") == level


@pytest.mark.parametrize("name", DRAWN)
def test_the_same_seed_draws_the_same_level_and_all_of_them_are_levels(name):
    factor = FACTORS.get(name)
    drawn = [factor.draw(seed, factor.draws) for seed in range(50)]
    assert drawn == [factor.draw(seed, factor.draws) for seed in range(50)]
    assert len(set(drawn)) > 1
    for level in drawn:
        assert factor.level(level, "levels") == level


def test_every_factor_of_the_machine_has_a_setting_and_every_setting_a_factor():
    assert SETTINGS.names() == OF_HOST


@pytest.mark.parametrize("name", OF_HOST)
def test_a_level_of_the_machine_carries_the_name_of_its_column(name):
    factor = FACTORS.get(name)
    changed = factor.at(VARIANT, a_level(factor), "column", (("get", "told"),))
    assert changed.host == (HostLevel("column", name, a_level(factor), (("get", "told"),)),)


@pytest.mark.parametrize("name", OF_BUILDS)
def test_a_factor_of_the_build_needs_one(name):
    with pytest.raises(UsageError, match="no build is given"):
        factor = FACTORS.get(name)
        factor.apply(Variant("program", LaunchSpec(("./program",))), a_level(factor))


@pytest.mark.parametrize(
    ("name", "level", "message"),
    [
        ("aslr", "maybe", "it takes on, off"),
        ("layout", "code,pages", "some of code,stack,heap"),
        ("layout", "all@5", "500ms"),
        ("nice", "50", "from -20 to 19"),
        ("link-order", "random:x", "random:N"),
        ("cpu", "first", "CPUs such as"),
        ("image", "/srv/root", "the name of an image"),
        ("environment-size", "-3", "whole number"),
        ("compiler", "javac", "a C compiler such as"),
        ("background-load", "cpu:0", "run:COMMAND"),
        ("filesystem", "/tmp", "as-is or a file system"),
        ("frequency-limit", "fast", "whole number"),
        ("governor", "very fast", "a governor such as"),
        ("knobs", "aslr,swap", "aslr.cpu-shield"),
        ("numa-node", "first", "nodes such as"),
        ("page-cache", "lukewarm", "warm, cold, empty"),
    ],
)
def test_a_wrong_level_is_told_what_is_right(name, level, message):
    with pytest.raises(UsageError, match=message) as caught:
        FACTORS.get(name).level(level, "file, line 3: factor[0].levels")
    assert "line 3" in caught.value.message
