"""The two ceremonies of WebAuthn: registration (level 3 section 7.1) and authentication (section 7.2).

A challenge is a continuation token: valid for five minutes, for one account and one use, and spent by the credential that
responds to it. Nothing that a browser sends is trusted before the library has verified it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from app.contract import errors
from app.contract.passkeys.models import PresentedCredential
from app.identity.credentials import credential_store
from app.identity.credentials.credential_store import Credential, LookupTaken
from app.identity.credentials.passkeys import options, passkey_store
from app.identity.credentials.passkeys.options import DEFAULT_PREFERENCES, CreationPreferences, UserEntity
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.identifiers import EMAIL
from app.identity.directory.accounts.unverified import first_verification
from app.identity.directory.tenants.urls import webauthn_origins
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.kit import randomness

LIFETIME: Final = timedelta(minutes=options.LIFETIME_MINUTES)
_MAX_ID_BYTES: Final = 1_023  # WebAuthn section 4: Credential ID
_MAX_KEY_BYTES: Final = 2_000
_TRANSPORTS: Final = frozenset({"usb", "nfc", "ble", "smart-card", "hybrid", "internal"})


class CeremonyUse(StrEnum):
    """What a ceremony is for. A challenge of one use is invalid for every other."""

    SIGN_UP = "sign_up"
    ADD = "add"
    RESET = "reset"
    FACTOR = "factor"
    SIGN_IN = "sign_in"
    AUTOFILL = "autofill"


@dataclass(frozen=True)
class NewPasskey:
    """A verified new passkey, not stored yet."""

    challenge_token: ContinuationToken
    raw_id: bytes
    counter: int
    facts: dict[str, Any]
    is_user_verified: bool = False

    @property
    def method(self) -> str:
        return amr_of(self.facts)


@dataclass(frozen=True)
class VerifiedPasskey:
    """A stored passkey, just verified, its use recorded."""

    credential: Credential
    is_user_verified: bool
    is_elsewhere: bool  # on a device other than the browser's

    @property
    def method(self) -> str:
        return amr_of(self.credential.facts)

    @property
    def counts_as_two_factors(self) -> bool:
        """Whether it counts as two factors: possession and user verification."""
        return self.is_user_verified and not passkey_store.is_set_by_email(self.credential)


def begin_registration(
    context: Context,
    use: CeremonyUse,
    entity: UserEntity,
    passkeys: Iterable[Credential] = (),
    preferences: CreationPreferences = DEFAULT_PREFERENCES,
    **facts: Any,
) -> dict[str, Any]:
    """Return the options of a new passkey. Raises PasskeyMisconfigured, TooManyPasskeys, TooManyRequests."""
    existing = tuple(passkeys)
    count_ceremony(context)
    refuse_misconfigured(context)
    if len(existing) >= passkey_store.MAX_PASSKEYS:
        raise errors.TooManyPasskeys
    challenge = _issue_challenge(
        context, ContinuationPurpose.PASSKEY_CREATION, use, entity.uid, {"name": entity.name, **facts}
    )
    return options.creation_options(context, challenge, entity, existing, preferences)


def begin_authentication(
    context: Context, use: CeremonyUse, uid: str | None = None, allowed: Iterable[Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """Return the options of an authentication: of one account, or with a discoverable passkey of any."""
    count_ceremony(context)
    refuse_misconfigured(context)
    return options.request_options(
        context, _issue_challenge(context, ContinuationPurpose.PASSKEY_REQUEST, use, uid or NO_ACCOUNT, {}), allowed
    )


def verify_registration(
    context: Context, use: CeremonyUse, credential: PresentedCredential, uid: str | None = None
) -> NewPasskey:
    """Verify a new passkey. Writes nothing. Raises PasskeyRefused, PasskeyMisconfigured."""
    from webauthn import verify_registration_response
    from webauthn.helpers.cose import COSEAlgorithmIdentifier
    from webauthn.helpers.structs import CredentialDeviceType

    refuse_misconfigured(context)
    challenge_token = _find_challenge(context, ContinuationPurpose.PASSKEY_CREATION, use, credential, uid)
    try:
        verified = verify_registration_response(
            credential=_for_library(credential),
            expected_challenge=passkey_store.decode_base64url(challenge_token.text),
            expected_rp_id=webauthn_origins.rp_id(context),
            expected_origin=webauthn_origins.origins(context),
            supported_pub_key_algs=[COSEAlgorithmIdentifier(number) for number in options.ALGORITHMS],
        )
    except Exception as reason:  # noqa: BLE001 - untrusted bytes: any error of the CBOR, ASN.1 and JSON parsers
        raise _refused(context, type(reason).__name__, challenge_token.uid) from None
    is_long = len(verified.credential_id) > _MAX_ID_BYTES or len(verified.credential_public_key) > _MAX_KEY_BYTES
    if is_long or passkey_store.decode_base64url(credential.raw_id) != verified.credential_id:
        raise _refused(context, "id", challenge_token.uid)
    facts = {
        "id": passkey_store.encode_base64url(verified.credential_id),
        "public_key": passkey_store.encode_base64url(verified.credential_public_key),
        "aaguid": verified.aaguid,
        "synced": verified.credential_device_type is CredentialDeviceType.MULTI_DEVICE,
        "transports": [transport for transport in credential.response.transports or [] if transport in _TRANSPORTS],
        "identifier": challenge_token.facts["name"],
    }
    return NewPasskey(challenge_token, verified.credential_id, verified.sign_count, facts, verified.user_verified)


def add_passkey(
    context: Context, passkey: NewPasskey, uid: str, kind: str = passkey_store.SIGN_IN, **facts: Any
) -> Credential:
    """Store a passkey and spend its challenge. Only one of several concurrent calls succeeds. Raises PasskeyRefused, TooManyPasskeys.

    Lock order: the account, then its credentials and continuation tokens.
    """
    account_store.lock_unread(context, uid)
    if len(passkey_store.by_account(context, uid)) >= passkey_store.MAX_PASSKEYS:
        raise errors.TooManyPasskeys
    try:
        # The id must be unique across both kinds: a concurrent call with the same id waits here, and then sees the first.
        continuation_tokens.renew(
            context, ContinuationPurpose.PASSKEY_CREATION, uid, f"id {passkey.raw_id.hex()}", LIFETIME
        )
        if passkey_store.by_raw_id(context, passkey.raw_id) is not None or not continuation_tokens.spend(
            context, passkey.challenge_token
        ):
            raise _refused(context, "taken", uid)
        return credential_store.add(
            context, uid, kind, facts={**passkey.facts, **facts}, lookup=passkey_store.lookup_hash(passkey.raw_id), is_enrolled=True,
            counter=passkey.counter,
        )  # fmt: skip
    except (LookupTaken, continuation_tokens.TokenExists):
        raise _refused(context, "taken", uid) from None


def verify_authentication(
    context: Context, use: CeremonyUse, credential: PresentedCredential, uid: str | None = None
) -> VerifiedPasskey:
    """Verify a passkey, record its use and spend its challenge. Only one of several concurrent calls succeeds.

    Args:
        uid: the account that must own it; None for any account.

    Raises PasskeyRefused, PasskeyMisconfigured. PasskeyRefused for a passkey that its account has removed carries the passkey's
    id as data, so that password managers can delete it.
    """
    from webauthn import verify_authentication_response
    from webauthn.helpers.structs import CredentialDeviceType

    refuse_misconfigured(context)
    challenge_token = _find_challenge(context, ContinuationPurpose.PASSKEY_REQUEST, use, credential, uid)
    passkey = _stored_passkey(context, credential)
    _refuse_foreign(context, use, challenge_token, credential, passkey)
    try:
        verified = verify_authentication_response(
            credential=_for_library(credential),
            expected_challenge=passkey_store.decode_base64url(challenge_token.text),
            expected_rp_id=webauthn_origins.rp_id(context),
            expected_origin=webauthn_origins.origins(context),
            credential_public_key=passkey_store.public_key(passkey),
            credential_current_sign_count=0,  # checked below, to tell it from a wrong signature
        )
    except Exception as reason:  # noqa: BLE001 - as above
        raise _refused(context, type(reason).__name__, passkey.uid) from None
    is_synced = verified.credential_device_type is CredentialDeviceType.MULTI_DEVICE
    if is_synced != bool(passkey.facts.get("synced")):
        raise _refused(context, "backup eligibility", passkey.uid)
    account_store.lock_unread(context, passkey.uid)
    _record_use(context, passkey, verified.new_sign_count)
    if not continuation_tokens.spend(context, challenge_token):
        raise _refused(context, "used", passkey.uid)
    context.give_back("passkey", context.tenant.settings.limits.passkeys_per_minute_per_address)
    return VerifiedPasskey(passkey, verified.user_verified, credential.authenticator_attachment == "cross-platform")


def count_ceremony(context: Context) -> None:
    """Count a ceremony against its address's limit, because each stores a row for five minutes. Raises TooManyRequests."""
    context.count_request("passkey", context.tenant.settings.limits.passkeys_per_minute_per_address)


def count_lookup(context: Context) -> None:
    """Count a look-up of an identifier against its address's limit, before the look-up. Raises TooManyRequests."""
    context.count_request("passkey_name", context.tenant.settings.limits.availability_per_minute_per_address)


def _issue_challenge(
    context: Context, purpose: ContinuationPurpose, use: CeremonyUse, uid: str, facts: Mapping[str, Any]
) -> str:
    challenge = randomness.token()
    continuation_tokens.issue(
        context, purpose, uid, lifetime=LIFETIME, facts={**facts, "use": use.value}, text=challenge
    )
    return challenge


def refuse_misconfigured(context: Context) -> None:
    """Raise PasskeyMisconfigured if browsers create no passkeys for the tenant's host."""
    if not webauthn_origins.supports_passkeys(context):
        raise errors.PasskeyMisconfigured


def _find_challenge(
    context: Context, purpose: ContinuationPurpose, use: CeremonyUse, credential: PresentedCredential, uid: str | None
) -> ContinuationToken:
    challenge_token = continuation_tokens.find(context, purpose, _client_challenge(credential))
    if (
        challenge_token is None
        or challenge_token.is_expired(context.now)
        or challenge_token.facts.get("use") != use.value
    ):
        raise _refused(context, "challenge", uid)
    if uid is not None and challenge_token.uid != uid:
        raise _refused(context, "challenge of another", uid)
    return challenge_token


def _client_challenge(credential: PresentedCredential) -> str | None:
    """Return the challenge of the client data. It is untrusted until the signature is verified."""
    try:
        client_data = json.loads(passkey_store.decode_base64url(credential.response.client_data_json))
        challenge = client_data["challenge"]
    except Exception:  # noqa: BLE001 - untrusted bytes
        return None
    return challenge if isinstance(challenge, str) else None


def _stored_passkey(context: Context, credential: PresentedCredential) -> Credential:
    try:
        raw_id = passkey_store.decode_base64url(credential.raw_id)
    except ValueError:
        raise _refused(context, "id") from None
    passkey = passkey_store.by_raw_id(context, raw_id)
    if passkey is None:
        refusal = _refused(context, "unknown")
        if _may_report_unknown(context, credential):
            refusal.data = {"UnknownPasskey": passkey_store.encode_base64url(raw_id)}
        raise refusal
    return passkey


def _may_report_unknown(context: Context, credential: PresentedCredential) -> bool:
    """Return whether the response may say that the account has no such passkey: only for an existing account with a verified
    address. Otherwise it would reveal whose the address is (decision 0120)."""
    account = account_store.by_uid(context, _uid_of(context, credential) or NO_ACCOUNT)
    return account is not None and not first_verification.is_unverified(context, account, EMAIL)


def _uid_of(context: Context, credential: PresentedCredential) -> str | None:
    """Return the account of the user handle. A passkey keeps the handle of the id that the account had when it was created."""
    uid = options.uid_from_handle(credential.response.user_handle)
    return (account_store.current_uid(context, uid) or uid) if uid else None


def _refuse_foreign(
    context: Context,
    use: CeremonyUse,
    challenge_token: ContinuationToken,
    credential: PresentedCredential,
    passkey: Credential,
) -> None:
    handle = credential.response.user_handle
    is_own = challenge_token.uid in (NO_ACCOUNT, passkey.uid) and (
        not handle or handle == options.user_handle(passkey.uid) or _uid_of(context, credential) == passkey.uid
    )
    if not is_own or (use is CeremonyUse.AUTOFILL and not handle):
        raise _refused(context, "of another account", passkey.uid)


def _record_use(context: Context, passkey: Credential, counter: int) -> None:
    """Store the signature counter. A lower one means that the key was copied (section 6.1.1).

    A synced key has many copies, whose counters may differ: there it is only a signal (decision 0347).
    """
    if counter != 0 or passkey.counter != 0:
        if credential_store.advance_counter(context, passkey, counter):
            return
        context.audit.record("passkey.counter_went_back", uid=passkey.uid, passkey=passkey.credential_id)
        if not passkey.facts.get("synced"):
            raise errors.PasskeyRefused
    if not credential_store.set_values(context, passkey, used_at=context.now):
        raise _refused(context, "removed", passkey.uid)


def _refused(context: Context, reason: str, uid: str | None = None) -> errors.PasskeyRefused:
    context.audit.record("passkey.refused", uid=None if uid == NO_ACCOUNT else uid, reason=reason)
    return errors.PasskeyRefused()


def amr_of(facts: Mapping[str, Any]) -> str:
    """Return the `amr` of a key (RFC 8176): a synced key is in software."""
    return "swk" if facts.get("synced") else "hwk"


def _for_library(credential: PresentedCredential) -> dict[str, Any]:
    """Return a credential in the form that the library parses."""
    fields = credential.model_dump(by_alias=True, exclude_none=True)
    fields["response"].pop("transports", None)
    fields.pop("authenticatorAttachment", None)
    return fields
