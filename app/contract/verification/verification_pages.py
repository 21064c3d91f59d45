"""Operations for the verification of addresses."""

from typing import Final

from pydantic import Field

from app.contract import errors
from app.contract.catalogue import HASHES_SECRETS, hub_operation
from app.contract.error_groups import CONTACT_TAKEN, EMAIL_CODE, EMAIL_DOMAINS, LOCKS, SMS_CODE, SMS_SENDING
from app.contract.page_models import InteractionOnly, LinkLookup, LinkRequest
from app.contract.steps import StepResponse
from app.kit.operations.wire import Wire

CODE_MINUTES: Final = 5
"""How long a code works that was sent to an address or a number."""


class VerificationLinkView(Wire):
    """The state of an emailed link: open, used (the address is verified), expired or unknown.

    `added_by`: the masked identifier of the account that the address is added to; empty for a registration.
    """

    state: str
    sent_to: str = ""
    added_by: str = ""
    is_awaited: bool = False  # as in `LinkView`
    is_own: bool = False  # as in `SignInLinkView`


class VerifyLinkRequest(LinkRequest):
    """`interaction_id`: the pending interaction, if this browser began it. `password`: from registration."""

    password: str = Field(default="", max_length=1000, repr=False)


class OptionalCodeRequest(InteractionOnly):
    """Without a code: the link was opened in this browser, or in another browser with the number of this page."""

    code: str = Field(default="", max_length=64)


class ChangeAddressRequest(InteractionOnly):
    """`to`: an address, or a number if a number is pending."""

    to: str = Field(max_length=320)


CODE_ERRORS = (*SMS_CODE, *LOCKS, *EMAIL_CODE, *CONTACT_TAKEN, errors.EmailUnverified)

read_link = hub_operation(
    "hub.read_link", "POST /hub/verification/look", LinkLookup, VerificationLinkView,
    summary="Read the state of an emailed link without using it.",
)  # fmt: skip
_OPEN_LINK_ERRORS = (
    errors.UnknownLink, errors.ExpiredLink, errors.ClosedLink, errors.EmailRegistered, errors.PasswordMissing, errors.WrongCredentials,
    errors.WrongMailCode,
)  # fmt: skip
open_link = hub_operation(
    "hub.open_link", "POST /hub/verification/link", VerifyLinkRequest, StepResponse, heavy_work=HASHES_SECRETS, errors=_OPEN_LINK_ERRORS,
    summary="Verify an address with its link, and continue the sign-in that waits for it. 1089: several registrations used "
    "the address, so the password from registration must select one.",
)  # fmt: skip
renew_link = hub_operation(
    "hub.renew_link", "POST /hub/verification/renewal", VerifyLinkRequest, StepResponse, errors=(errors.UnknownLink, errors.ClosedLink),
    summary="Email a new link in place of an expired one.",
)  # fmt: skip
enter_code = hub_operation(
    "hub.enter_code", "POST /hub/verification/code", OptionalCodeRequest, StepResponse, errors=CODE_ERRORS,
    summary="Verify an address with its code. `Data` of an error is a `SentTo`.",
)  # fmt: skip
mail_again = hub_operation(
    "hub.mail_again", "POST /hub/verification/mail", InteractionOnly, StepResponse, errors=(*SMS_SENDING, errors.MailLimitReached),
    summary="Resend the link and the code. `Data` of an error is a `SentTo`.",
)  # fmt: skip
change_address = hub_operation(
    "hub.change_address", "POST /hub/verification/address", ChangeAddressRequest, StepResponse,
    errors=(*EMAIL_DOMAINS, errors.MalformedEmail, errors.MalformedPhone, errors.EmailUnverified),
    summary="Change the address of this browser's registration; links and codes sent to the first one become invalid.",
)  # fmt: skip
