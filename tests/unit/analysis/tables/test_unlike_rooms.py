"""One name for unlike contents is told, whatever a provenance holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.analysis.tables.analysis_method import Question
from steelyard.analysis.tables.unlike_rooms import unlike_rooms
from steelyard.app.results.named_analysis import analyze_experiment, chosen_method
from tests.experiments import make_experiment

OLD = {"name": "debian", "digest": "a" * 64}
NEW = {"name": "debian", "digest": "b" * 64}
OTHER = {"name": "alpine", "digest": "c" * 64}


def room(worker, **told):
    return {**told, "workers": [worker]}


def test_an_image_of_one_name_with_two_digests_is_told_with_its_workers() -> None:
    rooms = [room("w1", image=OLD), room("w2", image=NEW), room("w2", image=OTHER)]
    (caution,) = unlike_rooms({"rooms": rooms})
    assert caution.code == "unlike-images"
    assert "The image 'debian' is not the same" in caution.message
    assert "aaaaaaaaaaaa on w1; bbbbbbbbbbbb on w2" in caution.message


def test_images_of_a_factor_within_blocks_count_too_and_so_do_libraries() -> None:
    rooms = [
        room("w1", images=[OLD, OTHER], libraries={"name": "z", "digest": "d"}),
        room("w2", images=[NEW, OTHER], libraries={"name": "z", "digest": "e"}),
    ]
    assert [each.message.split(" is not")[0] for each in unlike_rooms({"rooms": rooms})] == [
        "The image 'debian'",
        "The libraries 'z'",
    ]


def test_the_same_contents_on_two_workers_are_nothing_to_tell() -> None:
    assert unlike_rooms({"rooms": [room("w1", image=OLD), room("w2", image=OLD)]}) == ()


@pytest.mark.parametrize(
    "rooms", [None, 3, "x", [None, 1], [{"image": 1}], [{"images": {}}], [{"image": {"name": 1}}]]
)
def test_a_provenance_that_is_something_else_is_passed_over(rooms) -> None:
    assert unlike_rooms({"rooms": rooms}) == ()


def test_every_analysis_of_such_an_experiment_warns() -> None:
    made = make_experiment(blocks=6)
    rooms = [room("w1", image=OLD), room("w2", image=NEW)]
    experiment = replace(made, provenance={"rooms": rooms})
    question = Question(response="wall_time", factors=("variant",))
    found = analyze_experiment(experiment, (None, None), chosen_method("anova", question), question)
    assert "unlike-images" in [caution.code for caution in found.result.cautions]
