"""A build host that is lost while it was idle: a worker waits 20 s for it, and builds."""

from __future__ import annotations

from tests.integration.conftest import user  # noqa: F401 - a fixture
from tests.integration.test_service import serving  # noqa: F401 - a fixture
from tests.integration.test_service_builds import hosting  # noqa: F401 - a fixture


def test_a_build_host_that_has_gone_is_not_waited_for(hosting) -> None:  # noqa: F811
    hosts = hosting()
    process = hosts.is_built_for("host")
    # It was idle a moment ago, for all that the service knows.
    process.kill()
    process.communicate()
    identifier = hosts.sends()
    said = hosts.works("one")
    assert "waiting for the build that host makes" in said
    assert hosts.builds() == ["one", "one"]
    assert "took the build that one made" in hosts.works("two")
    assert {each["status"] for each in hosts.answer(identifier)["trials"]} == {"ok"}
