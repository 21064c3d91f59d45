"""Operations behind the pages of an account's email addresses and phone number."""

from pydantic import Field

from app.contract import errors
from app.contract.catalogue import hub_operation
from app.contract.error_groups import (
    ADDED_EMAIL,
    EMAIL_CODE,
    EMAIL_SENDING,
    LOCKS,
    SMS_CODE,
    SMS_SENDING,
)
from app.contract.messages.models import Carries
from app.contract.shared_responses import Posted
from app.kit.operations.wire import Wire


class EmailView(Wire):
    """An email address of the account."""

    email: str
    is_first: bool = False
    is_confirmed: bool = False
    is_pending: bool = False  # pending: not verified yet
    can_resend: bool = False  # its link and code may be sent again
    resend_in_seconds: int = 0
    carries: Carries = "both"  # if it can be resent: what the mail contains


class EmailRequest(Wire):
    email: str = Field(max_length=320)


class EmailCodeRequest(EmailRequest):
    code: str = Field(max_length=64)


class PhoneRequest(Wire):
    phone: str = Field(max_length=320)


class PhoneCodeRequest(Wire):
    code: str = Field(max_length=64)


add_email = hub_operation(
    "hub.add_email", "POST /hub/own/emails/add", EmailRequest, Posted, reauthentication=True,
    errors=(*ADDED_EMAIL, *EMAIL_SENDING),
    summary="Email a link and a code to a new address; the response is the same for an address of another account.",
)  # fmt: skip


resend_email = hub_operation(
    "hub.resend_email", "POST /hub/own/emails/again", EmailRequest, Posted,
    errors=(
        *ADDED_EMAIL, *EMAIL_SENDING, errors.NotAuthenticated, errors.EmailNotOnProfile, errors.EmailVerifiedBefore,
        errors.EmailVerificationOff,
    ),
    summary="Resend the link and the code to an unverified address of the account.",
)  # fmt: skip


confirm_email = hub_operation(
    "hub.confirm_email", "POST /hub/own/emails/confirm", EmailCodeRequest, Posted,
    errors=(
        *LOCKS, *EMAIL_CODE, errors.NotAuthenticated, errors.MalformedEmail, errors.EmailRegistered, errors.EmailVerifiedBefore,
        errors.ClosedLink,
    ),
    summary="Verify an address with an emailed code.",
)  # fmt: skip


make_primary = hub_operation(
    "hub.make_primary", "POST /hub/own/emails/primary", EmailRequest, Posted, reauthentication=True,
    errors=(errors.MalformedEmail, errors.EmailNotOnProfile, errors.EmailNotAddable), summary="Make another address the primary one.",
)  # fmt: skip


request_phone_change = hub_operation(
    "hub.request_phone_change", "POST /hub/own/phone/ask", PhoneRequest, Posted, reauthentication=True,
    errors=(*SMS_SENDING, errors.PhoneLoginOff, errors.MalformedPhone, errors.PhoneRegistered),
    summary="Text a code to a new number; the response is the same for a number of another account.",
)  # fmt: skip


resend_phone_code = hub_operation(
    "hub.resend_phone_code", "POST /hub/own/phone/again", PhoneRequest, Posted,
    errors=(*SMS_SENDING, errors.NotAuthenticated, errors.PhoneLoginOff, errors.NoPhoneOnProfile, errors.PhoneRegistered),
    summary="Resend the code to the pending number.",
)  # fmt: skip


confirm_phone = hub_operation(
    "hub.confirm_phone", "POST /hub/own/phone/confirm", PhoneCodeRequest, Posted,
    errors=(*SMS_CODE, *LOCKS, errors.NotAuthenticated, errors.PhoneLoginOff, errors.PhoneTaken),
    summary="Verify the pending number with a texted code.",
)  # fmt: skip
