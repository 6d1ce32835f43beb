"""Gates as they are typed."""

from __future__ import annotations

import pytest

from steelyard.core.errors import UsageError
from steelyard.core.gate_spec import GateSpec, parse_gates


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("slower", GateSpec("slower", False)),
        ("slower:2%", GateSpec("slower", False, 0.02)),
        ("slower:0.02:max_rss", GateSpec("slower", False, 0.02, "max_rss")),
        ("slower:max_rss:median", GateSpec("slower", False, None, "max_rss", "median")),
        ("faster:5%:p99.9", GateSpec("faster", False, 0.05, None, "p99.9")),
    ],
)
def test_a_gate_is_read_and_said_again(text: str, gate: GateSpec) -> None:
    assert parse_gates([text], []) == (gate,)
    assert parse_gates([gate.text], []) == (gate,)


def test_claims_that_are_required_are_read_by_their_own_option() -> None:
    assert parse_gates([], ["not-slower:2%"]) == (GateSpec("not-slower", True, 0.02),)


@pytest.mark.parametrize(
    "text", ["sideways", "slower:0%", "slower:200%", "not-slower", "", "slower:2x"]
)
def test_what_is_no_gate_names_its_option_and_what_it_takes(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_gates([text], [])
    assert caught.value.field == "--fail-if"


@pytest.mark.parametrize(
    ("statistic", "quantile"), [("mean", None), ("median", 0.5), ("p90", 0.9), ("p99.9", 0.999)]
)
def test_a_percentile_is_a_quantile(statistic: str, quantile: float | None) -> None:
    found = GateSpec("slower", False, statistic=statistic).quantile
    assert found == pytest.approx(quantile) if quantile else found is None
