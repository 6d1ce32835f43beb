"""How many trials an experiment makes, where Oliveira (2015), 4.1.2 and 4.3, says how many."""

from __future__ import annotations

from collections import Counter

import pytest

from steelyard.app.service.service import Service
from steelyard.service.service_database import ServiceDatabase
from tests.thesis_cases import example


@pytest.fixture
def service(tmp_path):
    database = ServiceDatabase(str(tmp_path / "service.sqlite"))
    yield Service(database, str(tmp_path / "packages"))
    database.close()


def enrol(service, count):
    """Hosts of which no two are alike."""
    for number in range(count):
        facts = {"architecture": f"a{number}", "cpu-model": f"m{number}", "cpus": 1 + number}
        service.access.enrol(service.access.owner(), f"w{number}", facts)


@pytest.mark.parametrize(("aslr", "expected"), [(False, 75), (True, 150)])
def test_three_of_four_flags_on_five_architectures_five_times(service, aslr, expected) -> None:
    enrol(service, 5)
    text = example("coverage.toml")
    if aslr:
        text = text.replace("# [[factor]]\n# factor", "[[factor]]\nfactor").replace(
            "# levels", "levels"
        )
    planned = service.plan(text, "coverage.toml")
    assert planned.trial_count == expected
    assert len(planned.workers) == 5


def test_the_link_order_of_an_interpreter_on_seven_hosts(service) -> None:
    enrol(service, 7)
    assert service.plan(example("link-order.toml", 15), "f").trial_count == 630


def test_two_compressors_on_seven_hosts_of_which_one_cannot_be_linked_in_one_order(service) -> None:
    """Of the 6,300 there, 1,050 have the alphabetical order of XZ, which did not link."""
    enrol(service, 7)
    planned = service.plan(example("compressors.toml", 15), "f")
    assert planned.trial_count == 6300
    per_block = Counter(
        (dict(each.parameters)["benchmark"], dict(each.parameters)["link-order"])
        for each in planned.spec.variants
    )
    assert per_block["xz", "alphabetical"] * len(planned.blocks) == 1050


def flags_of(planned):
    return [dict(each.parameters).get("optimisation") for each in planned.spec.variants]


def test_a_share_draws_levels_from_the_seed_in_the_order_of_the_file(service) -> None:
    enrol(service, 1)
    text = example("coverage.toml")
    levels = ["-O0", "-O1", "-O2", "-O3"]
    drawn = set()
    for seed in range(20):
        seeded = text.replace("seed = 1\n", f"seed = {seed}\n")
        found = flags_of(service.plan(seeded, "f"))
        assert found == flags_of(service.plan(seeded, "f"))
        assert found == [level for level in levels if level in found]
        drawn.add(tuple(found))
    assert len(drawn) == 4


@pytest.mark.parametrize(
    ("share", "count"), [("0%", 1), ("25%", 1), ("26%", 2), ("60%", 3), ("100%", 4), (0.5, 2)]
)
def test_a_share_between_one_level_and_all_is_rounded_up(service, share, count) -> None:
    enrol(service, 1)
    text = example("coverage.toml").replace('"75%"', f'"{share}"')
    planned = service.plan(text, "f")
    assert len(planned.spec.variants) == count


def test_one_level_is_held_and_said_in_the_name_but_explains_nothing(service) -> None:
    enrol(service, 1)
    planned = service.plan(example("coverage.toml").replace('"75%"', '"0%"'), "f")
    (only,) = planned.spec.variants
    assert only.parameters == ()
    assert "(optimisation=-O" in only.name
    assert only.build is not None
    assert any("-O" in value for _, value in only.build.environment)
