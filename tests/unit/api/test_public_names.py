"""What `import steelyard` gives."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest

import steelyard


def test_all_public_names_are_there():
    for name in steelyard.__all__:
        assert getattr(steelyard, name) is not None
        assert name in dir(steelyard)
    with pytest.raises(AttributeError, match="no attribute 'weigh'"):
        steelyard.weigh  # noqa: B018


def test_measure_stays_the_function_when_the_room_of_its_name_is_loaded():
    room = importlib.import_module("steelyard.measure.metrics")
    assert isinstance(sys.modules["steelyard.measure"], ModuleType)
    assert room.METRICS.names()
    assert steelyard.measure.__name__ == "measure"
    assert not isinstance(steelyard.measure, ModuleType)
