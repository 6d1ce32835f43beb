"""The fields of a form stand for a file that a person could have written."""

from __future__ import annotations

import tomllib

import pytest

from steelyard.app.experiment.experiment_file import experiment_file_of
from steelyard.app.service.form_file import form_file
from steelyard.core.errors import UsageError

FIELDS = {
    "name": ['a "b" \u007f ü'],
    "program": ["bzip2", "xz", "bzip2"],
    "size": ["train"],
    "command": ["gzip -c f", "", "{build}/p"],
    "command_name": ["", "", "p"],
    "command_build": ["", "", "make"],
    "command_source": ["", "", "src"],
    "factor": ["flags", "", "aslr"],
    "factor_levels": ["-O2 -g, -O3", "", "off,on"],
    "factor_share": ["75%", "", ""],
    "factor_name": ["optimisation", "", ""],
    "nuisance": ["link-order", "environment-size"],
    "nuisance_levels": ["", "0, 64"],
    "require": ["architecture", "memory", "flags"],
    "require_value": ["x86_64, aarch64", ">= 8GiB", "avx2, fma"],
    "share_platform": ["100%"],
    "share_memory": [""],
    "replicates": ["15"],
    "reboot": ["never"],
    "time_limit": ["2h"],
    "metric": ["cpu_time", "max_rss"],
    "executions": ["2"],
    "seed": ["7"],
}


def test_every_field_is_in_the_file_once() -> None:
    text = form_file(FIELDS)
    assert experiment_file_of(text, "f").hosts["replicates"] == 15
    assert tomllib.loads(text) == {
        "experiment": {
            "name": 'a "b" \u007f ü',
            "seed": 7,
            "metrics": ["cpu_time", "max_rss"],
            "repeat": {"execution": 2},
        },
        "benchmark": [
            {"name": "bzip2", "program": "suite:bzip2@size=train"},
            {"name": "xz", "program": "suite:xz@size=train"},
            {"command": "gzip -c f"},
            {"name": "p", "command": "{build}/p", "build": "make", "source": "src"},
        ],
        "factor": [
            {
                "factor": "flags",
                "levels": ["-O2 -g", "-O3"],
                "name": "optimisation",
                "share": "75%",
            },
            {"factor": "aslr", "levels": ["off", "on"]},
        ],
        "nuisance": [
            {"factor": "link-order"},
            {"factor": "environment-size", "levels": ["0", "64"]},
        ],
        "hosts": {
            "require": {
                "architecture": ["x86_64", "aarch64"],
                "memory": ">= 8GiB",
                "flags": ["avx2", "fma"],
            },
            "factors": {"platform": "100%"},
            "replicates": 15,
            "time_limit": "2h",
        },
        "analysis": {"method": "anova"},
    }


def test_a_precision_says_how_many_blocks_there_are() -> None:
    text = form_file({"program": ["xz"], "precision": ["1%"], "replicates": ["5"]})
    read = tomllib.loads(text)
    assert read["experiment"]["precision"] == "1%"
    assert "hosts" not in read


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "program"),
        ({"program": [""]}, "program"),
        ({"program": ["xz"], "size": ["huge"]}, "size"),
        ({"command": [""], "command_name": ["n"]}, "command"),
        ({"program": ["xz"], "factor": [""], "factor_levels": ["1, 2"]}, "factor"),
        ({"program": ["xz"], "require": ["colour"], "require_value": ["red"]}, "require"),
        ({"program": ["xz"], "require": ["memory"], "require_value": [""]}, "require"),
        ({"program": ["xz"], "executions": ["-1"]}, "executions"),
    ],
)
def test_a_row_that_is_none_is_refused_by_its_name(fields, field) -> None:
    with pytest.raises(UsageError) as told:
        form_file(fields)
    assert told.value.field == field


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"program": ["bzip2"]}, "bzip2"),
        ({"program": ["a", "b", "c", "d", "e"]}, "a, b, c and 2 more"),
        (
            {"program": ["bzip2", "xz"], "factor": ["flags", "aslr"], "factor_name": ["O", ""]},
            "bzip2 and xz by O and aslr",
        ),
        ({"command": ["gzip -c " + "x" * 200]}, "gzip -c " + "x" * 92),
        ({"command": ["true"], "name": ["mine"]}, "mine"),
    ],
)
def test_an_experiment_without_a_name_is_called_by_what_it_runs_and_varies(fields, name) -> None:
    assert tomllib.loads(form_file(fields))["experiment"]["name"] == name
