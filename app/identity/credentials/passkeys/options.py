"""The WebAuthn options of a registration and of an authentication."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.identity.credentials.credential_store import Credential
from app.identity.credentials.passkeys import passkey_store
from app.identity.directory.accounts import identifiers
from app.identity.directory.tenants.urls import webauthn_origins
from app.identity.platform.context import Context

ALGORITHMS: Final = (-7, -257)  # ES256, RS256: the library verifies no ES384 (decision 0120)
TIMEOUT_MS: Final = 60_000
LIFETIME_MINUTES: Final = 5


@dataclass(frozen=True)
class CreationPreferences:
    """The authenticator selection of a new passkey."""

    residency: str = "preferred"  # `residentKey`: whether it is discoverable
    attachment: str | None = None  # `platform`: on this device
    hints: tuple[str, ...] = ()


DEFAULT_PREFERENCES: Final = CreationPreferences()
DISCOVERABLE: Final = CreationPreferences(residency="required")
"""For sign-ins without an identifier on the hosted pages."""
DISCOVERABLE_ON_THIS_DEVICE: Final = CreationPreferences("required", "platform", ("client-device",))


@dataclass(frozen=True)
class UserEntity:
    """The WebAuthn user entity: the account of a new passkey."""

    uid: str
    name: str
    display_name: str = ""


def creation_options(
    context: Context,
    challenge: str,
    entity: UserEntity,
    existing: Iterable[Credential] = (),
    preferences: CreationPreferences = DEFAULT_PREFERENCES,
) -> dict[str, Any]:
    """Return the options of `navigator.credentials.create`."""
    selection = {
        "requireResidentKey": preferences.residency == "required",
        "residentKey": preferences.residency,
        "userVerification": "preferred",
        **({"authenticatorAttachment": preferences.attachment} if preferences.attachment else {}),
    }
    return {
        "rp": {"id": webauthn_origins.rp_id(context), "name": webauthn_origins.rp_name(context)},
        "user": {"id": user_handle(entity.uid), "name": entity.name, "displayName": entity.display_name or entity.name},
        "challenge": challenge,
        "pubKeyCredParams": [{"type": "public-key", "alg": number} for number in ALGORITHMS],
        "timeout": TIMEOUT_MS,
        "excludeCredentials": [passkey_store.descriptor(item) for item in existing],
        "authenticatorSelection": selection,
        "attestation": "none",
        "hints": list(preferences.hints),
        "extensions": {"credProps": True},
    }


def request_options(context: Context, challenge: str, allowed: Iterable[Mapping[str, Any]] | None) -> dict[str, Any]:
    """Return the options of `navigator.credentials.get`; without `allowed` the browser offers its discoverable passkeys."""
    options: dict[str, Any] = {"challenge": challenge, "rpId": webauthn_origins.rp_id(context), "timeout": TIMEOUT_MS}
    if allowed is not None:
        options["allowCredentials"] = [dict(item) for item in allowed]
    return {**options, "userVerification": "preferred", "extensions": {}}


def user_handle(uid: str) -> str:
    """Return the user handle of an account."""
    return passkey_store.encode_base64url(uid.encode())


def uid_from_handle(handle: str | None) -> str | None:
    """Return the uid of a user handle, or None if it has not the form of one."""
    try:
        uid = passkey_store.decode_base64url(handle or "").decode()
    except ValueError:
        return None
    return uid if identifiers.is_well_formed_uid(uid) else None
