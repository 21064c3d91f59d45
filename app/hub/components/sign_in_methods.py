"""Sign-in methods other than the password, as the login page shows them, and this browser's last used method."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import unquote, urlencode

from flask import Response

from app.contract.accounts.models import CONNECTION_METHOD, ORGANIZATION_TITLE, organization_method_key
from app.contract.organizations.settings import ConnectionOption, MethodLimit
from app.contract.steps import FormPostStep, RedirectStep, StepResponse
from app.hub.locale import lazy_gettext as _l
from app.hub.tenants.tenant import UpstreamConnection
from app.hub.web.cookies import set_cookie
from app.hub.web.services import services
from app.hub.web.visit import current_visit, interaction_url

PASSWORD, PASSKEY, CONNECTION = "password", "passkey", "connection"
MAIL, SMS, DEVICE, PHONE = "mail", "sms", "device", "phone"
WITH_PROVIDER: Final = "/sign-in/with"
"""The address that redirects to an identity provider."""
_MAX_KEY_LENGTH: Final = 300
_REMEMBERED_SECONDS: Final = 180 * 24 * 3600
_BEGUN: Final = "!"
"""Separates the last completed method from the method that began since; no key has it."""
PATHS: Final = {
    PASSKEY: "/login/passkey", MAIL: "/sign-in/mail", SMS: "/sign-in/sms", DEVICE: "/sign-in/device", PHONE: "/sign-in/phone",
}  # fmt: skip


@dataclass(frozen=True)
class SignInMethod:
    """A method as a button of the login page."""

    name: Any
    """What the button says, such as "Continue with Google"."""
    icon: str
    """An icon's name; empty for a connection, which has its provider's mark or initial."""
    address: str
    key: str
    """The value in the cookie of the last used method."""
    mark: str = ""
    """The well-known provider of a connection."""
    title: str = ""
    """The title of a connection."""


_KINDS: Final = {MAIL: "email", DEVICE: "email"}
_METHODS: Final = {
    PASSKEY: (_l("Sign in with a passkey"), "passkey"),
    MAIL: (_l("Get an email link"), "mail"),
    SMS: (_l("Get a code by text message"), "message"),
    DEVICE: (_l("Approve on another device"), "devices"),
    PHONE: (_l("Sign in with your phone"), "phone"),
}


def kind_of(key: str) -> str:
    """Return the contract's `SignInMethod` for a method's key on the page."""
    return CONNECTION if key.startswith(CONNECTION_METHOD) else _KINDS.get(key, key)


def is_allowed(kind: str, limit: MethodLimit | None, entry: frozenset[str]) -> bool:
    """Return whether an organization's limit and the methods of a workflow, none of them for all, allow a contract's `SignInMethod`."""
    return (limit is None or kind in limit.allowed_methods) and (not entry or kind in entry)


def is_taken(kind: str) -> bool:
    """Return whether the workflow of the sign-in takes a method, as the contract's `SignInMethod` names it."""
    interaction = current_visit().interaction
    return interaction is None or not interaction.entry or kind in interaction.entry_methods


def can_begin(key: str) -> bool:
    """Return whether a sign-in by this method can begin: the workflow takes it, or the account of a session authenticates again."""
    return bool(current_visit().session) or is_taken(kind_of(key))


def tenant_methods() -> tuple[SignInMethod, ...]:
    """Return the tenant's passwordless methods, in its order."""
    return tuple(_own_method(name) for name in current_visit().tenant.passwordless_methods if name in _METHODS)


def last_used() -> str:
    """Return the key of the method that signed in last in this browser; empty if unknown, or if the tenant has no such method.

    An organization's connection is returned unchecked.
    """
    key, _ = _remembered()
    if not key or is_of_organization(key):
        return key
    tenant = current_visit().tenant
    offered = {
        PASSKEY,
        *tenant.passwordless_methods,
        *(f"{CONNECTION_METHOD}{name}" for name, *_ in tenant.connections),
    }
    return key if key in offered else ""


def has_signed_in() -> bool:
    """Return whether this browser completed a sign-in before, by any method."""
    return bool(_remembered()[0])


def begin_method(response: Response, step: StepResponse, key: str) -> Response:
    """Set the last-method cookie for a sign-in that begins, or that this step completes."""
    value = key if step.session else f"{_remembered()[0]}{_BEGUN}{key}"
    set_cookie(response, services().last_method_cookie, value, _REMEMBERED_SECONDS)
    return response


def complete_method(response: Response) -> None:
    """Record the method that began last as the last completed method; the cookie holds nothing about the account."""
    _, begun = _remembered()
    if begun:
        set_cookie(response, services().last_method_cookie, begun, _REMEMBERED_SECONDS)


def _remembered() -> tuple[str, str]:
    """Return the keys of the last completed method and of the method that began since; each is empty if there is none."""
    value = current_visit().cookies.get(services().last_method_cookie, "")
    completed, _, begun = value.partition(_BEGUN)
    return completed[:_MAX_KEY_LENGTH], begun[:_MAX_KEY_LENGTH]


def connection_methods() -> tuple[SignInMethod, ...]:
    """Return the tenant's upstream connections, in its order."""
    return tuple(_connection_method(connection) for connection in current_visit().tenant.connections)


def organization_methods(options: Iterable[ConnectionOption]) -> tuple[SignInMethod, ...]:
    """Return connections of an organization, with the key of the last used method for that one."""
    methods, last = (organization_method(item.connection, item.title) for item in options), last_used()
    return tuple(
        replace(method, key=last) if last.startswith(f"{method.key}{ORGANIZATION_TITLE}") else method
        for method in methods
    )


def organization_method(connection_id: str, organization: str) -> SignInMethod:
    """Return the connection of an organization, under its name."""
    return _connection_method(UpstreamConnection(connection_id, organization, ""))


def requires_connection(*, is_direct: bool) -> bool:
    """Return whether the pages of this sign-in offer the connections of its organization alone, because it demands them.

    `is_direct`: the visitor chose to sign in another way. Whether that counts is decided at the end of the sign-in.
    """
    interaction = current_visit().interaction
    return interaction is not None and bool(interaction.requires_connection) and not is_direct


def own_connection_methods() -> tuple[SignInMethod, ...]:
    """Return the connections of the organization that the sign-in is for."""
    interaction = current_visit().interaction
    return organization_methods(interaction.connections) if interaction is not None else ()


def offered_connections() -> tuple[SignInMethod, ...]:
    """Return the connections of the organization that the sign-in is for, then the tenant's, unless it demands its own."""
    own = own_connection_methods()
    return own if requires_connection(is_direct=False) else (*own, *connection_methods())


def provider_targets(targets: tuple[str, ...]) -> tuple[str, ...]:
    """Return the schemes to which a form may redirect, with those of providers where the domain of a typed address may lead to one:
    browsers check every redirect of a form.
    """
    if not current_visit().tenant.finds_connections:
        return targets
    return (*targets, "https:", *(() if services().is_https else ("http:",)))


def key_of_step(step: StepResponse, provider: str = "") -> str:
    """Return the key of the connection that a sign-in begins with: that of an organization contains its name, which the tenant's
    configuration does not have.
    """
    redirect = step.step
    if isinstance(redirect, RedirectStep | FormPostStep) and redirect.connection:
        return organization_method_key(redirect.connection, redirect.title or "")
    return f"{CONNECTION_METHOD}{provider}"


def is_of_organization(key: str) -> bool:
    """Return whether a key is that of an organization's connection."""
    return ORGANIZATION_TITLE in key


def remembered_organization(key: str) -> SignInMethod:
    """Return the organization's connection of a key."""
    connection_id, _, title = key.removeprefix(CONNECTION_METHOD).partition(ORGANIZATION_TITLE)
    return replace(organization_method(connection_id, unquote(title)), key=key)


def sample_connection_methods() -> tuple[SignInMethod, ...]:
    """Return sample connections, more than a page shows at once."""
    titles = {"google": "Google", "microsoft": "Microsoft", "github": "GitHub", "linkedin": "LinkedIn", "": "Initech"}
    return tuple(_connection_method(UpstreamConnection(title.lower(), title, mark)) for mark, title in titles.items())


def sample_methods(*names: str) -> tuple[SignInMethod, ...]:
    """Return passwordless methods for samples, by default those by a message."""
    return tuple(_own_method(name) for name in names or (MAIL, SMS, DEVICE))


def sample_limit(*methods: str) -> MethodLimit:
    """Return a sample of an organization's limit to these methods."""
    return MethodLimit.model_validate({"organization": "Globex Gardens", "allowed_methods": methods})


def passkey_method(*, is_again: bool = False) -> SignInMethod:
    """Return the passkey, which the page shows as a form. `is_again`: a signed-in account reauthenticates."""
    method = _own_method(PASSKEY)
    return replace(method, name=_l("Use a passkey")) if is_again else method


def _connection_method(connection: UpstreamConnection) -> SignInMethod:
    interaction, (name, title, mark) = current_visit().interaction, connection
    query = urlencode({"provider": name, **({"attempt": interaction.id} if interaction else {})})
    sentence = _l("Continue with %(title)s", title=title)
    return SignInMethod(sentence, "", f"{WITH_PROVIDER}?{query}", f"{CONNECTION_METHOD}{name}", mark, title)


def _own_method(name: str) -> SignInMethod:
    return SignInMethod(*_METHODS[name], interaction_url(PATHS[name]), name)
