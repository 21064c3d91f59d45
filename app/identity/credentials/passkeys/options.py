"""What a browser is told before it makes or shows a passkey (interface mfa.md section 6.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from webauthn.helpers import base64url_to_bytes

from app.identity.credentials.passkeys import store
from app.identity.credentials.store import Credential
from app.identity.directory.accounts import identifiers
from app.identity.directory.tenants import webauthn_origins
from app.identity.platform.context import Context

ALGORITHMS: Final = (-7, -257)  # ES256, RS256: what the library verifies, so ES384 is not asked for (decisions/0120)
TIMEOUT_MS: Final = 60_000
LIFETIME_MINUTES: Final = 5


@dataclass(frozen=True)
class CreationPreferences:
    """How a passkey is wanted."""

    residency: str = "preferred"  # `residentKey`: whether it is found without its owner's name
    attachment: str | None = None  # `platform`: of this very device
    hints: tuple[str, ...] = ()


DEFAULT_PREFERENCES: Final = CreationPreferences()
DISCOVERABLE: Final = CreationPreferences(residency="required")
"""On our pages nobody is asked for a name first."""
DISCOVERABLE_ON_THIS_DEVICE: Final = CreationPreferences("required", "platform", ("client-device",))


@dataclass(frozen=True)
class UserEntity:
    """Whose passkey it will be."""

    uid: str
    name: str
    shown_name: str = ""


def creation_options(
    context: Context,
    challenge: str,
    owner: UserEntity,
    held: Iterable[Credential] = (),
    wanted: CreationPreferences = DEFAULT_PREFERENCES,
) -> dict[str, Any]:
    """Return the options of `navigator.credentials.create`."""
    selection = {
        "requireResidentKey": wanted.residency == "required",
        "residentKey": wanted.residency,
        "userVerification": "preferred",
        **({"authenticatorAttachment": wanted.attachment} if wanted.attachment else {}),
    }
    return {
        "rp": {"id": webauthn_origins.rp_id(context), "name": webauthn_origins.rp_name(context)},
        "user": {"id": user_handle(owner.uid), "name": owner.name, "displayName": owner.shown_name or owner.name},
        "challenge": challenge,
        "pubKeyCredParams": [{"type": "public-key", "alg": number} for number in ALGORITHMS],
        "timeout": TIMEOUT_MS,
        "excludeCredentials": [store.descriptor(one) for one in held],
        "authenticatorSelection": selection,
        "attestation": "none",
        "hints": list(wanted.hints),
        "extensions": {"credProps": True},
    }


def request_options(context: Context, challenge: str, allowed: Iterable[Mapping[str, Any]] | None) -> dict[str, Any]:
    """Return the options of `navigator.credentials.get`; without `allowed` the browser offers what it has."""
    told: dict[str, Any] = {"challenge": challenge, "rpId": webauthn_origins.rp_id(context), "timeout": TIMEOUT_MS}
    if allowed is not None:
        told["allowCredentials"] = [dict(one) for one in allowed]
    return {**told, "userVerification": "preferred", "extensions": {}}


def user_handle(uid: str) -> str:
    """Return the user handle of an account."""
    return store.encode_base64url(uid.encode())


def uid_from_handle(handle: str | None) -> str | None:
    """Return the account that a user handle names; None where it cannot name any."""
    try:
        uid = base64url_to_bytes(handle or "").decode()
    except ValueError:
        return None
    return uid if identifiers.is_well_formed_uid(uid) else None
