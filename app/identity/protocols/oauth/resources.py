"""For which resource server a token is (RFC 8707 section 2): `resource`, and the audience of access tokens (RFC 9068 section 2.2)."""

from __future__ import annotations

from app.contract.auth import INTERFACE_SCOPES
from app.contract.errors_oauth import InvalidTarget
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application


def is_known(context: Context, client: Application, resource: str) -> bool:
    """Return whether a client may name a resource: one of its `resources`, or this API where it has `interface_access`.

    What stands below the API's address is an audience of machine tokens, and never one of a client's own.
    """
    api = context.services.settings.base_url
    if resource == api:
        return bool(client.settings.interface_scopes)
    return resource in client.settings.resources and not resource.startswith(f"{api}/")


def wanted(context: Context, client: Application, granted: object, asked: str | None) -> str | None:
    """Return the resource of the requested token, None where no resource is named; raises InvalidTarget.

    Args:
        granted: the resource of the authorization request; the token request may not name another one.
        asked: the resource of the token request.
    """
    bound = str(granted) if granted else None
    resource = asked or bound
    if resource is not None and (bound not in (None, resource) or not is_known(context, client, resource)):
        raise InvalidTarget
    return resource


def narrowed(context: Context, client: Application, scope: tuple[str, ...], resource: str | None) -> tuple[str, ...]:
    """Return the scope without account access that the client may not have (any more), and without any for another server's token."""
    is_ours = resource in (None, context.services.settings.base_url)
    allowed = client.settings.interface_scopes if is_ours else ()
    return tuple(name for name in scope if name not in INTERFACE_SCOPES or name in allowed)


def audience(context: Context, client: Application, scope: tuple[str, ...], resource: str | None) -> list[str]:
    """Return who may accept the token: the resource, else its own client, and this API where the token opens it."""
    opens_api = any(name in INTERFACE_SCOPES for name in scope)
    return list(
        dict.fromkeys([resource or client.client_id, *([context.services.settings.base_url] if opens_api else [])])
    )
