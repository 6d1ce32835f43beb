"""Files of predictors that somebody else has changed."""

import pytest

from steelyard.cli.main import run


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("wanted_hit_rate", "1" + "0" * 400),
        ("wanted_hit_rate", "5"),
        ("wanted_hit_rate", "NaN"),
        ("values", "[1" + "0" * 400 + "]"),
        ("values", "[Infinity]"),
        ("values", "[-1]"),
        ("values", "[[]]"),
        ("benchmark", "3"),
        ("rows", "7"),
    ],
)
def test_a_predictor_that_cannot_be_is_refused(field, value, tmp_path, capsys):
    row = {
        **{"benchmark": '"b"', "known": '"1"', "unknown": '"2"', "project": '"p"', "order": "1"},
        **{"distance": "1", "cost_s": "2", "values": "[0.5]", "changed": "1"},
    }
    document = {
        **{"kind": '"commit-predictor"', "indicators": '["edits"]', "wanted_hit_rate": "0.9"},
        "model_named": "null",
    }
    row.update({field: value} if field in row else {})
    rows = ", ".join(f'"{name}": {text}' for name, text in row.items())
    document["rows"] = f"[{{{rows}}}]"
    document.update({field: value} if field in document else {})
    predictor, pairs = tmp_path / "predictor.json", tmp_path / "pairs.csv"
    predictor.write_text(
        "{" + ", ".join(f'"{name}": {text}' for name, text in document.items()) + "}"
    )
    pairs.write_text("benchmark,known,unknown,edits\nb,1,2,3\n")
    assert run(["predict", "commits", "ask", str(predictor), "--pairs", str(pairs)]) == 2
    assert "is no predictor" in capsys.readouterr().err


def test_a_table_of_platforms_that_would_fill_the_memory_is_refused(tmp_path, capsys):
    path = tmp_path / "times.csv"
    rows = (f"h{number},b{number},1" for number in range(3000))
    path.write_text("\n".join(["host,benchmark,value", *rows, ""]))
    assert run(["predict", "platforms", "suite", str(path)]) == 2
    assert "3000 hosts and 3000 benchmarks, which is too many" in capsys.readouterr().err


@pytest.mark.parametrize(("hosts", "benchmarks"), [(501, 2), (2, 2001)])
def test_more_than_models_have_memory_for_is_refused_and_counted(
    tmp_path, capsys, hosts, benchmarks
):
    path = tmp_path / "times.csv"
    rows = (f"h{h},b{b},1" for h in range(hosts) for b in range(benchmarks))
    path.write_text("\n".join(["host,benchmark,value", *rows, ""]))
    assert run(["predict", "platforms", "suite", str(path)]) == 2
    told = capsys.readouterr().err
    assert f"{hosts} hosts and {benchmarks} benchmarks, which is too many" in told
    assert "500 hosts and 2,000 benchmarks" in told
