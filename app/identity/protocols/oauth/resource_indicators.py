"""Resource indicators (RFC 8707 section 2): the parameter `resource`, and the audience of access tokens (RFC 9068 section 2.2)."""

from __future__ import annotations

from typing import Final

from app.contract.auth import INTERFACE_SCOPES
from app.contract.oauth.oauth_errors import InvalidTarget
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.kit.web.urls import parse_url

_OF_THIS_API: Final = frozenset(INTERFACE_SCOPES)
_OFFLINE: Final = "offline_access"


def is_known(context: Context, client: Application, resource: str) -> bool:
    """Return whether a client may request a resource."""
    return registered_resource(context, client, resource) is not None


def registered_resource(context: Context, client: Application, requested: str) -> str | None:
    """Return the resource that a client requests, as it is registered; None if the client may not request it.

    It is one of its `resources`, of the tenant's for applications that registered themselves if it is one of them, or this API if it has
    `interface_access`. Addresses below the API's address are audiences of machine tokens, never resources of a client.
    """
    api, settings = context.services.settings.base_url, context.tenant.settings
    tenant_resources = settings.client_registration.resources if client.is_self_registered else ()
    named, ours = _comparable(requested), _comparable(api)
    if named == ours:
        return api if client.settings.interface_scopes else None
    if named.startswith(ours):
        return None
    return next(
        (resource for resource in (*client.settings.resources, *tenant_resources) if _comparable(resource) == named),
        None,
    )


def _comparable(resource: str) -> str:
    """Return a web address in one spelling of its host, and with a path: programs that parse it send `/` for none (RFC 3986, 6.2.3)."""
    address = parse_url(resource)
    if address is None or "#" in resource:
        return resource
    return address.origin + (address.path or "/") + ("?" + address.query if "?" in resource else "")


def resolve(context: Context, client: Application, granted: object, requested: str | None) -> str | None:
    """Return the resource that the token is for; None where the requests name none.

    Args:
        granted: the resource of the authorization request; the token request may not name another (section 2.2).
        requested: the resource of the token request.

    Raises:
        InvalidTarget: the client may not request this resource.
    """
    authorized = str(granted) if granted else None
    if not (requested or authorized):
        return None
    resource = registered_resource(context, client, requested or str(authorized))
    if resource is None or (authorized is not None and _comparable(authorized) != _comparable(resource)):
        raise InvalidTarget
    return resource


def narrow_scope(
    context: Context, client: Application, scope: tuple[str, ...], resource: str | None
) -> tuple[str, ...]:
    """Return the part of a scope that the client has now; account access only if the token is for this API."""
    scope = tuple(name for name in scope if name in client.scopes or name == _OFFLINE)
    if _OF_THIS_API.isdisjoint(scope):
        return scope
    is_for_api = resource in (None, context.services.settings.base_url)
    allowed = client.settings.interface_scopes if is_for_api else ()
    return tuple(name for name in scope if name not in INTERFACE_SCOPES or name in allowed)


def audience(context: Context, client: Application, scope: tuple[str, ...], resource: str | None) -> list[str]:
    """Return the `aud` values: the resource or else the client, and this API where the scope gives access to it."""
    has_api_access = not _OF_THIS_API.isdisjoint(scope)
    return list(
        dict.fromkeys([resource or client.client_id, *([context.services.settings.base_url] if has_api_access else [])])
    )
