import pytest

from steelyard.app.profile.record_profile import record_profile
from steelyard.core.errors import UsageError
from steelyard.profile import sampler
from steelyard.profile.java import java_command
from steelyard.profile.java.java_command import java_recording
from steelyard.profile.recording_request import Recording


@pytest.fixture(autouse=True)
def agent(monkeypatch):
    """An agent that is built, on whatever machine."""
    monkeypatch.setattr(java_command, "agent_path", lambda: "/agent.so")


def test_options_that_java_is_given_by_the_environment_stay_as_they_are(monkeypatch):
    before = "'-Dtext=two  spaces'\t-Xmx1g"
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", before)
    words = java_recording(Recording("p", ("sh", "start"))).environment["JAVA_TOOL_OPTIONS"]
    assert words.startswith(f"{before} -XX:")
    monkeypatch.delenv("JAVA_TOOL_OPTIONS")
    words = java_recording(Recording("p", ("sh", "start"))).environment["JAVA_TOOL_OPTIONS"]
    assert words.startswith("-XX:")


def test_code_maps_stay_until_another_recording_has_taken_the_place_of_theirs(
    tmp_path, monkeypatch
):
    code_map = tmp_path / "p.java-1"
    code_map.write_text("of the recording before")
    recording = Recording(str(tmp_path / "p"), ("sh", "start"))

    def refuse(*_):
        raise UsageError("The profile is being written by another recording.")

    monkeypatch.setattr(sampler, "record", refuse)
    with pytest.raises(UsageError):
        record_profile(recording, print, java=True)
    assert code_map.exists()
    monkeypatch.setattr(sampler, "record", lambda *_: {})
    record_profile(recording, print, java=True)
    assert not code_map.exists()
