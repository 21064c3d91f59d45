"""The two ceremonies of WebAuthn: a passkey is made (level 3 section 7.1) and shown (section 7.2).

What a ceremony began with is a ticket, named by its challenge: five minutes, for one account and one use, and used up by
the credential that answers it. Whatever a browser sends is somebody's invention until the library has verified it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from webauthn import verify_authentication_response, verify_registration_response
from webauthn.helpers import base64url_to_bytes
from webauthn.helpers.cose import COSEAlgorithmIdentifier
from webauthn.helpers.structs import CredentialDeviceType

from app.contract import errors as e
from app.contract.passkeys.shapes import PresentedCredential
from app.identity.credentials import store as credentials
from app.identity.credentials.passkeys import options, store
from app.identity.credentials.passkeys.options import DEFAULT_PREFERENCES, CreationPreferences, UserEntity
from app.identity.credentials.store import Credential, LookupTaken
from app.identity.directory.accounts import first_verification
from app.identity.directory.accounts import store as accounts
from app.identity.directory.accounts.identifiers import EMAIL
from app.identity.directory.tenants import webauthn_origins
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import NO_ACCOUNT, ContinuationPurpose, ContinuationToken
from app.kit import randomness
from app.kit.limits import Rate

LIFETIME: Final = timedelta(minutes=options.LIFETIME_MINUTES)
_ALGORITHMS: Final = [COSEAlgorithmIdentifier(number) for number in options.ALGORITHMS]
_MAX_ID_BYTES: Final = 1_023  # WebAuthn section 4: Credential ID
_MAX_KEY_BYTES: Final = 2_000
_TRANSPORTS: Final = frozenset({"usb", "nfc", "ble", "smart-card", "hybrid", "internal"})


class CeremonyUse(StrEnum):
    """What a ceremony is for: a challenge of one use answers no other."""

    SIGN_UP = "sign_up"
    ADD = "add"
    RESET = "reset"
    FACTOR = "factor"
    SIGN_IN = "sign_in"
    AUTOFILL = "autofill"


@dataclass(frozen=True)
class NewPasskey:
    """A passkey that a browser just made, verified and not kept yet."""

    ticket: ContinuationToken
    raw_id: bytes
    counter: int
    facts: dict[str, Any]
    is_user_verified: bool = False

    @property
    def method(self) -> str:
        return _amr(self.facts)


@dataclass(frozen=True)
class VerifiedPasskey:
    """A passkey that was just shown, verified and noted."""

    credential: Credential
    is_user_verified: bool
    is_elsewhere: bool  # on another device than the browser's

    @property
    def method(self) -> str:
        return _amr(self.credential.facts)

    @property
    def counts_as_two_factors(self) -> bool:
        """Whether somebody proved that they have it and that they are its owner."""
        return self.is_user_verified and not self.credential.facts.get(store.SET_BY_EMAIL)


def begin_registration(
    context: Context,
    use: CeremonyUse,
    owner: UserEntity,
    held: Iterable[Credential] = (),
    wanted: CreationPreferences = DEFAULT_PREFERENCES,
    **facts: Any,
) -> dict[str, Any]:
    """Return the options of a passkey that is to be made. Raises PasskeyMisconfigured, TooManyRequests."""
    kept = tuple(held)
    spend_ceremony(context)
    refuse_misconfigured(context)
    if len(kept) >= store.MAX_PASSKEYS:
        raise e.PasskeyMisconfigured
    challenge = _issue_challenge(
        context, ContinuationPurpose.PASSKEY_CREATION, use, owner.uid, {"name": owner.name, **facts}
    )
    return options.creation_options(context, challenge, owner, kept, wanted)


def begin_authentication(
    context: Context, use: CeremonyUse, uid: str | None = None, allowed: Iterable[Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """Return the options of a passkey that is to be shown: of one account, or of whoever it is."""
    spend_ceremony(context)
    refuse_misconfigured(context)
    return options.request_options(
        context, _issue_challenge(context, ContinuationPurpose.PASSKEY_REQUEST, use, uid or NO_ACCOUNT, {}), allowed
    )


def verify_registration(
    context: Context, use: CeremonyUse, shown: PresentedCredential, uid: str | None = None
) -> NewPasskey:
    """Return the passkey that a browser made; nothing is written. Raises PasskeyRefused, PasskeyMisconfigured."""
    refuse_misconfigured(context)
    ticket = _find_challenge(context, ContinuationPurpose.PASSKEY_CREATION, use, shown, uid)
    try:
        found = verify_registration_response(
            credential=_for_library(shown),
            expected_challenge=base64url_to_bytes(ticket.text),
            expected_rp_id=webauthn_origins.rp_id(context),
            expected_origin=webauthn_origins.origins(context),
            supported_pub_key_algs=_ALGORITHMS,
        )
    except Exception as reason:  # noqa: BLE001 - a stranger's bytes: whatever the readers of CBOR, ASN.1 and JSON trip over
        raise _refused(context, type(reason).__name__, ticket.uid) from None
    is_long = len(found.credential_id) > _MAX_ID_BYTES or len(found.credential_public_key) > _MAX_KEY_BYTES
    if is_long or base64url_to_bytes(shown.raw_id) != found.credential_id:
        raise _refused(context, "id", ticket.uid)
    facts = {
        "id": store.encode_base64url(found.credential_id),
        "public_key": store.encode_base64url(found.credential_public_key),
        "aaguid": found.aaguid,
        "synced": found.credential_device_type is CredentialDeviceType.MULTI_DEVICE,
        "transports": [one for one in shown.response.transports or [] if one in _TRANSPORTS],
        "identifier": ticket.facts["name"],
    }
    return NewPasskey(ticket, found.credential_id, found.sign_count, facts, found.user_verified)


def add_passkey(context: Context, found: NewPasskey, uid: str, kind: str = store.SIGN_IN, **facts: Any) -> Credential:
    """Keep a passkey and use its challenge up. Of many at once one wins. Raises PasskeyRefused, PasskeyMisconfigured.

    The account is locked first, its credentials and tickets after it, as everybody does.
    """
    accounts.lock(context, uid)
    if len(store.by_account(context, uid)) >= store.MAX_PASSKEYS:
        raise e.PasskeyMisconfigured
    try:
        # Of both kinds together one has the id; whoever comes with it in this moment waits here, and sees who was first.
        continuation_tokens.renew(
            context, ContinuationPurpose.PASSKEY_CREATION, uid, f"id {found.raw_id.hex()}", LIFETIME
        )
        if store.by_raw_id(context, found.raw_id) is not None or not continuation_tokens.spend(context, found.ticket):
            raise _refused(context, "taken", uid)
        return credentials.add(
            context, uid, kind, facts={**found.facts, **facts}, lookup=store.lookup_hash(found.raw_id), is_enrolled=True,
            counter=found.counter,
        )  # fmt: skip
    except (LookupTaken, continuation_tokens.TokenExists):
        raise _refused(context, "taken", uid) from None


def verify_authentication(
    context: Context, use: CeremonyUse, given: PresentedCredential, uid: str | None = None
) -> VerifiedPasskey:
    """Return the passkey that was shown, its use noted and its challenge used up. Of many at once one wins.

    Args:
        uid: whose it must be; None: whoever it is.

    Raises PasskeyRefused, PasskeyMisconfigured. The refusal of a passkey that its account has no longer bears its id as data:
    managers may forget it.
    """
    refuse_misconfigured(context)
    ticket = _find_challenge(context, ContinuationPurpose.PASSKEY_REQUEST, use, given, uid)
    held = _stored_passkey(context, given)
    _refuse_foreign(context, use, ticket, given, held)
    try:
        found = verify_authentication_response(
            credential=_for_library(given),
            expected_challenge=base64url_to_bytes(ticket.text),
            expected_rp_id=webauthn_origins.rp_id(context),
            expected_origin=webauthn_origins.origins(context),
            credential_public_key=store.public_key(held),
            credential_current_sign_count=0,  # watched below, where it is told from a wrong signature
        )
    except Exception as reason:  # noqa: BLE001 - as above
        raise _refused(context, type(reason).__name__, held.uid) from None
    is_synced = found.credential_device_type is CredentialDeviceType.MULTI_DEVICE
    if is_synced != bool(held.facts.get("synced")):
        raise _refused(context, "backup eligibility", held.uid)
    accounts.lock(context, held.uid)
    _record_use(context, held, found.new_sign_count)
    if not continuation_tokens.spend(context, ticket):
        raise _refused(context, "used", held.uid)
    return VerifiedPasskey(held, found.user_verified, given.authenticator_attachment == "cross-platform")


def spend_ceremony(context: Context) -> None:
    """Spend what beginning a ceremony costs an address: each leaves a row for five minutes. Raises TooManyRequests."""
    if most := context.tenant.settings.limits.passkeys_per_minute_per_address:
        context.spend("passkey", Rate(most, 60), context.network)


def spend_lookup(context: Context) -> None:
    """Spend what naming somebody costs an address, before anybody is looked up. Raises TooManyRequests."""
    if most := context.tenant.settings.limits.availability_per_minute_per_address:
        context.spend("passkey_name", Rate(most, 60), context.network)


def _issue_challenge(
    context: Context, kind: ContinuationPurpose, use: CeremonyUse, uid: str, facts: Mapping[str, Any]
) -> str:
    challenge = randomness.token()
    continuation_tokens.issue(context, kind, uid, lifetime=LIFETIME, facts={**facts, "use": use.value}, text=challenge)
    return challenge


def refuse_misconfigured(context: Context) -> None:
    """Raise 1322 where no browser makes passkeys for the tenant's host."""
    if not webauthn_origins.supports_passkeys(context):
        raise e.PasskeyMisconfigured


def _find_challenge(
    context: Context, kind: ContinuationPurpose, use: CeremonyUse, given: PresentedCredential, uid: str | None
) -> ContinuationToken:
    ticket = continuation_tokens.find(context, kind, _client_challenge(given))
    if ticket is None or ticket.is_expired(context.now) or ticket.facts.get("use") != use.value:
        raise _refused(context, "challenge", uid)
    if uid is not None and ticket.uid != uid:
        raise _refused(context, "challenge of another", uid)
    return ticket


def _client_challenge(given: PresentedCredential) -> str | None:
    """Return the challenge that the browser says it answered: a name to look up, proved only by the signature over it."""
    try:
        said = json.loads(base64url_to_bytes(given.response.client_data_json))
        challenge = said["challenge"]
    except Exception:  # noqa: BLE001 - a stranger's bytes
        return None
    return challenge if isinstance(challenge, str) else None


def _stored_passkey(context: Context, given: PresentedCredential) -> Credential:
    try:
        raw_id = base64url_to_bytes(given.raw_id)
    except ValueError:
        raise _refused(context, "id") from None
    held = store.by_raw_id(context, raw_id)
    if held is None:
        refusal = _refused(context, "unknown")
        if _may_report_unknown(context, given):
            refusal.data = {"UnknownPasskey": store.encode_base64url(raw_id)}
        raise refusal
    return held


def _may_report_unknown(context: Context, given: PresentedCredential) -> bool:
    """Return whether its account is there, and had it. Of one that was registered with an address that nobody proved nothing is
    said, and nothing of one that gave way: whether it is there yet would tell whose the address is (decisions/0120)."""
    account = accounts.by_uid(context, options.uid_from_handle(given.response.user_handle) or NO_ACCOUNT)
    return account is not None and not first_verification.is_unproven(context, account, EMAIL)


def _refuse_foreign(
    context: Context, use: CeremonyUse, ticket: ContinuationToken, given: PresentedCredential, held: Credential
) -> None:
    handle = given.response.user_handle
    is_theirs = ticket.uid in (NO_ACCOUNT, held.uid) and (not handle or handle == options.user_handle(held.uid))
    if not is_theirs or (use is CeremonyUse.AUTOFILL and not handle):
        raise _refused(context, "of another account", held.uid)


def _record_use(context: Context, held: Credential, counter: int) -> None:
    """Keep the counter, which only rises: one that goes back says that there is a copy of the key (section 6.1.1)."""
    if counter == held.counter == 0:
        if not credentials.set_values(context, held, used_at=context.now):
            raise _refused(context, "removed", held.uid)
    elif not credentials.advance_counter(context, held, counter):
        context.audit.record("passkey.counter_went_back", uid=held.uid, passkey=held.credential_id)
        raise e.PasskeyRefused


def _refused(context: Context, reason: str, uid: str | None = None) -> e.PasskeyRefused:
    context.audit.record("passkey.refused", uid=None if uid == NO_ACCOUNT else uid, reason=reason)
    return e.PasskeyRefused()


def _amr(facts: Mapping[str, Any]) -> str:
    """Return the `amr` of a key (RFC 8176): one that travels between devices lies in software."""
    return "swk" if facts.get("synced") else "hwk"


def _for_library(given: PresentedCredential) -> dict[str, Any]:
    """Return a credential as the library reads it."""
    told = given.model_dump(by_alias=True, exclude_none=True)
    told["response"].pop("transports", None)
    told.pop("authenticatorAttachment", None)
    return told
