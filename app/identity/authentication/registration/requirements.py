"""The requirements of a tenant for registrations: its form, address lists and minimum age."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.contract import errors
from app.contract.registration.form import CUSTOM, TERMS, FormField
from app.contract.tenants.settings import EmailAccess, TenantSettings
from app.identity.authentication.registration import form_rules
from app.identity.authentication.registration.drafts import AccountDraft, ProfileInput, RegistrationInput
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.profile import profile_edits
from app.identity.directory.accounts.profile.profile_document import age, parse_birth_date
from app.identity.directory.tenants import registration_form
from app.identity.platform.context import Context
from app.kit.operations.errors import ApiError

_MISSING: dict[str, type[ApiError]] = {
    "email": errors.MalformedEmail,
    "username": errors.UsernameMissing,
    "phone": errors.PhoneMissing,
    "password": errors.PasswordMissing,
    TERMS: errors.PolicyNotAccepted,
}


def refuse_incomplete(
    settings: TenantSettings, request: RegistrationInput, accepts_terms: bool | None, *, needs_password: bool = True
) -> None:
    """Refuse a registration that lacks a required field of the form, or breaks a rule of a field.

    Raises:
        MalformedEmail, UsernameMissing, PhoneMissing, PasswordMissing, PolicyNotAccepted, BadParameter: a field is missing.
        FieldsRefused: with a message for every field that breaks a rule.
    """
    values = _form_values(settings, request, accepts_terms)
    form = registration_form.fields_of(settings)
    for field in form if registration_form.is_configured(settings) else ():
        is_needed = field.required and (needs_password or "password" not in (field.name, field.matches))
        if is_needed and not _form_value(values, field.name).strip():
            raise _MISSING[field.name] if field.name in _MISSING else errors.BadParameter.names(field.wire_name)
    problems = [(field.wire_name, problem) for field in form if (problem := _problem(field, form, values))]
    if problems:
        raise errors.FieldsRefused(problems=problems)


def refuse_without_identifiers(settings: TenantSettings) -> None:
    """Refuse a new account without an address, a username and a number, and without accepted terms, if the form requires one.

    Raises MalformedEmail, UsernameMissing, PhoneMissing, PolicyNotAccepted.
    """
    for field in registration_form.fields_of(settings):
        if field.required and field.name in _MISSING and field.name != "password":
            raise _MISSING[field.name]


def refuse_edits(settings: TenantSettings, request: ProfileInput, *, clears: bool) -> None:
    """Refuse a change of an account that breaks a rule of the form, or clears a required field.

    Args:
        clears: whether a null clears a field.

    Raises FieldsRefused, with a message for every field.
    """
    values = _form_values(settings, request, None)
    nulls = {name for name, value in _stored_members(request).items() if value is None}
    form = registration_form.fields_of(settings)
    problems = [(field.wire_name, problem) for field in form if (problem := _problem(field, form, values))]
    for field in form:
        name = field.wire_name
        is_given = bool(field.member or field.is_custom) and name in values and (clears or name not in nulls)
        is_cleared = (is_given and not values[name].strip()) or (field.is_custom and clears and "customfields" in nulls)
        if field.required and is_cleared:
            problems.append((name, "This is needed."))
    if problems:
        raise errors.FieldsRefused(problems=problems)


def refuse_age(context: Context, birth_date: object) -> None:
    """Raise TooYoung for a birth date below the tenant's minimum age."""
    minimum, born = context.tenant.settings.minimum_age, parse_birth_date(birth_date)
    if minimum and born is not None and age(born, context.now.date()) < minimum:
        raise errors.TooYoung


def refuse_registrant(context: Context, draft: AccountDraft) -> None:
    """Refuse a draft by the tenant's address lists, minimum age and phone login.

    Raises EmailRefused, EmailDomainRefused, TooYoung, and PhoneLoginOff if phone numbers are not identifiers.
    """
    settings = context.tenant.settings
    for normalized in draft.addresses.forms:
        refuse_email(settings.email_access, normalized)
    refuse_age(context, draft.profile.get("BirthDate"))
    if draft.phone and not settings.phone_login:
        raise errors.PhoneLoginOff


def refuse_email(access: EmailAccess, normalized: str) -> None:
    """Raise EmailRefused, EmailDomainRefused for a normalized address that the tenant's lists do not allow.

    An address on a list takes precedence over its domain; a domain includes its subdomains.
    """
    if not (access.allow or access.block):
        return
    blocked, allowed = _listed(access.block, normalized), _listed(access.allow, normalized)
    if blocked == "address" or (blocked == "domain" and allowed != "address"):
        raise errors.EmailRefused if blocked == "address" else errors.EmailDomainRefused
    if access.allow and not allowed:
        raise errors.EmailDomainRefused


def _listed(entries: tuple[str, ...], normalized: str) -> str:
    """Return `address` or `domain` if the list has the normalized address or its domain, else an empty text."""
    domain = normalized.rpartition("@")[2]
    is_domain = False
    for entry in entries:
        if "@" in entry.lstrip("@"):
            if identifiers.normalize_email(entry) == normalized:
                return "address"
        else:
            listed = _domain(entry)
            is_domain = is_domain or domain == listed or domain.endswith(f".{listed}")
    return "domain" if is_domain else ""


def _domain(entry: str) -> str:
    """Return a listed domain as in normalized addresses (IDNA)."""
    listed = entry.strip().lstrip("@*.").lower()
    if listed.isascii():
        return listed
    normalized = identifiers.normalize_email(f"a@a.{listed}")  # a single label is not valid in an address
    return normalized.removeprefix("a@a.") if normalized else listed


def _form_values(settings: TenantSettings, request: ProfileInput, accepts_terms: bool | None) -> dict[str, str]:
    """Return the request's values by the form's field names; other types than text and unknown members are empty."""
    free = _stored_members(request)
    custom = free.get("customfields")
    values: Mapping[str, Any] = {
        **free,
        "email": next((entry.value for entry in request.email or () if entry.value), ""),
        "username": request.user_name,
        "phone": request.phone_id,
        "password": request.password,
        TERMS: "true" if accepts_terms else "",
        **{
            f"{CUSTOM}{profile_edits.custom_field_name(name, settings.custom_fields) or name}": value
            for name, value in (custom.items() if isinstance(custom, dict) else ())
        },
    }
    return {name: _text(value) for name, value in values.items()}


def _stored_members(request: ProfileInput) -> dict[str, Any]:
    """Return the body's profile members by the names of the form, without unknown members and second spellings."""
    return {name.lower(): value for name, value in profile_edits.canonical_members(request.free).items()}


def _form_value(values: Mapping[str, str], name: str) -> str:
    """Return the value of a field: `first_name` is FirstName in a body, in any letter case."""
    return values.get(name) or values.get(name if name.startswith(CUSTOM) else name.replace("_", ""), "")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else ""
    return str(value) if isinstance(value, str | int | float) else ""


def _problem(field: FormField, form: tuple[FormField, ...], values: Mapping[str, str]) -> str:
    """Return the message for an invalid field, else an empty text."""
    text = _form_value(values, field.name)
    if problem := form_rules.problem_of(field, text):
        return problem
    if text and field.matches and text != _form_value(values, field.matches):
        other = next(option for option in form if option.name == field.matches)
        return f"This does not match {other.wire_name}."
    return ""
