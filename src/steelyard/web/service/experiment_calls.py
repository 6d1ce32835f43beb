"""Calls of the API about experiments."""

from __future__ import annotations

from typing import Any

from steelyard.app.service.following_up import refuse_no_screening
from steelyard.app.service.planned_submission import Wishes
from steelyard.app.service.service import Service
from steelyard.app.service.service_batches import checked_batch
from steelyard.core.errors import UsageError
from steelyard.core.json_codec import to_json
from steelyard.report.kinds.submission.document import submission_document
from steelyard.service.accounts import Identity
from steelyard.service.submissions import ListedSubmission
from steelyard.web.service.answered_call import text_in
from steelyard.web.service.downloads import archive_download, download
from steelyard.web.service.masked_submission import without_secrets
from steelyard.web.service.package_api import digests_of

_SCHEMA = {"schema": "steelyard/1"}


def summary(sent: ListedSubmission) -> dict[str, Any]:
    """A submission in a list."""
    return {
        "experiment": sent.identifier,
        "name": sent.name,
        "account": sent.account,
        "state": sent.state,
        "visibility": sent.visibility,
        "trials": sent.trial_count,
        "committed": sent.committed_count,
        "created_unix_s": sent.created_unix_s,
    }


def listed_experiments(service: Service, who: Identity, _path: Any, _body: Any) -> Any:
    """The newest experiments that one may see."""
    found = service.submissions(who)
    return {**_SCHEMA, "kind": "submissions", "experiments": [summary(each) for each in found]}


def sent_experiment(service: Service, who: Identity, _path: Any, body: dict[str, Any]) -> Any:
    """Plan an experiment file, and keep it unless it is only asked what it would run."""
    text, name = text_in(body, "file"), text_in(body, "name", "experiment.toml")
    digests = digests_of(body)
    if body.get("dry_run"):
        known = service.packages.known(who, digests)
        return submission_document(service.plan(text, name, known, who).summary)
    priority = body.get("priority", 0)
    if type(priority) is not int or not -100 <= priority <= 100:
        raise UsageError(
            f"priority takes a whole number from -100 to 100, not {priority!r}.", field="priority"
        )
    visibility = text_in(body, "visibility", "private")
    follow_up = body.get("follow_up", False)
    if type(follow_up) is not bool:
        raise UsageError(f"follow_up takes true or false, not {follow_up!r}.", field="follow_up")
    batch = checked_batch(text_in(body, "batch", ""))
    if follow_up:
        refuse_no_screening(text, name)
    wishes = Wishes(priority, follow_up, batch)
    planned = service.submit(who, text, name, visibility, wishes, digests)
    return submission_document(planned.summary, sent=True)


def shown_experiment(service: Service, who: Identity, path: Any, _body: Any) -> Any:
    """How far an experiment is."""
    standing = service.standing(who, path["experiment"])
    found, repeats = standing.sent, standing.repeats
    shown = found if found.account == who.name else without_secrets(found)
    told = {
        **summary(found),
        "parts": standing.parts,
        "repeats": {
            "pairs": repeats.pair_count,
            "disagreements": [
                {
                    "block": each.one.block,
                    "worker": each.one.worker,
                    "repeated_as": each.two.block,
                    "repeated_by": each.two.worker,
                    "why": each.why,
                }
                for each in repeats.disagreements
            ],
        },
        "follow_up": shown.follow_up,
        "stopped": shown.stopped,
    }
    return {**_SCHEMA, "kind": "submitted", **told}


def experiment_trials(service: Service, who: Identity, path: Any, _body: Any) -> Any:
    """The trials of an experiment that have been committed so far."""
    found = service.experiment(who, path["experiment"])
    return {
        **_SCHEMA,
        "kind": "submitted-trials",
        "experiment": to_json(found.spec),
        "provenance": to_json(found.provenance),
        "created_unix_s": found.created_unix_s,
        "stopped": found.stopped,
        "trials": [to_json(trial) for trial in found.trials],
    }


def downloaded_experiment(service: Service, who: Identity, path: Any, _body: Any) -> Any:
    """An experiment in a format of `steelyard export`."""
    found = service.experiment(who, path["experiment"])
    return download(found, found.spec.identifier, path["format"])


def archived_experiment(service: Service, who: Identity, path: Any, _body: Any) -> Any:
    """The archive by which an experiment can be repeated."""
    return archive_download(service, who, path["experiment"], masks=False)


def cancelled_experiment(service: Service, who: Identity, path: Any, _body: Any) -> Any:
    """Give nothing more of an experiment out."""
    ended = service.cancel(who, path["experiment"])
    return {**_SCHEMA, "kind": "cancelled", "experiment": path["experiment"], "was_open": ended}


def shown_to(service: Service, who: Identity, path: Any, body: dict[str, Any]) -> Any:
    """Say who may see an experiment from now on."""
    visibility = text_in(body, "visibility")
    service.show_to(who, path["experiment"], visibility)
    found = service.submission(who, path["experiment"])
    return {**_SCHEMA, "kind": "submitted", **summary(found)}
