"""What is said of an experiment's end shows no value that its author gave to a variable."""

from __future__ import annotations

import io
import tarfile

from sqlalchemy import update

from steelyard.app.service.planned_submission import Wishes
from steelyard.service.accounts import ROLES
from steelyard.service.service_schema import submissions
from tests.unit.web.service.conftest import FILE, result_of

KEY = "correct-horse-battery"
SECRET = FILE.replace('command = "true"', f'command = "true"\nenvironment = {{KEY = "{KEY}"}}')


def sent_publicly(shared) -> tuple[str, object]:
    """The identifier of a public experiment whose first part has failed, and its author."""
    who = shared.service.access.identity(
        shared.token(shared.account("ada"), *ROLES["administrator"]), "submit"
    )
    token = shared.service.access.enrol(shared.service.access.owner(), "w", {"cpus": 1})
    planned = shared.service.submit(who, SECRET, "e.toml", "public")
    worker = shared.service.access.worker(token)
    given = shared.service.parts.give(worker)
    about = {"part": given.id, "attempt": given.attempt, "experiment": given.experiment}
    failure = f"gcc -DKEY={KEY} broke: no such file"
    shared.service.parts.take(worker, {**about, "trials": [], "provenance": {}, "failure": failure})
    return planned.spec.identifier, who


def test_messages_of_failed_blocks_are_shown_without_them(shared) -> None:
    identifier, _ = sent_publicly(shared)
    page = shared.browser().get(f"/service/{identifier}").text
    assert "broke: no such file" in page
    assert KEY not in page


def test_why_it_ended_and_what_follows_are_shown_without_them(shared) -> None:
    identifier, _ = sent_publicly(shared)
    with shared.service.database.writing() as connection:
        said = {"stopped": f"make KEY={KEY} could not be built", "follow_up": f"none: {KEY} fails"}
        chosen = submissions.c.identifier == identifier
        connection.execute(update(submissions).where(chosen).values(state="cancelled", **said))
    page = shared.browser().get(f"/service/{identifier}").text
    assert "could not be built" in page
    assert KEY not in page


def test_a_batch_that_ended_before_an_experiment_came_ends_it_too(shared) -> None:
    _, who = sent_publicly(shared)
    batch = "A" * 26
    first = shared.service.submit(who, FILE, "e.toml", wishes=Wishes(batch=batch))
    with shared.service.database.writing() as connection:
        chosen = submissions.c.identifier == first.spec.identifier
        why = f"patch of {first.spec.identifier} could not be built"
        values = {"state": "cancelled", "stopped": why}
        connection.execute(update(submissions).where(chosen).values(**values))
    late = shared.service.submit(who, FILE, "e.toml", wishes=Wishes(batch=batch))
    other = shared.service.submit(who, FILE, "e.toml", wishes=Wishes(batch="B" * 26))
    found = shared.service.submission(who, late.spec.identifier)
    assert (found.state, found.stopped) == ("cancelled", why)
    assert shared.service.submission(who, other.spec.identifier).state == "queued"


def test_a_secret_of_a_command_that_is_a_list_is_shown_nowhere(shared) -> None:
    who = shared.identity("ada")
    token = shared.service.access.enrol(shared.service.access.owner(), "w", {"cpus": 1})
    words = f'["true", "--password", "{KEY}"]'
    text = FILE.replace('"true"', words)
    planned = shared.service.submit(who, text, "e.toml", "public")
    worker = shared.service.access.worker(token)
    body = result_of(shared.service.parts.give(worker))
    said = {"exit_code": 3, "stderr_tail": f"{KEY} is wrong"}
    body["trials"][0].update(status="failed", reason="exit", measurements={}, details=said)
    assert shared.service.parts.take(worker, body).outcome == "committed"
    path = f"/service/{planned.spec.identifier}"
    for page in (path, f"{path}/answer", f"{path}/download/steelyard-json"):
        got = shared.browser().get(page)
        assert (got.status, KEY in got.text) == (200, False), page
    with tarfile.open(fileobj=io.BytesIO(shared.browser().get(f"{path}/archive").data)) as found:
        held = [found.extractfile(each).read() for each in found]
    assert not [each for each in held if KEY.encode() in each]
