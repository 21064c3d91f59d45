"""Users of Auth0: the export of password hashes, the users export job, and the schema of its bulk import."""

from __future__ import annotations

from typing import Any, Final

from app.identity.administration.account_import.field_readers import Fields, as_fields
from app.identity.administration.account_import.import_record import ImportDraft, MappedRecord
from app.identity.directory.accounts import identifiers

CONNECTIONS: Final = {
    "google-oauth2": "google", "windowslive": "microsoft", "github": "github", "facebook": "facebook",
    "linkedin": "linkedin", "apple": "apple", "twitter": "twitter",
}  # fmt: skip
"""Connections of Auth0's social providers, and ours."""
_DATABASE: Final = "auth0"
_PROFILE: Final = {"given_name": "first_name", "family_name": "last_name", "nickname": "nick_name"}
_HASHES: Final = frozenset({"bcrypt", "argon2", "pbkdf2", "scrypt"})


def draft(record: Any, mapped: MappedRecord) -> ImportDraft:
    """Return the draft of a user. Raises RecordRefused."""
    fields, draft_account = as_fields("", record), ImportDraft()
    _names(draft_account, fields)
    draft_account.put("external_id", _subject(fields))
    for theirs, ours in _PROFILE.items():
        draft_account.put(ours, fields.text(theirs))
    draft_account.put("created_at", fields.instant("created_at"))
    if fields.boolean("blocked"):
        draft_account.keys["is_active"] = False
    draft_account.put(
        "password_hash", fields.text("passwordHash", "password_hash") or _custom_hash(draft_account, fields)
    )
    draft_account.put("password_changed_at", fields.instant("password_set_date", "last_password_reset"))
    draft_account.put("identities", _identities(fields, mapped))
    _factors(draft_account, fields)
    return draft_account


def _names(draft_account: ImportDraft, fields: Fields) -> None:
    """Put email, phone and username; newer exports have them in `identifiers` alone."""
    listed = {item.text("type"): item for item in fields.objects("identifiers")}
    none = Fields({})
    email, phone = listed.get("email", none), listed.get("phone", listed.get("phone_number", none))
    draft_account.put("email", fields.text("email") or email.text("value"))
    if "email" in draft_account.keys:
        draft_account.keys["email_verified"] = _first_known(fields.boolean("email_verified"), email.boolean("verified"))
    draft_account.put("phone", fields.text("phone_number") or phone.text("value"))
    if "phone" in draft_account.keys:
        stated = fields.boolean("phone_verified", "phone_number_verified")
        draft_account.keys["phone_verified"] = _first_known(stated, phone.boolean("verified"))
    username = fields.text("username") or listed.get("username", none).text("value")
    if username and identifiers.normalize_username(username) is None:
        draft_account.notes.append("left out the username, which isn't 2 to 32 characters without spaces or @")
    else:
        draft_account.put("username", username)


def _first_known(*values: bool | None) -> bool:
    return next((value for value in values if value is not None), False)


def _subject(fields: Fields) -> str | None:
    """Return the `sub` of Auth0's tokens."""
    if stated := fields.text("user_id", "Id"):
        return stated if "|" in stated else f"{_DATABASE}|{stated}"
    own = fields.text("alt_id", "_id")
    return f"{_DATABASE}|{own}" if own else None


def _custom_hash(draft_account: ImportDraft, fields: Fields) -> str | None:
    custom = fields.fields("custom_password_hash")
    if not custom.members:
        return None
    algorithm, value = custom.text("algorithm"), custom.fields("hash").text("value")
    if algorithm in _HASHES and value and value.startswith("$"):
        return value
    draft_account.notes.append(f"left out the password: {algorithm} isn't a supported format")
    return None


def _identities(fields: Fields, mapped: MappedRecord) -> list[dict[str, Any]]:
    identities = []
    for item in fields.objects("identities"):
        if item.text("provider") == _DATABASE:
            continue
        theirs = item.text("connection", "provider") or ""
        name = mapped.connections.get(theirs, CONNECTIONS.get(theirs, theirs))
        if not name:
            continue
        shown = item.fields("profileData")
        identity = {"connection": name, "id": item.text("user_id") or ""}
        for key in ("email", "name"):
            if text := shown.text(key) or fields.text(key):
                identity[key] = text
        identities.append(identity)
    return identities


def _factors(draft_account: ImportDraft, fields: Fields) -> None:
    for item in fields.objects("mfa_factors"):
        if "totp" in item.members:
            draft_account.put("totp_secret", item.fields("totp").text("secret"))
        else:
            draft_account.notes.append(f"left out the second factor {', '.join(item.members) or 'without a name'}")
