"""Operations for forgotten, reset and changed passwords."""

from typing import Literal

from pydantic import Field

from app.contract import errors
from app.contract.catalogue import HASHES, hub_operation
from app.contract.error_groups import (
    DIRECTORY_CHANGE,
    EMAIL_CODE,
    LINK,
    LOCK_CHALLENGES,
    NEW_PASSWORD,
    REAUTHENTICATION,
    SMS_CODE,
)
from app.contract.page_models import CodeRequest, InteractionOnly, LinkLookup, LinkRequest, LinkToken, LinkView
from app.contract.sessions.models import Session
from app.contract.steps import StepResponse
from app.contract.tenants.settings import PasswordPolicy
from app.kit.operations.wire import Wire


class RecoveryLinkView(LinkView):
    """The link of a security alert may also be closed (the account is) or moved (expired, and the address no longer belongs to
    the account).
    """

    reason: str = ""  # expired: the password was too old; code: a code was used instead
    password_policy: PasswordPolicy | None = (
        None  # open, of a password: the account's, with the rules of its organizations
    )


class ForgotRequest(Wire):
    """`interaction_id`: the interaction; None begins one. `of`: the forgotten credential."""

    interaction_id: str | None = None
    of: Literal["password", "pin"] = "password"
    identifier: str = Field(max_length=320)


class ResetPasswordRequest(LinkRequest):
    password: str = Field(max_length=1024)


class ChangePasswordRequest(Wire):
    old_password: str = Field(max_length=1024)
    new_password: str = Field(max_length=1024)


class SetPasswordRequest(Wire):
    password: str = Field(max_length=1024)


class PasswordChanged(Wire):
    """`ended`: the number of other browsers that were signed out."""

    ended: int = 0
    session: Session | None = None  # this browser's session under a new cookie


forgot = hub_operation(
    "hub.forgot", "POST /hub/password/forgot", ForgotRequest, StepResponse, errors=(errors.PinOff, errors.DirectoryPasswordElsewhere),
    summary="Send a link or a code that resets a password or PIN; the response is the same for every identifier.",
)  # fmt: skip
read_recovery = hub_operation(
    "hub.read_recovery", "POST /hub/password/recovery", InteractionOnly, StepResponse,
    summary="Read the state of a recovery: for Back, refresh and a reopened page.",
)  # fmt: skip
resend = hub_operation(
    "hub.resend_recovery", "POST /hub/password/again", InteractionOnly, StepResponse,
    summary="Resend it, unless it was sent a moment ago. `Data` of an error is a `SentTo`.",
)  # fmt: skip
continue_reset = hub_operation(
    "hub.continue_reset", "POST /hub/password/continue", InteractionOnly, StepResponse,
    summary="Continue after the password was reset in this browser, or in another browser with the number of the waiting page.",
)  # fmt: skip
reset_code = hub_operation(
    "hub.reset_code", "POST /hub/password/code", CodeRequest, StepResponse, errors=(*LOCK_CHALLENGES, *SMS_CODE, *EMAIL_CODE),
    summary="Verify the code. `Data` of an error is a `SentTo`.",
)  # fmt: skip
read_reset = hub_operation(
    "hub.read_reset", "POST /hub/password/look", LinkLookup, RecoveryLinkView,
    summary="Read the state of an emailed link without using it.",
)  # fmt: skip
reset = hub_operation(
    "hub.reset", "POST /hub/password/reset", ResetPasswordRequest, StepResponse, heavy_work=HASHES,
    errors=(*NEW_PASSWORD, *LINK, errors.AccountBlocked, errors.WrongMailCode),
    summary="Set a new password with a link, and sign in if the tenant allows it.",
)  # fmt: skip
renew_reset = hub_operation(
    "hub.renew_reset", "POST /hub/password/renewal", LinkRequest, StepResponse, errors=(errors.UnknownLink,),
    summary="Email a new link in place of an expired one.",
)  # fmt: skip
change = hub_operation(
    "hub.change_password", "POST /hub/password/change", ChangePasswordRequest, PasswordChanged, heavy_work=HASHES,
    errors=(*LOCK_CHALLENGES, *NEW_PASSWORD, *REAUTHENTICATION, *DIRECTORY_CHANGE),
    summary="Change the account's password; every other session ends.",
)  # fmt: skip
set_first = hub_operation(
    "hub.set_first_password", "POST /hub/password/first", SetPasswordRequest, PasswordChanged, reauthentication=True,
    errors=NEW_PASSWORD,
    summary="Set the first password of the account. 967: it has one, or the last authentication is too old.",
)  # fmt: skip
read_security_alert = hub_operation(
    "hub.read_security_alert", "POST /hub/password/alarm/look", LinkLookup, RecoveryLinkView,
    summary="Read the state of the link in a security alert about a changed password.",
)  # fmt: skip
confirm_change = hub_operation(
    "hub.confirm_change", "POST /hub/password/alarm/own", LinkToken, RecoveryLinkView, errors=LINK,
    summary="Confirm the change: this alert and earlier ones to the same address can no longer revert it.",
)  # fmt: skip
revert_change = hub_operation(
    "hub.revert_change", "POST /hub/password/alarm", LinkToken, StepResponse, heavy_work=HASHES, errors=(*LINK, errors.AccountBlocked),
    summary="Revert the change: end every session, disable the password, and email a link that sets a new one.",
)  # fmt: skip
