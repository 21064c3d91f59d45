"""Users of a Keycloak realm export (`kc.sh export`): passwords, authenticator apps, identities, roles and organizations."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from app.identity.administration.account_import.records import Draft, Mapped, Refused
from app.identity.credentials.passwords import imported_hashes
from app.identity.directory.accounts import identifiers

_PROFILE: Final = {"firstName": "first_name", "lastName": "last_name"}
_DIGESTS: Final = {"pbkdf2": "sha1", "pbkdf2-sha256": "sha256", "pbkdf2-sha512": "sha512"}
_ARGON2_VERSIONS: Final = {"1.0": 16, "1.3": 19}
_ITS_OWN: Final = re.compile(r"default-roles-.+|offline_access|uma_authorization")
"""Roles that every realm has and nothing of ours uses."""
_TOTP: Final = {"subType": "totp", "digits": 6, "period": 30, "algorithm": "HmacSHA1"}


def draft(record: Any, mapped: Mapped, members: Mapping[str, list[str]] | None = None) -> Draft:
    """Return the draft of a user; `members` are the names of organizations by username. Raises Refused."""
    if not isinstance(record, dict):
        raise Refused("expected one JSON object")
    if record.get("serviceAccountClientId"):
        raise Refused(f"expected a person; found the service account of {record['serviceAccountClientId']}")
    found = Draft()
    found.put("uid", record.get("id"))
    _names(found, record)
    for theirs, ours in _PROFILE.items():
        found.put(ours, record.get(theirs))
    if record.get("enabled") is False:
        found.keys["is_active"] = False
    found.put("created_at", _instant(record.get("createdTimestamp")))
    for one in record.get("credentials") or ():
        _credential(found, one)
    found.put("identities", list(_identities(record, mapped)))
    found.put("roles", _roles(found, record, mapped))
    groups = (members or {}).get(str(record.get("username") or "").lower(), [])
    found.put("organizations", [{"name": name} for name in groups])
    if record.get("requiredActions"):
        found.notes.append(f"left out the required actions {', '.join(map(str, record['requiredActions']))}")
    return found


def members_of(organizations: Iterable[Any]) -> dict[str, list[str]]:
    """Return the names of organizations by the usernames of their members."""
    found: dict[str, list[str]] = {}
    for one in organizations:
        for member in one.get("members") or ():
            found.setdefault(str(member.get("username") or "").lower(), []).append(str(one.get("name") or ""))
    return found


def _names(found: Draft, record: dict[str, Any]) -> None:
    username, email = str(record.get("username") or ""), record.get("email")
    if not email and "@" in username:
        email = username
    found.put("email", email)
    if email:
        found.keys["email_verified"] = bool(record.get("emailVerified"))
    if username and identifiers.normalize_username(username) is not None:
        found.put("username", username)
    elif username and username.lower() != str(email or "").lower():
        found.notes.append("left out the username, which isn't 2 to 32 characters without spaces or @")
    attributes = record.get("attributes") or {}
    phone = _first(attributes.get("phoneNumber"))
    if phone and identifiers.normalize_phone(phone):
        found.keys |= {"phone": identifiers.normalize_phone(phone)}
        found.keys["phone_verified"] = _first(attributes.get("phoneNumberVerified")) == "true"
    found.put("local_language", _first(attributes.get("locale")))


def _credential(found: Draft, credential: Any) -> None:
    kind = credential.get("type")
    secret, data = (json.loads(credential.get(name) or "{}") for name in ("secretData", "credentialData"))
    if kind == "password":
        found.put("password_hash", _password(found, secret, data))
        found.put("password_changed_at", _instant(credential.get("createdDate")))
    elif kind == "otp" and "totp_secret" not in found.keys:
        found.put("totp_secret", _totp(found, secret, data))
    else:
        found.notes.append(f"left out the credential {kind}")


def _password(found: Draft, secret: dict[str, Any], data: dict[str, Any]) -> str | None:
    algorithm = str(data.get("algorithm") or "")
    derived, salt = _bytes(secret.get("value")), _bytes(secret.get("salt"))
    iterations, more = int(data.get("hashIterations") or 0), data.get("additionalParameters") or {}
    if algorithm in _DIGESTS:
        return imported_hashes.pbkdf2(_DIGESTS[algorithm], iterations, salt, derived)
    if algorithm == "argon2":
        version = _ARGON2_VERSIONS.get(_first(more.get("version")) or "1.3", 0)
        cost = int(_first(more.get("memory")) or 0), iterations, int(_first(more.get("parallelism")) or 1)
        return imported_hashes.argon2(_first(more.get("type")) or "id", version, cost, salt, derived)
    found.notes.append(f"left out the password: {algorithm or 'no algorithm'} isn't a supported format")
    return None


def _totp(found: Draft, secret: dict[str, Any], data: dict[str, Any]) -> str | None:
    """Return the secret in base32; realms before 26 keep the characters that the app was given as base32."""
    differing = [f"{key} {data.get(key)}" for key, value in _TOTP.items() if data.get(key, value) != value]
    if differing:
        found.notes.append(f"left out the authenticator app: {', '.join(differing)} isn't supported")
        return None
    value = str(secret.get("value") or "")
    if str(data.get("secretEncoding") or "").upper() == "BASE32":
        return value.rstrip("=")
    return base64.b32encode(value.encode()).decode().rstrip("=")


def _identities(record: dict[str, Any], mapped: Mapped) -> Iterable[dict[str, Any]]:
    for one in record.get("federatedIdentities") or ():
        if name := mapped.connection(str(one.get("identityProvider") or "")):
            shown = {"name": one["userName"]} if one.get("userName") else {}
            yield {"connection": name, "id": str(one.get("userId") or ""), **shown}


def _roles(found: Draft, record: dict[str, Any], mapped: Mapped) -> list[str]:
    """Return the realm roles, and client roles as `client:role`; groups have no counterpart."""
    names = [name for name in record.get("realmRoles") or () if not _ITS_OWN.fullmatch(name)]
    for client, roles in (record.get("clientRoles") or {}).items():
        names += [f"{client}:{role}" for role in roles if client not in ("account", "broker")]
    groups = [group for group in record.get("groups") or () if group not in mapped.roles]
    if groups:
        found.notes.append(f"left out the groups {', '.join(groups)}")
    names += [group for group in record.get("groups") or () if group in mapped.roles]
    return sorted({new for name in names if (new := mapped.role(name))})


def _bytes(text: Any) -> bytes:
    padded = str(text or "")
    try:
        return base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True)
    except ValueError:
        raise Refused("expected base64 in secretData") from None


def _first(value: Any) -> str | None:
    """Return the only value of an attribute, which exports as a list."""
    found = value[0] if isinstance(value, list) and value else value
    return str(found) if isinstance(found, str | int) else None


def _instant(milliseconds: Any) -> datetime | None:
    return datetime.fromtimestamp(milliseconds / 1000, UTC) if isinstance(milliseconds, int | float) else None
