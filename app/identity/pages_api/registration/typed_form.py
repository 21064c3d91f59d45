"""Reads the registration form of our page, as a registration model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from app.contract.accounts.account_operations import EmailEntry, PinInfo
from app.contract.registration.form import CUSTOM, TERMS, FormField
from app.contract.registration.registration_pages import RegisterRequest
from app.identity.authentication.registration.account_registration import RegistrationOptions
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.directory.accounts import identifiers
from app.identity.directory.tenants import registration_form
from app.identity.platform.context import Context


@dataclass
class TypedForm:
    """The typed form, as a registration model."""

    form: tuple[FormField, ...]
    fields: dict[str, str]
    country: str | None
    names: dict[str, str] = field(default_factory=dict)  # from a provider's identity; a custom field begins with cf_
    email: list[EmailEntry] | None = None
    user_name: str | None = None
    phone_id: str | None = None
    uid: str | None = None
    password: str | None = None
    security_question_answer: dict[str, str] | None = None
    pin_info: PinInfo | None = None  # set in a later step

    def __post_init__(self) -> None:
        address = self.value_of("email")
        self.email = [EmailEntry(type="Primary", value=address)] if address else None
        self.user_name = self.value_of("username") or None
        self.phone_id = identifiers.to_international(self.value_of("phone"), self.country) or None
        self.password = self.fields.get("password") or None

    def value_of(self, name: str) -> str:
        """Return the value of a field, stripped."""
        return self.fields.get(name, "").strip()

    @property
    def free(self) -> dict[str, Any]:
        """The profile members of the form's fields that have a value, and of the identity's that the form does not change."""
        free = {name: text for name, text in self.names.items() if not name.startswith(CUSTOM)}
        custom = {name.removeprefix(CUSTOM): text for name, text in self.names.items() if name.startswith(CUSTOM)}
        for item in self.form:
            if not (text := self.value_of(item.name)):
                continue
            if item.is_custom:
                custom[item.name.removeprefix(CUSTOM)] = text
            elif member := item.member:
                free[member] = text
        return {**free, "CustomFields": custom} if custom else free


def read(
    context: Context,
    req: RegisterRequest,
    interaction_id: str,
    *,
    has_password: bool,
    fixed_email: str = "",
) -> tuple[TypedForm, RegistrationOptions]:
    """Return the typed form and its options.

    Args:
        fixed_email: the address that the account gets, whatever was typed: the link of an invitation or a provider verified it.
    """
    form = registration_form.fields_of(context.tenant.settings)
    field_names = {item.name for item in form if has_password or "password" not in (item.name, item.matches)}
    texts = {name: text for name, text in req.fields.items() if name in field_names}
    if fixed_email:
        texts["email"] = fixed_email
    typed = TypedForm(form, texts, context.tenant.settings.default_country)
    options = RegistrationOptions(
        VerificationOptions(interaction_id=interaction_id),
        source=f"{context.issuer}/register",
        accepts_terms=bool(texts.get(TERMS)) if TERMS in field_names else None,
        has_password=has_password,
        has_later_steps=True,
        hides_taken=True,
        invited_email=identifiers.normalize_email(fixed_email) or "",
    )
    return typed, options
