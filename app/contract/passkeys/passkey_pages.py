"""Operations for passkeys: sign-in, management, the offer after a sign-in, replacement of a lost one."""

from typing import Annotated, Any, Literal

from pydantic import Field

from app.contract import errors
from app.contract.accounts.models import PersonView
from app.contract.accounts.pages.reauthentication_pages import AccountView
from app.contract.catalogue import hub_operation
from app.contract.error_groups import LINK, PASSKEY
from app.contract.page_models import LinkLookup, LinkToken, LinkView, NoParameters
from app.contract.passkeys.models import ListedPasskey, PresentedCredential
from app.contract.passkeys.passkey_sign_in_operations import SIGN_IN_ERRORS
from app.contract.shared_responses import Posted
from app.contract.steps import StepResponse
from app.kit.operations.wire import From, Wire

Name = Annotated[str, Field(max_length=60)]
Id = Annotated[str, Field(max_length=100)]


class PasskeyOptions(Wire):
    """Options of `navigator.credentials`."""

    options: dict[str, Any]


class BeginOwnRequest(Wire):
    local: Annotated[bool, From.QUERY] = False  # on this device


class PasskeySignIn(Wire):
    interaction_id: str | None = None
    credential: PresentedCredential
    remember: bool = False


class AcceptedCredentials(Wire):
    """Signals for password managers about accepted credentials (WebAuthn level 3 section 5.1.10)."""

    rp_id: str
    user_id: str
    name: str
    display_name: str
    ids: list[str]


class OwnPasskey(ListedPasskey):
    used_at: str | None = None
    is_synced: bool = False
    is_security_key: bool = False  # only plugged in or held to the device


class OwnPasskeys(AccountView):
    """`passkeys` in the order of the ids in `accepted`."""

    passkeys: list[OwnPasskey]
    accepted: AcceptedCredentials
    has_password: bool = True
    obstacle: Literal["", "email", "connection", "limit"] = ""
    """Why no passkey can be created: no email address, no HTTPS, or as many as an account may have; empty: one can."""


class AddPasskeyRequest(Wire):
    credential: PresentedCredential
    name: Name = ""


class RenamePasskeyRequest(Wire):
    id: Id
    name: Name


class PasskeyOfferRequest(Wire):
    interaction_id: Annotated[str | None, From.QUERY] = None


class PasskeyOffer(Wire):
    """The offer of a passkey, if there is one now; else the `next` step."""

    is_local: bool = False
    person: PersonView | None = None
    next: StepResponse | None = None


class PasskeyOfferAnswer(Wire):
    """A new passkey; None skips the offer for some time."""

    interaction_id: str | None = None
    credential: PresentedCredential | None = None


class LostPasskeyRequest(Wire):
    identifier: str = Field(max_length=320)
    interaction_id: str | None = None


class FinishReplacementRequest(LinkToken):
    credential: PresentedCredential


_BEGUN = (errors.PasskeysOff, errors.PasskeyMisconfigured, errors.TooManyRequests)
_LINK = (*LINK, errors.AccountBlocked)

begin_sign_in = hub_operation(
    "hub.begin_passkey_sign_in", "POST /hub/passkeys/begin", NoParameters, PasskeyOptions, errors=_BEGUN,
    summary="Start a sign-in with any passkey of the browser.",
)  # fmt: skip
sign_in = hub_operation(
    "hub.sign_in_by_passkey", "POST /hub/passkeys/sign-in", PasskeySignIn, StepResponse,
    errors=(*SIGN_IN_ERRORS, *PASSKEY, errors.AccountLeaving, errors.PhoneUnverified), summary="Sign in with a passkey in an interaction.",
)  # fmt: skip
read_own = hub_operation(
    "hub.read_own_passkeys", "GET /hub/own/passkeys", NoParameters, OwnPasskeys, errors=(errors.NotAuthenticated, errors.PasskeysOff),
    summary="Read the account's passkeys.",
)  # fmt: skip
begin_own = hub_operation(
    "hub.begin_own_passkey", "POST /hub/own/passkeys/begin", BeginOwnRequest, PasskeyOptions,
    errors=(*_BEGUN, errors.NotAuthenticated, errors.PasskeyNeedsEmail), summary="Start adding a passkey.",
)  # fmt: skip
add = hub_operation(
    "hub.add_passkey", "POST /hub/own/passkeys", AddPasskeyRequest, Posted, reauthentication=True,
    errors=PASSKEY, summary="Add a passkey to the account's account.",
)  # fmt: skip
rename = hub_operation(
    "hub.rename_passkey", "POST /hub/own/passkeys/rename", RenamePasskeyRequest, Posted,
    errors=(errors.NotAuthenticated, errors.UnknownPasskey),
    summary="Rename a passkey.",
)  # fmt: skip
read_offer = hub_operation(
    "hub.read_passkey_offer", "GET /hub/passkeys/offer", PasskeyOfferRequest, PasskeyOffer, errors=(errors.NotAuthenticated,),
    summary="Read whether to offer a passkey after this sign-in.",
)  # fmt: skip
answer_offer = hub_operation(
    "hub.answer_passkey_offer", "POST /hub/passkeys/offer", PasskeyOfferAnswer, StepResponse, errors=(*PASSKEY, errors.NotAuthenticated),
    summary="Accept or skip the offer of a passkey, and continue the interaction.",
)  # fmt: skip
lost = hub_operation(
    "hub.lost_passkey", "POST /hub/passkeys/lost", LostPasskeyRequest, Posted, errors=(errors.PasskeysOff, errors.TooManyRequests),
    summary="Email a link that replaces a lost passkey; the response is the same for every identifier.",
)  # fmt: skip
read_lost = hub_operation(
    "hub.read_lost_passkey", "GET /hub/passkeys/reset", LinkLookup, LinkView,
    summary="Read the state of an emailed link without using it.",
)  # fmt: skip
begin_lost = hub_operation(
    "hub.begin_lost_passkey", "POST /hub/passkeys/reset/begin", LinkToken, PasskeyOptions, errors=(*_BEGUN, *_LINK),
    summary="Start replacing a lost passkey with an emailed link.",
)  # fmt: skip
finish_lost = hub_operation(
    "hub.finish_lost_passkey", "POST /hub/passkeys/reset", FinishReplacementRequest, StepResponse,
    errors=(*_LINK, *PASSKEY, errors.TooManyRequests),
    summary="Replace a lost passkey with an emailed link.",
)  # fmt: skip
