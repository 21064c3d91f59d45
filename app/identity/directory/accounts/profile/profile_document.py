"""Builds the interface's profile of an account."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from app.contract.applications.claims_mapping import CUSTOM
from app.contract.profile import FIELDS
from app.identity.directory.accounts import account_consents, linked_identities
from app.identity.directory.accounts.account import Account, full_name
from app.identity.directory.accounts.email_list import EmailAddress
from app.kit.clock import iso

MASK = "********"
_EMAIL = "Email"
BIRTH_DATE = re.compile(r"([0-9]{1,2})([-/])([0-9]{1,2})\2([0-9]{4})\Z")
_ABSENT = {name: field.absent for name, field in FIELDS.items()}


def profile_of(account: Account) -> dict[str, Any]:
    """Return the complete profile with the interface's field names."""
    profile = {**_ABSENT, **account.profile}
    profile.update(_bookkeeping(account))
    profile.update(_identifiers(account))
    profile.update(_computed(account))
    return profile


def claimable_of(account: Account) -> dict[str, Any]:
    """Return the part of the profile that claims of OpenID Connect are made from: a tenth of the work, and no statement.

    What the account does not have is absent.
    """
    profile = dict(account.profile)
    profile.update(_identifiers(account))
    profile["FullName"] = full_name(account)
    profile["CreatedDate"] = iso(account.created_at)
    profile["ProfileModifiedDate"] = iso(account.profile_modified_at)
    return profile


def entered_of(account: Account) -> dict[str, Any]:
    """Return the part of the profile that the account pages show: the values that its owner entered; absent members have no value."""
    profile = dict(account.profile)
    profile.update(_identifiers(account))
    profile["PIN"] = _pin(account.pin)
    return profile


def field_of(profile: Mapping[str, Any], name: str) -> Any:
    """Return the value of a field of a profile: `Email` is the first address, `CustomFields.NAME` a custom field."""
    if name == _EMAIL:
        emails = profile.get(_EMAIL) or []
        return emails[0].get("Value") if emails else None
    if name.startswith(CUSTOM):
        return (profile.get("CustomFields") or {}).get(name.removeprefix(CUSTOM))
    return profile.get(name)


def verified_field_of(account: Account, profile: Mapping[str, Any], name: str) -> Any:
    """Return the value of a field for a JWT or an assertion: an address or a number only if it is verified."""
    if name == _EMAIL:
        return account.email if account.email_verified else None
    if name == "PhoneId":
        return account.phone if account.phone_verified else None
    return profile.get(name)


def _bookkeeping(account: Account) -> dict[str, Any]:
    created = iso(account.created_at)
    return {
        "ID": account.profile_id,
        "Uid": account.uid,
        "Password": MASK if account.password_hash else None,
        "Provider": linked_identities.provider_name(account),
        "RegistrationProvider": account.private.get(linked_identities.REGISTERED_BY) or linked_identities.OWN_PROVIDER,
        "Identities": linked_identities.profile_entries(account),
        "IsActive": account.is_active,
        "IsDeleted": account.is_deleted,
        "IsLoginLocked": account.is_locked_now,
        "LoginLockedType": account.lock_type if account.is_locked_now else "None",
        "NoOfLogins": account.logins,
        "SessionLimit": account.sessions_allowed,
        "Roles": list(account.roles) if account.roles else None,
        "CreatedDate": created,
        "SignupDate": created,
        "ModifiedDate": iso(account.modified_at),
        "ProfileModifiedDate": iso(account.profile_modified_at),
        "LastLoginDate": iso(account.last_login_at),
        "LastPasswordChangeDate": iso(account.password_changed_at),
        "PasswordExpirationDate": iso(account.password_expires_at),
        "IsSecurePassword": bool(account.private.get("is_secure_password")),
        "IsPasswordBreached": bool(account.private.get("is_password_breached")),
        "IsCustomUid": bool(account.private.get("is_custom_uid")),
        "PreviousUids": account.private.get("previous_uids"),
        "PrivacyPolicy": account.private.get("privacy_policy"),
        "PIN": _pin(account.pin),
        "ConsentProfile": account_consents.profile(account_consents.of_account(account)),
    }


def _pin(entry: dict[str, Any]) -> dict[str, Any] | None:
    if not entry:
        return None
    return {
        "PIN": MASK if entry.get("sealed") else None,
        "Skipped": bool(entry.get("skipped_at")),
        "LastPINChangeToken": None,
        "LastPINChangeDate": entry.get("changed_at"),
        "SkippedDate": entry.get("skipped_at"),
    }


def _identifiers(account: Account) -> dict[str, Any]:
    pending = [_address(item) for item in account.email_list.pending]
    return {
        "UserName": account.username,
        "PhoneId": account.phone,
        "PhoneIdVerified": account.phone_verified,
        "Email": [_address(item) for item in account.email_list.present],
        "UnverifiedEmail": pending or None,
        "EmailVerified": account.email_verified,
    }


def _address(item: EmailAddress) -> dict[str, Any]:
    return {"Type": item.type, "Value": item.value}


def _computed(account: Account) -> dict[str, Any]:
    profile: dict[str, Any] = {"FullName": full_name(account)}
    organizations = account.organizations()
    if organizations.entries:
        profile["Organizations"] = organizations.entries
    if organizations.password_days and account.password_changed_at is not None:
        expires_at = account.password_changed_at + timedelta(days=organizations.password_days)
        profile["PasswordExpirationDate"] = iso(min(expires_at, account.password_expires_at or expires_at))
    born = parse_birth_date(account.profile.get("BirthDate"))
    if born is not None:
        profile["Age"] = str(age(born, account.read_at.date()))
    country = account.profile.get("Country")
    if country is not None:
        profile["ProfileCountry"] = country["Name"]
    return profile


def parse_birth_date(text: object) -> date | None:
    """Parse a `MM-dd-yyyy` or `MM/dd/yyyy` date, one-digit variants included; None for anything else."""
    match = BIRTH_DATE.match(text) if isinstance(text, str) else None
    if match is None:
        return None
    try:
        return date(int(match[4]), int(match[1]), int(match[3]))
    except ValueError:
        return None


def age(born: date, today: date) -> int:
    """Return the age in whole years; a birthday on 29 February counts from 1 March."""
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))
