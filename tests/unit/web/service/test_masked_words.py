"""What is said of an experiment's end shows no value that its author gave to a variable."""

from __future__ import annotations

from sqlalchemy import update

from steelyard.app.service.planned_submission import Wishes
from steelyard.service.accounts import ROLES
from steelyard.service.service_schema import submissions
from tests.unit.web.service.conftest import FILE

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
