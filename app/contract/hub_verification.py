"""What the hub asks around the verification of an address (callers H only, beside `app.contract.hub`)."""

from pydantic import Field

from app.contract import errors as e
from app.contract.emailed_links import LinkLookup, Token
from app.contract.error_groups import CONTACT_TAKEN, EMAIL_CODE, EMAIL_DOMAINS, LOCKS, SMS_CODE, SMS_SENDING
from app.contract.hashing import HASHES_SECRETS
from app.contract.hub import Next
from app.contract.operations import hub_operation
from app.kit.wire import Wire


class LinkView(Wire):
    """Where a mailed link stands: open, used, expired or unknown. `used`: the address is confirmed.

    `added_by` is whose account, as far as a stranger may read it, the address would be added to, where it is no registration's.
    """

    state: str
    sent_to: str = ""
    added_by: str = ""


class LinkRequest(Wire):
    """`attempt`: the sign-in that waits, where this browser began it. `password`: the one typed at registration."""

    token: Token
    attempt: str | None = None
    password: str = Field(default="", max_length=1000, repr=False)


class CodeRequest(Wire):
    """Without a code: the link was opened elsewhere."""

    attempt: str
    code: str = Field(default="", max_length=64)


class ResendRequest(Wire):
    attempt: str


class ChangeAddressRequest(Wire):
    """`to`: an address, or a number where one is waited for."""

    attempt: str
    to: str = Field(max_length=320)


CODE_ERRORS = (*SMS_CODE, *LOCKS, *EMAIL_CODE, *CONTACT_TAKEN, e.EmailUnverified)

read_link = hub_operation(
    "hub.read_link", "POST /hub/verification/look", LinkLookup, LinkView, summary="Read where a mailed link stands; nothing is used up.",
)  # fmt: skip
_OPEN_LINK_ERRORS = (
    e.UnknownLink, e.ExpiredLink, e.ClosedLink, e.EmailRegistered, e.PasswordMissing, e.WrongCredentials,
)  # fmt: skip
open_link = hub_operation(
    "hub.open_link", "POST /hub/verification/link", LinkRequest, Next, hashing=HASHES_SECRETS, errors=_OPEN_LINK_ERRORS,
    summary="Confirm an address by its link, and go on with the sign-in that waits for it. 1089: others registered with it "
    "too, so that the password typed at registration has to tell which account is meant.",
)  # fmt: skip
renew_link = hub_operation(
    "hub.renew_link", "POST /hub/verification/renewal", LinkRequest, Next, errors=(e.UnknownLink, e.ClosedLink),
    summary="Mail a new link where one is over.",
)  # fmt: skip
enter_code = hub_operation(
    "hub.enter_code", "POST /hub/verification/code", CodeRequest, Next, errors=CODE_ERRORS,
    summary="Confirm an address by its code. A refusal bears `MailedTo` as its data.",
)  # fmt: skip
mail_again = hub_operation(
    "hub.mail_again", "POST /hub/verification/mail", ResendRequest, Next, errors=(*SMS_SENDING, e.MailLimitReached),
    summary="Send link and code once more. A refusal bears `MailedTo` as its data.",
)  # fmt: skip
change_address = hub_operation(
    "hub.change_address", "POST /hub/verification/address", ChangeAddressRequest, Next,
    errors=(*EMAIL_DOMAINS, e.MalformedEmail, e.MalformedPhone, e.EmailUnverified),
    summary="Let the registration of this browser wait for another address; what was sent to the first is over.",
)  # fmt: skip
