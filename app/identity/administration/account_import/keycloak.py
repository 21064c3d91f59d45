"""Users of a Keycloak realm export (`kc.sh export`): passwords, authenticator apps, identities, roles and organizations."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from app.identity.administration.account_import import json_events
from app.identity.administration.account_import.field_readers import Fields, as_boolean, as_fields, as_integer, as_text
from app.identity.administration.account_import.import_record import ImportDraft, MappedRecord, RecordRefused
from app.identity.administration.account_import.json_events import NotJson
from app.identity.credentials.passwords import imported_hashes
from app.identity.directory.accounts import identifiers

_PROFILE: Final = {"firstName": "first_name", "lastName": "last_name"}
_DIGESTS: Final = {"pbkdf2": "sha1", "pbkdf2-sha256": "sha256", "pbkdf2-sha512": "sha512"}
_ARGON2_VERSIONS: Final = {"1.0": 16, "1.3": 19}
_ITS_OWN: Final = re.compile(r"default-roles-.+|offline_access|uma_authorization")
"""Roles that every realm has and nothing of ours uses."""
_TOTP: Final[dict[str, Any]] = {"subType": "totp", "digits": 6, "period": 30, "algorithm": "HmacSHA1"}


def draft(record: Any, mapped: MappedRecord, members: Mapping[str, list[str]] | None = None) -> ImportDraft:
    """Return the draft of a user; `members` are the names of organizations by username. Raises RecordRefused."""
    fields, draft_account = as_fields("", record), ImportDraft()
    if service := fields.text("serviceAccountClientId"):
        raise RecordRefused(f"expected a person; found the service account of {service}")
    draft_account.put("uid", fields.text("id"))
    _names(draft_account, fields)
    for theirs, ours in _PROFILE.items():
        draft_account.put(ours, fields.text(theirs))
    if fields.boolean("enabled") is False:
        draft_account.keys["is_active"] = False
    draft_account.put("created_at", fields.instant("createdTimestamp"))
    for item in fields.objects("credentials"):
        _credential(draft_account, item)
    draft_account.put("identities", list(_identities(fields, mapped)))
    draft_account.put("roles", _roles(draft_account, fields, mapped))
    groups = (members or {}).get((fields.text("username") or "").lower(), [])
    draft_account.put("organizations", [{"name": name} for name in groups])
    if actions := fields.texts("requiredActions"):
        draft_account.notes.append(f"left out the required actions {', '.join(actions)}")
    return draft_account


def members_of(organizations: Iterable[tuple[str, Any]]) -> dict[str, list[str]]:
    """Return the names of organizations, each given with its place, by the usernames of their members. Raises RecordRefused."""
    members: dict[str, list[str]] = {}
    for name, item in organizations:
        organization = as_fields(name, item)
        for member in organization.objects("members"):
            members.setdefault((member.text("username") or "").lower(), []).append(organization.text("name") or "")
    return members


def _names(draft_account: ImportDraft, fields: Fields) -> None:
    username, email = fields.text("username") or "", fields.text("email")
    if not email and "@" in username:
        email = username
    draft_account.put("email", email)
    if email:
        draft_account.keys["email_verified"] = fields.boolean("emailVerified") or False
    if username and identifiers.normalize_username(username) is not None:
        draft_account.put("username", username)
    elif username and username.lower() != (email or "").lower():
        draft_account.notes.append("left out the username, which isn't 2 to 32 characters without spaces or @")
    attributes = fields.fields("attributes")
    phone = as_text(*attributes.first("phoneNumber"))
    if phone and identifiers.normalize_phone(phone):
        draft_account.keys["phone"] = identifiers.normalize_phone(phone)
        draft_account.keys["phone_verified"] = as_boolean(*attributes.first("phoneNumberVerified")) or False
    elif phone:
        draft_account.notes.append("left out the phone number, which isn't E.164, such as +4930123456")
    draft_account.put("local_language", as_text(*attributes.first("locale")))


def _credential(draft_account: ImportDraft, credential: Fields) -> None:
    kind = credential.text("type")
    secret, data = (_parsed(credential, name) for name in ("secretData", "credentialData"))
    if kind == "password":
        draft_account.put("password_hash", _password(draft_account, secret, data))
        draft_account.put("password_changed_at", credential.instant("createdDate"))
    elif kind == "otp" and "totp_secret" not in draft_account.keys:
        draft_account.put("totp_secret", _totp(draft_account, secret, data))
    else:
        draft_account.notes.append(f"left out the credential {kind}")


def _parsed(credential: Fields, key: str) -> Fields:
    """Return the object in a member, which Keycloak exports as text."""
    name, text = credential.value(key)
    if not isinstance(text, str):
        return as_fields(name, text)
    try:
        return as_fields(name, json_events.parsed(text.encode("utf-8", "surrogatepass")))
    except NotJson:
        raise RecordRefused(f"{name}: expected a JSON object in a text") from None


def _password(draft_account: ImportDraft, secret: Fields, data: Fields) -> str | None:
    algorithm = data.text("algorithm") or ""
    derived, salt = _bytes(secret, "value"), _bytes(secret, "salt")
    iterations, more = data.integer("hashIterations") or 0, data.fields("additionalParameters")
    if algorithm in _DIGESTS:
        return imported_hashes.pbkdf2(_DIGESTS[algorithm], iterations, salt, derived)
    if algorithm == "argon2":
        version = _ARGON2_VERSIONS.get(as_text(*more.first("version")) or "1.3", 0)
        memory, parallelism = (as_integer(*more.first(key)) for key in ("memory", "parallelism"))
        cost = memory or 0, iterations, parallelism or 1
        return imported_hashes.argon2(as_text(*more.first("type")) or "id", version, cost, salt, derived)
    draft_account.notes.append(f"left out the password: {algorithm or 'no algorithm'} isn't a supported format")
    return None


def _totp(draft_account: ImportDraft, secret: Fields, data: Fields) -> str | None:
    """Return the secret in base32; realms before 26 keep the characters that the app was given as base32."""
    stated = {
        "subType": data.text("subType"), "digits": data.integer("digits"), "period": data.integer("period"),
        "algorithm": data.text("algorithm"),
    }  # fmt: skip
    differing = [f"{key} {value}" for key, value in stated.items() if value not in (None, _TOTP[key])]
    if differing:
        draft_account.notes.append(f"left out the authenticator app: {', '.join(differing)} isn't supported")
        return None
    value = secret.text("value") or ""
    if (data.text("secretEncoding") or "").upper() == "BASE32":
        return value
    return base64.b32encode(value.encode()).decode()


def _identities(fields: Fields, mapped: MappedRecord) -> Iterable[dict[str, Any]]:
    for item in fields.objects("federatedIdentities"):
        if name := mapped.connection(item.text("identityProvider") or ""):
            shown = {"name": user} if (user := item.text("userName")) else {}
            yield {"connection": name, "id": item.text("userId") or "", **shown}


def _roles(draft_account: ImportDraft, fields: Fields, mapped: MappedRecord) -> list[str]:
    """Return the realm roles, and client roles as `client:role`; groups have no counterpart."""
    names = [name for name in fields.texts("realmRoles") if not _ITS_OWN.fullmatch(name)]
    clients = fields.fields("clientRoles")
    for client in clients.members:
        names += [f"{client}:{role}" for role in clients.texts(client) if client not in ("account", "broker")]
    groups = fields.texts("groups")
    if left_out := [group for group in groups if group not in mapped.roles]:
        draft_account.notes.append(f"left out the groups {', '.join(left_out)}")
    names += [group for group in groups if group in mapped.roles]
    return sorted({new for name in names if (new := mapped.role(name))})


def _bytes(secret: Fields, key: str) -> bytes:
    text = secret.text(key) or ""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        raise RecordRefused(f"{secret.name(key)}: expected base64") from None
