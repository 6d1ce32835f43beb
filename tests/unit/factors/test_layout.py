from dataclasses import replace

from steelyard.core.build_spec import BuildSpec
from steelyard.core.experiment_spec import LaunchSpec, Variant
from steelyard.factors.kinds.compiler import EXTENSION as COMPILER
from steelyard.factors.kinds.layout import EXTENSION

OWN = (("LANG", "C"), ("STEELYARD_LAYOUT", "heap"))
VARIANT = Variant("program", LaunchSpec(("./program",), environment=OWN))


def environment_at(level):
    changed = EXTENSION.apply(VARIANT, EXTENSION.level(level, "levels"))
    return dict(changed.launch.environment)


def test_a_level_takes_the_place_of_what_the_environment_said():
    found = environment_at("code,stack@5ms")
    assert found["LANG"] == "C"
    assert found["STEELYARD_LAYOUT"] == "code,stack"
    assert found["STEELYARD_LAYOUT_INTERVAL"] == "5ms"


def test_no_level_moves_the_stack_by_a_longer_environment():
    levels = ("none", "heap@5ms", "all@off", "all@500ms", "code,stack@12345678ms")
    sizes = {sum(map(len, environment_at(level).values())) for level in levels}
    assert len(sizes) == 1


def test_the_driver_is_a_compiler_with_a_family():
    changed = COMPILER.apply(replace(VARIANT, build=BuildSpec(("make",))), "/opt/steelyard cc")
    assert changed.build is not None
    assert dict(changed.build.compilers) == {
        "CC": "/opt/steelyard cc",
        "CXX": "/opt/steelyard c++",
        "FC": "/opt/steelyard fc",
    }
