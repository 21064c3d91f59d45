"""A tenant's registration form, configured or by default."""

from __future__ import annotations

from app.contract.registration.form import FormField
from app.contract.tenants.settings import TenantSettings


def fields_of(settings: TenantSettings) -> tuple[FormField, ...]:
    """Return the fields of the registration form.

    By default: an email address, unless the tenant disables it; the identifiers that sign-in accepts instead; a password.
    """
    if settings.registration_form:
        return settings.registration_form
    accepted = settings.login_kinds
    names = ["email"] if settings.email_login is not False or "email" in accepted else []
    names += [kind for kind in accepted if kind != "email" and "email" not in accepted]
    password = FormField(name="password", type="password", required=True)
    return *(FormField(name=name, required=True) for name in names), password


def is_configured(settings: TenantSettings) -> bool:
    """Return whether the tenant configured a form; otherwise any accepted identifier suffices."""
    return bool(settings.registration_form)
