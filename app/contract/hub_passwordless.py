"""What the hub asks around sign-ins without a password (callers H only, beside `app.contract.hub`)."""

from typing import Literal

from pydantic import Field

from app.contract import errors as e
from app.contract.emailed_links import LinkLookup, Token
from app.contract.error_groups import CONTACT_TAKEN, EMAIL_CODE, EMAIL_DOMAINS, LINK, LOCK_CHALLENGES, SMS_CODE
from app.contract.hashing import HASHES_SECRETS
from app.contract.hub import Next
from app.contract.hub_recovery import CodeRequest, InteractionOnly, LinkRequest
from app.contract.operations import hub_operation
from app.kit.wire import Wire

PasswordlessMethod = Literal["mail", "sms", "device"]


class PasswordlessRequest(Wire):
    """`attempt`: the sign-in that waits; one is begun where there is none. `device`: another one says yes."""

    attempt: str | None = None
    identifier: str = Field(max_length=320)
    by: PasswordlessMethod
    remember: bool = False


class LinkView(Wire):
    """Where a link stands: open, used, expired or unknown."""

    state: str
    label: str = ""  # whom it signs in
    registers: bool = False  # whoever is new gets an account by it


class DeviceRequestView(Wire):
    """A device that waits for a yes: open, approved, denied, expired or unknown."""

    state: str
    label: str = ""  # whom it would sign in
    browser: str = ""
    system: str = ""
    address: str = ""
    relying_party: str = ""
    needs_number: bool = False  # the one that stands on the device is typed
    is_wrong: bool = False  # the number that was typed is not


class DeviceDecision(Wire):
    token: Token
    is_yes: bool
    number: str = Field(default="", max_length=20)


_MAY_NOT = (*LOCK_CHALLENGES, *CONTACT_TAKEN, e.LoginDisabled, e.EmailUnverified, e.PhoneUnverified, e.TooManySessions)
_NEW = (*EMAIL_DOMAINS, e.RegistrationOff, e.PhoneLoginOff)

ask = hub_operation(
    "hub.ask_sign_in", "POST /hub/passwordless", PasswordlessRequest, Next, errors=(e.PasswordlessOff,),
    summary="Send what signs in without a password; the answer is the same for everybody.",
)  # fmt: skip
waiting = hub_operation(
    "hub.sign_in_asked", "POST /hub/passwordless/waiting", InteractionOnly, Next,
    summary="Read where it stands: for Back, refresh, a page opened again, and a script that asks every few seconds.",
)  # fmt: skip
again = hub_operation(
    "hub.ask_sign_in_again", "POST /hub/passwordless/again", InteractionOnly, Next,
    summary="Send it once more, unless that was done a moment ago. A refusal bears `MailedTo` as its data.",
)  # fmt: skip
code = hub_operation(
    "hub.sign_in_code", "POST /hub/passwordless/code", CodeRequest, Next, hashing=HASHES_SECRETS,
    errors=(*_MAY_NOT, *_NEW, *SMS_CODE, *EMAIL_CODE),
    summary="Sign in by the code that was sent. A refusal bears `MailedTo` as its data.",
)  # fmt: skip
go_on = hub_operation(
    "hub.sign_in_approved", "POST /hub/passwordless/approved", InteractionOnly, Next, hashing=HASHES_SECRETS,
    errors=(*_MAY_NOT, e.UsedSmartLink, e.WrongClientGuid), summary="Go on where another device said yes; else say that it did not yet.",
)  # fmt: skip
read_link = hub_operation(
    "hub.read_sign_in_link", "POST /hub/passwordless/look", LinkLookup, LinkView,
    summary="Read where a mailed link stands; nothing is used up.",
)  # fmt: skip
open_link = hub_operation(
    "hub.open_sign_in_link", "POST /hub/passwordless/link", LinkRequest, Next, hashing=HASHES_SECRETS, errors=(*_MAY_NOT, *_NEW, *LINK),
    summary="Sign this browser in by a mailed link.",
)  # fmt: skip
renew_link = hub_operation(
    "hub.renew_sign_in_link", "POST /hub/passwordless/renewal", LinkRequest, Next, errors=(e.UnknownLink, e.PasswordlessOff),
    summary="Mail a new link where one is over.",
)  # fmt: skip
read_request = hub_operation(
    "hub.read_sign_in_request", "POST /hub/passwordless/request", LinkLookup, DeviceRequestView,
    summary="Read which device waits for the yes of a mailbox; nothing is used up.",
)  # fmt: skip
decide = hub_operation(
    "hub.decide_sign_in_request", "POST /hub/passwordless/decision", DeviceDecision, DeviceRequestView, errors=LINK,
    summary="Say yes or no to the device that waits.",
)  # fmt: skip
