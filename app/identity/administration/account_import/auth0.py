"""Users of Auth0: the export of password hashes, the users export job, and the schema of its bulk import."""

from __future__ import annotations

from typing import Any, Final

from app.identity.administration.account_import.records import Draft, Mapped, Refused
from app.identity.directory.accounts import identifiers

CONNECTIONS: Final = {
    "google-oauth2": "google", "windowslive": "microsoft", "github": "github", "facebook": "facebook",
    "linkedin": "linkedin", "apple": "apple", "twitter": "twitter",
}  # fmt: skip
"""Connections of Auth0's social providers, and ours."""
_DATABASE: Final = "auth0"
_PROFILE: Final = {"given_name": "first_name", "family_name": "last_name", "nickname": "nick_name"}
_HASHES: Final = frozenset({"bcrypt", "argon2", "pbkdf2", "scrypt"})


def draft(record: Any, mapped: Mapped) -> Draft:
    """Return the draft of a user. Raises Refused."""
    if not isinstance(record, dict):
        raise Refused("expected one JSON object")
    found = Draft()
    _names(found, record)
    found.put("external_id", _subject(record))
    for theirs, ours in _PROFILE.items():
        found.put(ours, record.get(theirs))
    found.put("created_at", _instant(record.get("created_at")))
    if record.get("blocked"):
        found.keys["is_active"] = False
    found.put("password_hash", record.get("passwordHash") or record.get("password_hash") or _custom_hash(found, record))
    found.put("password_changed_at", _instant(record.get("password_set_date") or record.get("last_password_reset")))
    found.put("identities", _identities(record, mapped))
    _factors(found, record.get("mfa_factors"))
    return found


def _names(found: Draft, record: dict[str, Any]) -> None:
    """Put email, phone and username; newer exports have them in `identifiers` alone."""
    listed = {one.get("type"): one for one in record.get("identifiers") or () if isinstance(one, dict)}
    email, phone = listed.get("email", {}), listed.get("phone", listed.get("phone_number", {}))
    found.put("email", record.get("email") or email.get("value"))
    if "email" in found.keys:
        found.keys["email_verified"] = bool(record.get("email_verified", email.get("verified", False)))
    found.put("phone", record.get("phone_number") or phone.get("value"))
    if "phone" in found.keys:
        is_verified = record.get("phone_verified", record.get("phone_number_verified", phone.get("verified", False)))
        found.keys["phone_verified"] = bool(is_verified)
    username = record.get("username") or listed.get("username", {}).get("value")
    if username and identifiers.normalize_username(str(username)) is None:
        found.notes.append("left out the username, which isn't 2 to 32 characters without spaces or @")
    else:
        found.put("username", username)


def _subject(record: dict[str, Any]) -> str | None:
    """Return the `sub` of Auth0's tokens."""
    if isinstance(stated := record.get("user_id") or record.get("Id"), str):
        return stated if "|" in stated else f"{_DATABASE}|{stated}"
    oid = record.get("_id")
    own = record.get("alt_id") or (oid.get("$oid") if isinstance(oid, dict) else oid)
    return f"{_DATABASE}|{own}" if own else None


def _custom_hash(found: Draft, record: dict[str, Any]) -> str | None:
    custom = record.get("custom_password_hash")
    if not isinstance(custom, dict):
        return None
    value = custom.get("hash", {}).get("value") if isinstance(custom.get("hash"), dict) else None
    if custom.get("algorithm") in _HASHES and isinstance(value, str) and value.startswith("$"):
        return value
    found.notes.append(f"left out the password: {custom.get('algorithm')} isn't a supported format")
    return None


def _identities(record: dict[str, Any], mapped: Mapped) -> list[dict[str, Any]]:
    identities = []
    for one in record.get("identities") or ():
        if not isinstance(one, dict) or one.get("provider") == _DATABASE:
            continue
        theirs = str(one.get("connection") or one.get("provider") or "")
        name = mapped.connections.get(theirs, CONNECTIONS.get(theirs, theirs))
        if not name:
            continue
        data = one.get("profileData") if isinstance(one.get("profileData"), dict) else {}
        identity = {"connection": name, "id": str(one.get("user_id") or "")}
        email, shown = (data or {}).get("email") or record.get("email"), (data or {}).get("name") or record.get("name")
        identity |= {key: text for key, text in (("email", email), ("name", shown)) if text}
        identities.append(identity)
    return identities


def _factors(found: Draft, factors: Any) -> None:
    for one in factors if isinstance(factors, list) else ():
        if isinstance(one, dict) and isinstance(totp := one.get("totp"), dict):
            found.put("totp_secret", totp.get("secret"))
        elif isinstance(one, dict):
            found.notes.append(f"left out the second factor {', '.join(one) or 'without a name'}")


def _instant(value: Any) -> Any:
    """Return an instant, which a database export wraps as `{"$date": …}`."""
    return value.get("$date") if isinstance(value, dict) else value
