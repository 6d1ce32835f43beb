"""Reproductions of an experiment: which there are, and what they found again."""

from __future__ import annotations

from typing import Any

from starlette.responses import HTMLResponse, Response

from steelyard.app.service.reproductions import found_again, reproductions_of
from steelyard.app.service.service import Service
from steelyard.report.kinds.reproduction.document import reproduction_document
from steelyard.report.kinds.reproduction.page import reproduction_page, reproductions_page
from steelyard.service.accounts import Identity
from steelyard.web.service.masked_submission import without_secrets
from steelyard.web.service.page_table import EVERYONE, Asked, Page


def reproduction_pages(service: Service) -> list[Page]:
    """The pages, below that of the experiment."""

    def listed(asked: Asked) -> Response:
        sent = service.submission(asked.who, asked.path["experiment"])
        rows = [
            {
                "identifier": each.identifier,
                "account": each.account,
                "state": each.state,
                "done": f"{each.committed_count} of {each.trial_count}",
            }
            for each in reproductions_of(service, asked.who, sent)
        ]
        name = without_secrets(sent).name
        return HTMLResponse(reproductions_page(name, sent.identifier, rows, asked.shell))

    def compared(asked: Asked) -> Response:
        one = found_again(service, asked.who, asked.path["experiment"], asked.path["again"])
        names = (one.original.identifier, one.again.identifier)
        return HTMLResponse(reproduction_page(one.found, names, one.response, asked.shell))

    return [
        Page("/service/{experiment}/reproductions", EVERYONE, listed),
        Page("/service/{experiment}/reproduction/{again}", EVERYONE, compared, is_long=True),
    ]


def reproduction_call(service: Service, who: Identity, path: Any, _body: Any) -> Any:
    """The same for a program."""
    one = found_again(service, who, path["experiment"], path["again"])
    names = (one.original.identifier, one.again.identifier)
    return reproduction_document(one.found, names, one.response)
