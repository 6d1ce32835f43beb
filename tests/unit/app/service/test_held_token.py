"""A token of the environment goes to the service that it is for."""

from __future__ import annotations

import os

import pytest

from steelyard.app.service.held_token import held_token

MINE = "https://bench.example/"


@pytest.fixture
def held(monkeypatch):
    monkeypatch.setenv("STEELYARD_SERVER", MINE)
    monkeypatch.setenv("STEELYARD_TOKEN", "mine")


@pytest.mark.parametrize("server", [None, MINE, "https://bench.example:443/service/01"])
def test_it_is_used_for_the_service_that_is_named_beside_it(held, server) -> None:
    assert held_token(server, None) == (server or MINE, "mine")
    assert not {"STEELYARD_SERVER", "STEELYARD_TOKEN"} & {*os.environ}


@pytest.mark.parametrize(
    "server",
    ["https://other.example/", "http://bench.example/", "https://bench.example:8443/", "https://["],
)
def test_no_other_service_is_sent_it(held, server) -> None:
    assert held_token(server, None) == (server, None)


def test_one_that_is_given_or_held_without_a_service_is_used(held, monkeypatch) -> None:
    assert held_token("https://other.example/", "given") == ("https://other.example/", "given")
    monkeypatch.setenv("STEELYARD_TOKEN", "any")
    assert held_token("https://other.example/", None) == ("https://other.example/", "any")
