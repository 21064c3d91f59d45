"""Operations behind the sign-in page: open, resume and reopen an interaction, and sign in with a password."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.captcha.models import CaptchaAnswer
from app.contract.catalogue import HASHES, hub_operation
from app.contract.error_groups import IDENTIFIER_KINDS, LOCKS, NEW_ORIGIN
from app.contract.shared_parameters import SecurityAnswer
from app.contract.steps import StepResponse
from app.contract.workflows.names import MAX_WORKFLOW_NAME
from app.kit.operations.wire import From, Wire


class ReturnRequest(Wire):
    """Sign in, then redirect to an allowed return address or to the profile."""

    return_url: str | None = None
    action: str = "login"
    workflow: str | None = Field(
        default=None, max_length=MAX_WORKFLOW_NAME
    )  # the name of the workflow that the sign-in follows
    organization: str | None = (
        None  # name or id: pages show its branding, if it has one; the response is the same if it does not exist
    )


open_return = hub_operation(
    "hub.open_return", "POST /hub/return", ReturnRequest, StepResponse,
    summary="Open a sign-in that ends at a return address or at the profile.",
)  # fmt: skip


class InteractionRequest(Wire):
    interaction_id: Annotated[str, From.PATH]


resume = hub_operation(
    "hub.resume", "GET /hub/interactions/{interactionid}", InteractionRequest, StepResponse,
    summary="Read the current step of an interaction: for Back, refresh and a reopened page.",
)  # fmt: skip


reopen = hub_operation(
    "hub.reopen", "POST /hub/interactions/{interactionid}/reopen", InteractionRequest, StepResponse,
    summary="Read what the pages of an interaction show, whose cookie is gone; one that expired starts anew.",
)  # fmt: skip


class SignInRequest(Wire):
    """The sign-in form. `interaction_id` is None if /login was opened without one; the profile follows then."""

    interaction_id: str | None = None
    identifier: str = Field(max_length=320)
    password: str = Field(max_length=1024)
    remember: bool = False
    security_answer: dict[str, SecurityAnswer] | None = Field(default=None, max_length=10)
    captcha: CaptchaAnswer | None = None
    connects: bool = False  # the page said that the provider's identity will be linked
    finds_connection: bool = False  # an address whose domain leads to a provider is redirected there, not signed in


SIGN_IN_ERRORS = (
    *LOCKS, *IDENTIFIER_KINDS, errors.WrongCredentials, errors.LoginDisabled, errors.EmailUnverified, errors.PhoneUnverified,
    errors.TooManySessions,
    errors.LoginNotAllowed, errors.WrongCaptcha, errors.PasswordBreached, errors.PasswordResetMailed, *NEW_ORIGIN,
    errors.WrongQuestionOrAnswer, errors.AccountLeaving, errors.DirectoryPasswordExpired,
)  # fmt: skip

sign_in = hub_operation(
    "hub.sign_in", "POST /hub/sign-in", SignInRequest, StepResponse, heavy_work=HASHES, errors=SIGN_IN_ERRORS,
    summary="Sign in with identifier and password in an interaction. The `Data` of a lock error is a `captcha.Lock`.",
)  # fmt: skip
