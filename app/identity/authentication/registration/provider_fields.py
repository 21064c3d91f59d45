"""Checks fields of the profile that an identity provider decides, by the rules of their owner's edits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.contract.accounts.account_operations import EmailEntry, PinInfo
from app.contract.profile import Write
from app.contract.registration.form import CUSTOM, FormField
from app.identity.authentication.registration import registration_data, requirements
from app.identity.directory.accounts import linked_identities
from app.identity.directory.accounts.profile import profile_edits
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.directory.tenants import registration_form
from app.identity.platform.context import Context
from app.kit.operations.errors import ApiError

_WRITERS = frozenset({Write.ANYONE})
_CUSTOM_FIELDS = "CustomFields"


@dataclass(frozen=True)
class CheckedFields:
    """`assigned`: the members of the profile to set. `refused`: the names of the fields whose value an owner could not set."""

    assigned: dict[str, Any] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def has(self, field: FormField) -> bool:
        """Return whether a field of the registration form is set."""
        custom = self.assigned.get(_CUSTOM_FIELDS, {})
        return bool(
            custom.get(field.name.removeprefix(CUSTOM)) if field.is_custom else self.assigned.get(field.member or "")
        )

    def changes(self, profile: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members that differ from a profile."""
        differing = {name: value for name, value in self.assigned.items() if profile.get(name) != value}
        if (
            _CUSTOM_FIELDS in differing
            and self.assigned[_CUSTOM_FIELDS].items() <= (profile.get(_CUSTOM_FIELDS) or {}).items()
        ):
            del differing[_CUSTOM_FIELDS]
        return differing


@dataclass
class _OneField:
    """One field, as an edit."""

    free: dict[str, Any]
    email: list[EmailEntry] | None = None
    user_name: str | None = None
    phone_id: str | None = None
    password: str | None = None
    security_question_answer: dict[str, str] | None = None
    pin_info: PinInfo | None = None


def check(context: Context, texts: Mapping[str, str]) -> CheckedFields:
    """Return the fields to set, each checked alone, so that a refused value changes nothing else.

    Args:
        texts: by the name of the field; that of a custom field begins with `cf_`.
    """
    checked = CheckedFields()
    for name, text in texts.items():
        try:
            assigned = _assigned(context, name, text)
        except ApiError:
            checked.refused.append(name)
            continue
        custom = {**checked.assigned.get(_CUSTOM_FIELDS, {}), **assigned.get(_CUSTOM_FIELDS, {})}
        checked.assigned.update({**assigned, _CUSTOM_FIELDS: custom} if custom else assigned)
    return checked


def at_registration(context: Context, identity: ProviderIdentity) -> CheckedFields:
    """Check the fields with which the account of an identity begins: its names, those of the registration form, and those that its
    connection decides.
    """
    form = {field.member for field in registration_form.fields_of(context.tenant.settings)}
    named = {name: text for name, text in identity.profile.items() if name in form or name in identity.decided}
    texts = {name: cleaned for name, text in named.items() if (cleaned := linked_identities.cleaned_text(text))}
    return check(context, {**texts, **linked_identities.profile_names(identity)})


def _assigned(context: Context, name: str, text: str) -> dict[str, Any]:
    """Return the member of one field. Raises the refusals of an owner's edit."""
    settings, today = context.tenant.settings, context.now.date()
    free: dict[str, Any] = (
        {_CUSTOM_FIELDS: {name.removeprefix(CUSTOM): text}} if name.startswith(CUSTOM) else {name: text}
    )
    requirements.refuse_edits(settings, _OneField(free), clears=False)
    registration_data.refuse_invalid_links(context, free)
    assigned = profile_edits.read(
        free, _WRITERS, clears=False, custom_fields=settings.custom_fields, today=today
    ).assigned
    requirements.refuse_age(context, assigned.get("BirthDate"))
    return assigned
