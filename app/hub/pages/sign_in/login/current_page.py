"""Builds the login page of a visit from the tenant's methods, the reauthenticating account and the organization's allowed methods."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from flask import Response

from app.contract.organizations.settings import MethodLimit
from app.hub.components import sign_in_methods
from app.hub.components.reauthentication import Reauthentication, current_reauthentication
from app.hub.components.sign_in_methods import PASSKEY, PASSWORD, SignInMethod
from app.hub.components.sign_in_refusals import RefusalReason
from app.hub.pages.sign_in.login.form import FormStep, LoginForm
from app.hub.pages.sign_in.login.locked_page import LockedLoginPage
from app.hub.pages.sign_in.login.page import LoginPage
from app.hub.pages.sign_in.login.passkey_page import PasskeyLoginPage
from app.hub.web.visit import current_visit


def login_page(
    form: LoginForm,
    refusal: RefusalReason | None = None,
    wait_seconds: int = 0,
    *,
    reauthentication: Reauthentication | None = None,
    limit: MethodLimit | None = None,
    last_key: str | None = None,
    is_returning: bool | None = None,
) -> LoginPage:
    """Return the login page; `last_key`, the last used method, and `is_returning` are by default from the browser's cookie."""
    visit, tenant = current_visit(), current_visit().tenant
    is_first = reauthentication is None or bool(reauthentication.connects)
    required = _required(form) if limit is None and reauthentication is None else None
    accepted = limit or required
    entry = _entry(accepted) if is_first else frozenset[str]()
    if limit is not None:
        last_key = ""
    elif last_key is None:
        last_key = sign_in_methods.last_used()
    fields: dict[str, Any] = {
        "identifiers": tenant.identifiers,
        "relying_party": visit.relying_party,
        "has_remember_me": tenant.has_remember_me and is_first,
        "refusal": refusal,
        "wait_seconds": wait_seconds,
        "methods": _usable(sign_in_methods.tenant_methods(), reauthentication, accepted, entry),
        "connections": _usable(_connections(accepted, last_key, reauthentication), reauthentication, accepted, entry),
        "reauthentication": reauthentication,
        "last_key": last_key,
        "is_returning": sign_in_methods.has_signed_in() if is_returning is None else is_returning,
        "limit": limit,
        "required": required,
        "entry": entry,
        "step": _step(form, accepted, entry) if reauthentication is None else None,
    }
    if form.captcha.is_shown or form.shows_question:
        return LockedLoginPage(form, **fields)
    page = LoginPage(form, **fields)
    has_passkey = reauthentication.has_passkey if reauthentication else page.takes(PASSKEY)
    return PasskeyLoginPage(form, **fields, passkeys=tenant.passkeys) if tenant.passkeys and has_passkey else page


def _connections(
    limit: MethodLimit | None, last_key: str, reauthentication: Reauthentication | None
) -> tuple[SignInMethod, ...]:
    """Return the connections of the page: those of the organization that the sign-in is for, the tenant's, and those of organizations
    that this browser used last or the account can reauthenticate at; or those alone that an organization accepts.
    """
    if limit is not None and limit.connections:
        return sign_in_methods.organization_methods(limit.connections)
    if limit is not None and limit.connection:
        return (sign_in_methods.organization_method(limit.connection, limit.organization),)
    keys = (last_key,) if reauthentication is None else tuple(reauthentication.methods)
    of_organizations = map(sign_in_methods.remembered_organization, filter(sign_in_methods.is_of_organization, keys))
    own = sign_in_methods.own_connection_methods() if reauthentication is None else ()
    every = (*own, *sign_in_methods.connection_methods(), *of_organizations)
    return tuple({method.key: method for method in every}.values())


def _required(form: LoginForm) -> MethodLimit | None:
    """Return the connections that the organization of the sign-in demands; None where it demands none, and on the other way in."""
    interaction = current_visit().interaction
    if interaction is None or not sign_in_methods.requires_connection(is_direct=bool(form.direct.data)):
        return None
    methods: list[Any] = [sign_in_methods.CONNECTION]
    return MethodLimit(
        organization=interaction.organization, allowed_methods=methods, connections=interaction.connections
    )


def _step(form: LoginForm, limit: MethodLimit | None, entry: frozenset[str]) -> FormStep | None:
    """Return what an identifier-first tenant's page asks for; None for a tenant of one page, and where the password is not taken."""
    if not current_visit().tenant.is_identifier_first or not sign_in_methods.is_allowed(PASSWORD, limit, entry):
        return None
    is_known = bool(form.identifier.data) and not form.identifier.errors
    return FormStep.PASSWORD if is_known and not form.is_identifier_alone else FormStep.IDENTIFIER


def _entry(limit: MethodLimit | None) -> frozenset[str]:
    """Return the methods that the workflow of the sign-in takes; none for all, and where an organization requires others."""
    interaction = current_visit().interaction
    methods = interaction.entry_methods if interaction is not None else frozenset[str]()
    return methods if limit is None or methods.intersection(limit.allowed_methods) else frozenset()


def _usable(
    methods: Iterable[SignInMethod],
    reauthentication: Reauthentication | None,
    limit: MethodLimit | None,
    entry: frozenset[str],
) -> tuple[SignInMethod, ...]:
    """Return the methods that the account can reauthenticate with, and its organization and the workflow allow."""
    return tuple(
        method
        for method in methods
        if (reauthentication is None or method.key in reauthentication.methods)
        and sign_in_methods.is_allowed(sign_in_methods.kind_of(method.key), limit, entry)
    )


def new_login_form(**form_arguments: Any) -> LoginForm:
    """Return an unsubmitted form with these initial values."""
    return LoginForm.of(current_visit().tenant.identifiers, formdata=None, data=form_arguments)


def render_after_refusal(
    refusal: RefusalReason | None = None, *, form: LoginForm | None = None, status: int = 403, unknown: str = ""
) -> Response:
    """Render the page after a failed sign-in by another method than the password."""
    reauthentication, login_form = current_reauthentication(), form or new_login_form()
    if reauthentication is not None:
        login_form.identifier.data = reauthentication.name
    page = login_page(login_form, refusal, reauthentication=reauthentication)
    if isinstance(page, PasskeyLoginPage):
        page = replace(page, unknown=unknown)
    return page.render(status)
