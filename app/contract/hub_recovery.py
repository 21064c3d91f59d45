"""What the hub asks around forgotten, reset and changed passwords (callers H only, beside `app.contract.hub`)."""

from typing import Literal

from pydantic import Field

from app.contract import errors as e
from app.contract.emailed_links import LinkLookup, Token
from app.contract.error_groups import EMAIL_CODE, LINK, LOCK_CHALLENGES, NEW_PASSWORD, REAUTHENTICATION, SMS_CODE
from app.contract.hashing import HASHES
from app.contract.hub import Next, Session
from app.contract.operations import hub_operation
from app.kit.wire import Wire


class ForgotRequest(Wire):
    """`attempt`: the sign-in that waits; one is begun where there is none. `of`: what was forgotten."""

    attempt: str | None = None
    of: Literal["password", "pin"] = "password"
    identifier: str = Field(max_length=320)


class InteractionOnly(Wire):
    attempt: str


class CodeRequest(Wire):
    attempt: str
    code: str = Field(max_length=64)


class LinkView(Wire):
    """Where a link stands: open, used, expired or unknown; of an alarm also closed, which is the account, and moved, which
    is one that is over and whose address is not the account's any more. `label`: whose password it is.
    """

    state: str
    label: str = ""
    reason: str = ""  # expired: the password was too old; code: a code was typed before


class LinkRequest(Wire):
    token: Token
    attempt: str | None = None


class ResetPasswordRequest(LinkRequest):
    password: str = Field(max_length=1024)


class ChangePasswordRequest(Wire):
    old_password: str = Field(max_length=1024)
    new_password: str = Field(max_length=1024)


class SetPasswordRequest(Wire):
    password: str = Field(max_length=1024)


class PasswordChanged(Wire):
    """Another password is set; how many other browsers were signed out by it."""

    ended: int = 0
    session: Session | None = None  # this browser's goes on under another cookie


class SecurityAlertRequest(Wire):
    token: Token


forgot = hub_operation(
    "hub.forgot", "POST /hub/password/forgot", ForgotRequest, Next, errors=(e.PinOff,),
    summary="Send what resets a forgotten password or PIN; the answer is the same for everybody.",
)  # fmt: skip
recovery = hub_operation(
    "hub.recovery", "POST /hub/password/recovery", InteractionOnly, Next,
    summary="Read where a recovery stands: for Back, refresh and a page opened again.",
)  # fmt: skip
again = hub_operation(
    "hub.forgot_again", "POST /hub/password/again", InteractionOnly, Next,
    summary="Send it once more, unless that was done a moment ago. A refusal bears `MailedTo` as its data.",
)  # fmt: skip
reset_code = hub_operation(
    "hub.reset_code", "POST /hub/password/code", CodeRequest, Next, errors=(*LOCK_CHALLENGES, *SMS_CODE, *EMAIL_CODE),
    summary="Take the code that was sent. A refusal bears `MailedTo` as its data.",
)  # fmt: skip
read_reset = hub_operation(
    "hub.read_reset", "POST /hub/password/look", LinkLookup, LinkView, summary="Read where a mailed link stands; nothing is used up.",
)  # fmt: skip
reset = hub_operation(
    "hub.reset", "POST /hub/password/reset", ResetPasswordRequest, Next, hashing=HASHES, errors=(*NEW_PASSWORD, *LINK, e.AccountBlocked),
    summary="Set a new password by a link, and go on: signed in where the tenant wants it.",
)  # fmt: skip
renew_reset = hub_operation(
    "hub.renew_reset", "POST /hub/password/renewal", LinkRequest, Next, errors=(e.UnknownLink,),
    summary="Mail a new link where one is over.",
)  # fmt: skip
change = hub_operation(
    "hub.change_password", "POST /hub/password/change", ChangePasswordRequest, PasswordChanged, hashing=HASHES,
    errors=(*LOCK_CHALLENGES, *NEW_PASSWORD, *REAUTHENTICATION),
    summary="Change the signed-in person's password; every other session ends.",
)  # fmt: skip
set_first = hub_operation(
    "hub.set_password", "POST /hub/password/first", SetPasswordRequest, PasswordChanged, hashing=HASHES,
    errors=(*REAUTHENTICATION, *NEW_PASSWORD),
    summary="Set the password of a signed-in person who has none. 967: there is one, or the last proof is too old.",
)  # fmt: skip
read_alarm = hub_operation(
    "hub.read_alarm", "POST /hub/password/alarm/look", LinkLookup, LinkView,
    summary="Read where the link of a mail about a changed password stands.",
)  # fmt: skip
own_doing = hub_operation(
    "hub.own_doing", "POST /hub/password/alarm/own", SecurityAlertRequest, LinkView, errors=LINK,
    summary="It was the owner: this alarm and those before it to the same address give nothing back any more.",
)  # fmt: skip
alarm = hub_operation(
    "hub.alarm", "POST /hub/password/alarm", SecurityAlertRequest, Next, hashing=HASHES, errors=(*LINK, e.AccountBlocked),
    summary="It was somebody else: end every session, close the password, and mail what sets a new one.",
)  # fmt: skip
