"""Operations for passwordless sign-ins."""

from typing import Literal

from pydantic import Field

from app.contract import errors
from app.contract.catalogue import HASHES_SECRETS, hub_operation
from app.contract.error_groups import CONTACT_TAKEN, EMAIL_CODE, EMAIL_DOMAINS, LINK, LOCK_CHALLENGES, SMS_CODE
from app.contract.page_models import CodeRequest, InteractionOnly, LinkLookup, LinkRequest, LinkToken, LinkView
from app.contract.steps import StepResponse
from app.kit.operations.wire import Wire

PasswordlessMethod = Literal["mail", "sms", "device"]


class PasswordlessRequest(Wire):
    """`interaction_id`: the interaction; None begins one. `by` device: another device approves."""

    interaction_id: str | None = None
    identifier: str = Field(max_length=320)
    by: PasswordlessMethod
    remember: bool = False


class SignInLinkView(LinkView):
    registers: bool = False  # registers new accounts
    browser: str = ""  # with the waiting page, if `is_awaited`
    system: str = ""
    is_own: bool = False  # this browser requested the link, so its page may continue without a click


class HandoverRequest(LinkToken):
    """`number`: of the page that waits in another browser."""

    number: str = Field(max_length=20)


class DeviceRequestView(Wire):
    """A device that waits for approval; `state`: open, approved, denied, expired or unknown."""

    state: str
    label: str = ""  # the account's identifier
    browser: str = ""
    system: str = ""
    address: str = ""
    place: str = ""  # of the address; empty if unknown
    requested_at: str | None = None
    relying_party: str = ""
    needs_number: bool = False  # the number on the device must be typed
    is_wrong: bool = False  # the typed number is wrong


class DeviceSignInDecision(LinkToken):
    is_yes: bool
    number: str = Field(default="", max_length=20)


_MAY_NOT = (
    *LOCK_CHALLENGES,
    *CONTACT_TAKEN,
    errors.LoginDisabled,
    errors.EmailUnverified,
    errors.PhoneUnverified,
    errors.TooManySessions,
)
_NEW = (*EMAIL_DOMAINS, errors.RegistrationOff, errors.PhoneLoginOff)

begin = hub_operation(
    "hub.start_passwordless_sign_in", "POST /hub/passwordless", PasswordlessRequest, StepResponse, errors=(errors.PasswordlessOff,),
    summary="Send a link or a code for a sign-in without a password; the response is the same for every identifier.",
)  # fmt: skip
read_state = hub_operation(
    "hub.read_sign_in_state", "POST /hub/passwordless/waiting", InteractionOnly, StepResponse,
    summary="Read the state of the sign-in: for Back, refresh, a reopened page, and a script that polls.",
)  # fmt: skip
resend = hub_operation(
    "hub.resend_sign_in", "POST /hub/passwordless/again", InteractionOnly, StepResponse,
    summary="Resend it, unless it was sent a moment ago. `Data` of an error is a `SentTo`.",
)  # fmt: skip
verify_code = hub_operation(
    "hub.verify_sign_in_code", "POST /hub/passwordless/code", CodeRequest, StepResponse, heavy_work=HASHES_SECRETS,
    errors=(*_MAY_NOT, *_NEW, *SMS_CODE, *EMAIL_CODE), summary="Sign in with the code. `Data` of an error is a `SentTo`.",
)  # fmt: skip
continue_approved = hub_operation(
    "hub.continue_approved_sign_in", "POST /hub/passwordless/approved", InteractionOnly, StepResponse, heavy_work=HASHES_SECRETS,
    errors=(*_MAY_NOT, errors.UsedSmartLink, errors.WrongClientGuid), summary="Continue if another device has approved the sign-in.",
)  # fmt: skip
read_link = hub_operation(
    "hub.read_sign_in_link", "POST /hub/passwordless/look", LinkLookup, SignInLinkView,
    summary="Read the state of an emailed link without using it.",
)  # fmt: skip
open_link = hub_operation(
    "hub.open_sign_in_link", "POST /hub/passwordless/link", LinkRequest, StepResponse,
    heavy_work=HASHES_SECRETS, errors=(*_MAY_NOT, *_NEW, *LINK),
    summary="Sign this browser in with an emailed link.",
)  # fmt: skip
hand_over = hub_operation(
    "hub.hand_over_sign_in", "POST /hub/passwordless/handover", HandoverRequest, SignInLinkView, heavy_work=HASHES_SECRETS,
    errors=(*_MAY_NOT, *_NEW, *LINK, errors.WrongMailCode),
    summary="Let the page that waits for an emailed link in another browser sign in there, by the number that it shows.",
)  # fmt: skip
renew_link = hub_operation(
    "hub.renew_sign_in_link", "POST /hub/passwordless/renewal", LinkRequest, StepResponse,
    errors=(errors.UnknownLink, errors.PasswordlessOff),
    summary="Email a new link in place of an expired one.",
)  # fmt: skip
read_request = hub_operation(
    "hub.read_sign_in_request", "POST /hub/passwordless/request", LinkLookup, DeviceRequestView,
    summary="Read which device waits for approval, without using the link.",
)  # fmt: skip
decide = hub_operation(
    "hub.decide_sign_in_request", "POST /hub/passwordless/decision", DeviceSignInDecision, DeviceRequestView, errors=LINK,
    summary="Approve or deny the waiting device.",
)  # fmt: skip
