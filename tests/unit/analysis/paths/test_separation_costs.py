"""What telling call paths apart would cost, estimated by the calls of a map."""

from __future__ import annotations

import pytest

from steelyard.analysis.paths.path_map import ROOT, PathMap, PathNode
from steelyard.analysis.paths.separation_costs import separation_costs
from steelyard.analysis.paths.separation_outcome import MARKING, RESIZING, WRAPPING

MAIN, A, B, D = 1, 2, 3, 4


def map_of(*nodes: PathNode) -> PathMap:
    names = {node.function: f"f{node.function}" for node in nodes}
    return PathMap("program", "build", 1, names, {}, nodes)


# D is called by A and by B, whose frames are alike.
ALIKE = map_of(
    PathNode(ROOT, MAIN, 100, 1),
    PathNode(0, A, 116, 300),
    PathNode(0, B, 116, 1),
    PathNode(1, D, 132, 9000),
    PathNode(2, D, 132, 2),
)
# The same functions in another order: frames alone do not tell them.
ORDER = map_of(
    PathNode(ROOT, MAIN, 100, 1),
    PathNode(0, A, 116, 3),
    PathNode(1, B, 132, 3),
    PathNode(2, D, 148, 5000),
    PathNode(0, B, 116, 2),
    PathNode(4, A, 132, 2),
    PathNode(5, D, 148, 4),
)


def test_larger_frames_cost_stack_and_no_instruction():
    resizing, _, _ = separation_costs(ALIKE, 1)
    assert resizing.way == RESIZING
    assert resizing.paths.resolved == 1
    assert (resizing.call_count, resizing.passed_count, resizing.instruction_count) == (0, 0, 0)
    assert resizing.growth_ratio == resizing.after_bytes / resizing.before_bytes > 1


def test_wrapped_calls_cost_four_instructions_each_time_they_are_learnt():
    resizing, wrapping, _ = separation_costs(ORDER, 1)
    assert resizing.paths.resolved < 1
    assert wrapping.way == WRAPPING
    assert wrapping.paths.resolved == 1
    assert wrapping.call_count > 0
    assert wrapping.instruction_count == 4 * wrapping.passed_count
    assert 0 < wrapping.passed_count <= 0.01 * ORDER.call_count
    assert wrapping.passed_share == pytest.approx(wrapping.passed_count / ORDER.call_count)


def test_marked_calls_cost_ten_instructions_each_time_they_are_learnt():
    resizing, _, marking = separation_costs(ORDER, 1)
    assert resizing.paths.resolved < 1
    assert marking.way == MARKING
    assert marking.paths.resolved == 1
    assert marking.call_count > 0
    assert marking.instruction_count == 10 * marking.passed_count > 0
