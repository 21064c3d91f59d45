"""All that an interaction stores: the request that began it, and what the person did and was sent since.

It is JSON in the column `request`; an alias is the stored name. Every field may be absent, because releases overlap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter

from app.identity.credentials import reset_messages
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.reset_messages import MAIL, PASSWORD, PIN, SMS, ResetKind
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.identifiers import EMAIL, PHONE
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform.context import NO_ACCOUNT


@dataclass(frozen=True)
class InteractionEnding:
    """How an interaction ended."""

    uid: str | None = None  # the account whose authorization response it was
    problem: tuple[str, str] | None = None  # the refusal: OAuth's error and its description
    outcome: str | None = None  # of the approval of a device, program or QR code


@dataclass(frozen=True)
class WaitingPage:
    """A page that waits until the person opens the mailed link, perhaps in another browser, and types the page's number."""

    purpose: Purpose  # of the mailed link
    uid: str
    number: str
    agent: str = ""  # the User-Agent of the browser with the page
    account: str | None = None  # the account that the page may continue as
    approved_at: datetime | None = None


@dataclass(frozen=True)
class PendingIdentity:
    """A provider's identity, and the account that this interaction registered with it or signed in by it.

    `is_proof`: whether the provider's claim verified the account's address, so that the identity is linked.
    """

    claimed: ProviderIdentity
    uid: str = NO_ACCOUNT
    is_proof: bool = False
    is_wished: bool = False  # the sign-in page announced the link


@dataclass(frozen=True)
class PendingLink:
    """A provider's identity that is linked when the account with its address signs in (decision 0429)."""

    claimed: ProviderIdentity
    uid: str
    began_at: int  # seconds since 1970


@dataclass(frozen=True)
class PendingVerification:
    """The address or number that the interaction awaits."""

    email: str  # the address as typed, or the number
    uid: str  # NO_ACCOUNT where there is nothing to verify
    sent_at: int = 0  # seconds since 1970
    password_hash: str = ""  # of the password that was typed in this browser, so that it need not be typed again
    remember: bool = False
    by: str = MAIL
    held: dict[str, Any] = field(default_factory=dict, repr=False)
    """The registration of this browser, whose address may be changed."""
    passkey: str = ""  # the WebAuthn id of the passkey that was created or used in this browser
    methods: list[str] = field(default_factory=list)  # its `amr`

    @property
    def subject(self) -> str:
        return identifiers.normalize(PHONE if self.by == SMS else EMAIL, self.email)


@dataclass(frozen=True)
class PendingPasswordless:
    """A message that the interaction awaits."""

    name: str  # as typed
    by: str
    uid: str = NO_ACCOUNT
    subject: str = ""  # the subject of the code
    kind: str = "email"  # of the identifier
    value: str = ""
    sent_at: int = 0  # seconds since 1970
    remember: bool = False
    device_token_hash: Annotated[str, Field(alias="ticket")] = ""  # of the pending device
    number: str = ""  # shown on the pending device

    def is_same(self, other: PendingPasswordless) -> bool:
        """Return whether both await the same message."""
        return (self.name, self.by, self.uid, self.subject) == (other.name, other.by, other.uid, other.subject)


@dataclass(frozen=True)
class PendingRecovery:
    """A recovery message that the interaction awaits."""

    name: str  # as typed
    uid: str  # NO_ACCOUNT if no account has the identifier
    by: str = MAIL
    sent_at: int = 0  # seconds since 1970
    of: str = PASSWORD.name

    @property
    def forgotten(self) -> ResetKind:
        return PIN if self.of == PIN.name else PASSWORD

    @property
    def subject(self) -> str:
        return self.by if self.uid != NO_ACCOUNT else reset_messages.unknown_subject(self.name)


@dataclass(frozen=True)
class HandoffRequest:
    """The parameters of a program's link, which gets the sign-in."""

    callback: str = ""
    by: str = ""  # how the callback gets the token: posted, unless `querystring` or `hash`
    is_access_token: bool = False
    links: bool = False
    registers: bool = True
    guid: str = ""
    scope: str = ""
    """Further scopes to request at the connection that the link names."""
    connection: str = ""

    def scope_at(self, connection: str) -> str:
        """Return the further scopes to request at a connection; the person may choose another one on the pages."""
        return self.scope if connection == self.connection else ""


@dataclass(frozen=True)
class JwtRequest:
    """An app's request for a JWT."""

    app: str
    redirect_uri: str
    nonce: str | None = None


@dataclass(frozen=True)
class SamlRequest:
    """The request of a service provider for an assertion, as it was accepted."""

    app: str
    acs_url: str  # a registered one
    request_id: str | None = None  # None: the sign-in began here
    relay_state: str = ""
    name_id_format: str = ""  # empty: the client's
    must_reauthenticate: bool = False
    is_passive: bool = False
    context_classes: tuple[str, ...] = ()
    comparison: str = "exact"


@dataclass(frozen=True)
class ShownQrCode:
    """The QR code that the page shows."""

    token_hash: Annotated[str, Field(alias="ticket")]  # the digest of the code
    code: str  # encrypted


@dataclass(frozen=True)
class InteractionState:
    """What an interaction stores."""

    authorization: dict[str, Any] = field(default_factory=dict)
    """The parameters of an authorization request, for `CheckedRequest`; stored beside the other members."""
    return_url: str | None = None
    action: str | None = None
    """The page that a visit without an application began at."""
    ended: InteractionEnding | None = None
    page_workflow: str | None = None
    """The name of the workflow that a visit without an application asked for."""
    workflow_run: dict[str, Any] | None = None
    """The `WorkflowRun` of a session that must still pass the workflow of this application."""
    workflow_session_id: str | None = None
    """That session: another account of the browser, or a later sign-in, goes on from nothing that it reached."""
    denial: dict[str, str] | None = None
    """What a workflow says to the person whom it refused, by language."""

    second_factor_token_hash: Annotated[str | None, Field(alias="second_factor")] = None
    """Of the continuation token of a sign-in that passed its first factor."""
    reauthenticated_session_id: Annotated[str | None, Field(alias="step_up")] = None
    """The session that only needs a second factor; None for a sign-in."""
    landing: str | None = None
    """The page that asked for a reauthentication."""
    unsaved_codes: str | None = None
    """The account that enrolled a factor in this sign-in and must save its backup codes."""
    pin_chosen: bool = False
    """Whether the person wants the offered PIN."""
    passkey_here: bool = False
    """Whether a passkey of this device is offered, after one of another device."""

    accounts_requested_at: Annotated[float | bool | None, Field(alias="wants_accounts")] = None
    """When the person requested the page with the accounts, in Unix time."""
    chosen_session_id: Annotated[str | None, Field(alias="account_chosen")] = None
    another_requested_at: Annotated[float | bool | None, Field(alias="another_account")] = None
    """When the person requested to add one more account, in Unix time; an older version wrote true."""

    waiting_page: Annotated[WaitingPage | None, Field(alias="handover")] = None
    verification: Annotated[PendingVerification | None, Field(alias="checking")] = None
    recovery: Annotated[PendingRecovery | None, Field(alias="recovering")] = None
    passwordless: PendingPasswordless | None = None

    identity: Annotated[PendingIdentity | None, Field(alias="connected")] = None
    identity_at: Annotated[int | None, Field(alias="connected_at")] = None
    """When the provider returned the identity, in Unix time."""
    remembers: bool = False
    """Whether the person, whose password a directory checked, asked to stay signed in."""
    pending_link: PendingLink | None = None
    switches_to: str | None = None
    """The account that the identity signs in if the person, who is signed in to another account, agrees to switch."""
    switches_from: str | None = None
    """The id of that session. Who uses the browser after it answers no question of its person."""
    linking_session_id: Annotated[str | None, Field(alias="links")] = None
    """The session whose account links an identity."""
    handoff: Annotated[HandoffRequest | None, Field(alias="handing")] = None
    jwt_app: JwtRequest | None = None
    saml: SamlRequest | None = None
    invitation: str | None = None
    """The id of the invitation that began the interaction."""
    invitation_token_hash: str | None = None
    """The hash of the token by which this browser opened the invitation."""
    qr_code: ShownQrCode | None = None
    approved_code_hash: Annotated[str | None, Field(alias="approves")] = None
    """The digest of the QR code that this phone opened."""
    device_code_hash: Annotated[str | None, Field(alias="device")] = None
    """The digest of the code that a device shows (RFC 8628)."""

    @property
    def client_id(self) -> str | None:
        return self.authorization.get("client_id")

    @property
    def named_workflow(self) -> str | None:
        """The workflow that the request names."""
        return self.authorization.get("workflow") or self.page_workflow

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> InteractionState:
        members = {name: value for name, value in stored.items() if name in _STORED_NAMES and value is not None}
        rest = {name: value for name, value in stored.items() if name not in _STORED_NAMES}
        return _ADAPTER.validate_python({**members, "authorization": rest})

    def to_stored(self) -> dict[str, Any]:
        members = _ADAPTER.dump_python(
            self, mode="json", by_alias=True, exclude={"authorization"}, exclude_defaults=True
        )
        return {**self.authorization, **members}


NEW: Final = InteractionState()
"""The state of an interaction that nothing is known of."""
_ADAPTER: Final = TypeAdapter(InteractionState)
_STORED_NAMES: Final = frozenset(_ADAPTER.dump_python(NEW, by_alias=True)) - {"authorization"}
