import json
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import DataError
from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import (
    ExperimentSpec,
    LaunchSpec,
    MetricSpec,
    OutputCheck,
    Variant,
)
from steelyard.core.json_codec import (
    experiment_spec_from_json,
    to_json,
    trial_from_json,
    variant_from_json,
)
from steelyard.core.stopping_spec import StoppingSpec

# What Python makes of bytes in argv that are not UTF-8 are lone surrogates; JSON escapes them.
words = st.text(st.characters(exclude_categories=()), max_size=20)
small = st.integers(0, 2**31)
launches = st.builds(
    LaunchSpec,
    argv=st.lists(words, min_size=1, max_size=4).map(tuple),
    environment=st.lists(st.tuples(words, st.none() | words), max_size=3).map(tuple),
    environment_padding_bytes=small,
    timeout_s=st.none() | st.floats(0.001, 1e6),
    expected_exit_codes=st.lists(st.integers(0, 255), max_size=3).map(tuple),
    cpus=st.none() | st.lists(small, max_size=3).map(tuple),
    aslr=st.none() | st.booleans(),
    limits=st.lists(st.tuples(words, small), max_size=2).map(tuple),
)
builds = st.builds(
    BuildSpec,
    argv=st.lists(words, min_size=1, max_size=3).map(tuple),
    compilers=st.lists(st.tuples(words, words), max_size=2).map(tuple),
    randomize=st.lists(words, max_size=2).map(tuple),
)
checks = st.builds(
    OutputCheck, comparator=st.sampled_from(["sha256", "text", "numbers"]), expected=words
)
variants = st.builds(
    Variant,
    name=words,
    launch=launches,
    prepare=st.none() | st.lists(words, min_size=1, max_size=3).map(tuple),
    parameters=st.lists(st.tuples(words, words), max_size=3).map(tuple),
    group=words,
    build=st.none() | builds,
    checks=st.lists(checks, max_size=2).map(tuple),
)
experiments = st.builds(
    ExperimentSpec,
    identifier=words,
    kind=st.sampled_from(["measurement", "comparison"]),
    variants=st.lists(variants, min_size=1, max_size=3).map(tuple),
    metrics=st.just((MetricSpec("wall_time", "s"), MetricSpec("speed", "MB/s", "higher", "regex"))),
    seed=st.integers(0, 2**63 - 1),
    stopping=st.builds(StoppingSpec, runs=st.none() | small, budget_s=st.none() | st.floats(1, 9)),
    setup=st.none() | st.lists(words, min_size=1, max_size=2).map(tuple),
)


def through_text(value):
    return json.loads(json.dumps(to_json(value)))


@given(experiments)
def test_a_specification_survives_the_way_through_text(spec):
    assert experiment_spec_from_json(through_text(spec)) == spec


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=5))
def test_the_values_of_a_trial_survive_to_the_last_bit(values):
    trial = Trial(3, 1, 0, False, "ok", None, 1.5e9, 0.25, {"wall_time": tuple(values)})
    assert trial_from_json(through_text(trial)) == trial


def test_packed_values_are_written_as_a_list():
    trial = Trial(0, 0, 0, False, "ok", None, 0.0, 0.0, {"wall_time": array("d", [0.5, 0.25])})
    assert to_json(trial)["measurements"] == {"wall_time": [0.5, 0.25]}


def test_defaults_are_written_out():
    written = to_json(LaunchSpec(("true",)))
    assert written["expected_exit_codes"] == [0]
    assert "nice" in written


def test_a_field_that_a_later_version_lacks_is_named():
    data = through_text(LaunchSpec(("true",)))
    with pytest.raises(DataError, match=r"variant\.launch has the unknown field 'hugepages'"):
        variant_from_json({"name": "a", "launch": {**data, "hugepages": True}})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "experiment must be an object, not list"),
        ({"variants": 5}, "variants must be a list, not int"),
        ({"variants": [5]}, r"variants\[0\] must be an object, not int"),
        ({"variants": [{"name": "a"}]}, r"variants\[0\] lacks the field 'launch'"),
        ({"variants": [{"name": "a", "launch": {}}]}, r"variants\[0\]\.launch is not complete"),
        ({"metrics": [{"name": "x"}]}, r"metrics\[0\] is not complete"),
        ({"stopping": 1}, "stopping must be an object"),
        ({}, "experiment is not complete"),
        ({"note": None}, "experiment.note must be a text, not null"),
        ({"warmup_count": "x"}, 'experiment.warmup_count must be a whole number, not "x"'),
        ({"warmup_count": True}, "experiment.warmup_count must be a whole number, not true"),
        ({"confidence": "0.9"}, 'experiment.confidence must be a number, not "0.9"'),
        ({"quiet": ["a", 1]}, r'experiment.quiet must be a list, each a text, not \["a", 1\]'),
        ({"order": "up"}, 'experiment.order must be one of blocks, parallel, sequential, not "up"'),
        ({"setup": 5}, "experiment.setup must be a list, each a text or null, not 5"),
        ({"varied": [["a"]]}, "experiment.varied must be a list, each a list of 2, not"),
        ({"stopping": {"runs": 1.5}}, "stopping.runs must be a whole number or null, not 1.5"),
        ({"metrics": [{"name": "x", "unit": 1}]}, r"metrics\[0\].unit must be a text, not 1"),
    ],
)
def test_what_is_wrong_with_a_specification_is_named(data, message):
    with pytest.raises(DataError, match=message):
        experiment_spec_from_json(data)


@pytest.mark.parametrize("data", [None, {"position": 1}, {"measurements": [1]}])
def test_half_a_trial_is_an_error_and_not_a_guess(data):
    with pytest.raises(DataError, match="trial"):
        trial_from_json(data)


def test_a_wrong_field_of_a_trial_is_named():
    with pytest.raises(DataError, match=r'trial.warmup must be true or false, not "x"'):
        trial_from_json({"warmup": "x"})
    with pytest.raises(DataError, match=r"trial.details must be an object, not \[\]"):
        trial_from_json({"details": []})
