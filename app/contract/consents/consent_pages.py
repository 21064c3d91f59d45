"""Operations behind the consents page, and behind the steps that ask for consent forms and the privacy policy."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.accounts.self_service_operations import AcceptedPolicy
from app.contract.catalogue import hub_operation
from app.contract.consents.forms import MAX_OPTIONS
from app.contract.page_models import InteractionOnly, NoParameters
from app.contract.steps import StepResponse
from app.kit.operations.wire import Wire

Name = Annotated[str, Field(max_length=100)]


class ConsentFormsAnswer(Wire):
    """`accepted`: accepted options of these forms; all others are declined."""

    interaction_id: str
    events: list[Name] = Field(min_length=1, max_length=30)
    accepted: list[Name] = Field(max_length=5 * MAX_OPTIONS)


class ConsentChoice(Wire):
    option: str
    change: Literal["Subscribe", "Unsubscribe", "NotOpted"]


class ConsentEntry(Wire):
    """The answers given at one time."""

    at: str
    choices: list[ConsentChoice]


class AcceptedOption(Wire):
    option: str
    at: str


class OwnConsents(Wire):
    """The account's answered forms, accepted options and their history, newest first."""

    events: list[str]
    agreed: list[AcceptedOption]
    history: list[ConsentEntry]
    policies: list[AcceptedPolicy]


answer_forms = hub_operation(
    "hub.answer_consent_forms", "POST /hub/consent-forms", ConsentFormsAnswer, StepResponse,
    errors=(errors.NotAuthenticated, errors.NoConsentForm, errors.ConsentRefused),
    summary="Answer the tenant's consent forms, and continue the interaction.",
)  # fmt: skip
read_consents = hub_operation(
    "hub.read_consents", "GET /hub/own/consents", NoParameters, OwnConsents, errors=(errors.NotAuthenticated,),
    summary="Read the account's consents and their history.",
)  # fmt: skip


accept_policy = hub_operation(
    "hub.accept_policy", "POST /hub/own/privacy-policy", InteractionOnly, StepResponse, errors=(errors.NotAuthenticated,),
    summary="Accept the current privacy policy, and continue the interaction.",
)  # fmt: skip
