"""Refusals of single sign-on: an error page with a code of the interface, and a trace for the operator, never a redirect."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from app.contract.oauth.models import RelyingPartyView
from app.contract.saml.service_provider_diagnoses import PREFIX
from app.contract.step_reasons import RefusedPart
from app.contract.steps import RefusedStep, StepResponse
from app.identity.authentication.federation import connection_traces
from app.identity.platform.context import Context
from app.identity.platform.outbound.findings import shown

CONNECTION: Final = "saml-client:"
"""Before the name of the client, in traces."""


class SamlCode(StrEnum):
    """The codes of SAML sign-on in the interface."""

    CONFIGURATION = "1197"
    CLAIMS = "2003"
    NO_ACS = "2004"
    SIGNATURE = "2015"
    NO_REQUEST = "2016"


_SENTENCES: Final = {
    SamlCode.CONFIGURATION: "The SAML configuration not valid",
    SamlCode.CLAIMS: "The user claim is not valid",
    SamlCode.NO_ACS: "The Assertion Consumer Service Location is required",
    SamlCode.SIGNATURE: "SAML request signing certificate doesn't match",
    SamlCode.NO_REQUEST: "The SAML Authenticate Request is not found",
}
"""The interface's messages."""


class SamlProblem(Exception):
    """A request of a service provider is refused on a page.

    Args:
        check: the failed one, of `service_provider_diagnoses`.
        expected, received: one line each, without secrets and values of persons.
    """

    def __init__(self, code: SamlCode, check: str, *, expected: str = "", received: str = "") -> None:
        super().__init__(code)
        self.code, self.check = code, check
        self.expected, self.received = shown(expected), shown(received)


def page(context: Context, app: str, problem: SamlProblem, view: RelyingPartyView | None = None) -> StepResponse:
    """Return the error page, and record the refusal.

    Args:
        app: the client's name; empty if there is none, so that strangers cannot fill the traces with names.
    """
    record(context, app, problem)
    part = RefusedPart.CLIENT if view is None else RefusedPart.REQUEST
    step = RefusedStep(error=problem.code.value, description=_SENTENCES[problem.code], part=part)
    return StepResponse(step=step, relying_party=view)


def record(context: Context, app: str, problem: SamlProblem) -> None:
    """Record a refusal for the operator, whether or not a page shows it."""
    connection_traces.record_check(
        context, f"{CONNECTION}{app}", f"{PREFIX}{problem.check}", problem.expected, problem.received
    )
    context.audit.record("saml.refused", app=app, error=problem.code.value, problem=problem.check)
