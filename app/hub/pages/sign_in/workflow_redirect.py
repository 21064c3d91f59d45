"""A step of sign-in: a page of the tenant that a workflow requires, and the way back from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response

from app.contract.steps import WorkflowRedirectStep
from app.contract.workflows.errors import WorkflowResultRefused
from app.contract.workflows.http_calls import STATE
from app.contract.workflows.result_pages import MAX_RESULT_LENGTH, RETURN_PATH, ReturnedResult, accept_result
from app.hub import journey
from app.hub.components.error_pages import ErrorPage, RequestError
from app.hub.pages import pages
from app.hub.rendering.page import Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit, interaction_url
from app.kit.web.urls import host_of

_RESULT: Final = "result"


@dataclass(frozen=True)
class WorkflowRedirectPage(Page):
    """Opens the page of the tenant: a redirect from a form would have to be in the form's `form-action`."""

    template = "pages/sign_in/workflow_redirect.html"
    scripts = ()

    address: str

    @property
    def site(self) -> str:
        return host_of(self.address)

    @classmethod
    def samples(cls) -> Mapping[str, WorkflowRedirectPage]:
        return {"to the tenant's page": cls("https://kyc.acme.example/start?case=8832&state=5tate")}


@pages.get(RETURN_PATH)
def show_redirect() -> Response:
    """Open the page that the workflow requires, or take the result of the browser that comes back from it."""
    journey.refuse_unknown_interaction()
    query = current_visit().query
    if STATE in query or _RESULT in query:
        return _take_result()
    response = journey.present_step()
    if not isinstance(response.step, WorkflowRedirectStep):
        return journey.follow(response)
    return WorkflowRedirectPage(response.step.address).render()


def _take_result() -> Response:
    """Store the result, and go on at an address without it."""
    interaction, query = journey.require_interaction(), current_visit().query
    state, result = (query.get(name, "") if len(query.getlist(name)) == 1 else "" for name in (STATE, _RESULT))
    result = result if len(result) <= MAX_RESULT_LENGTH else ""
    try:
        api()(accept_result, ReturnedResult(interaction_id=interaction.id, state=state[:200], result=result))
    except WorkflowResultRefused as refusal:
        again = interaction_url(RETURN_PATH)
        reference = current_visit().reference
        return ErrorPage(RequestError.SIGN_IN_FAILED, refusal.status, reference, again=again).render(refusal.status)
    return redirect_to(interaction_url(RETURN_PATH))
