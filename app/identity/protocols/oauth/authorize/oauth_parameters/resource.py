"""resource: the resource server that the tokens are for (RFC 8707 section 2.1)."""

from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import resource_indicators
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect, UncheckedRequest


def check(request: UncheckedRequest) -> None:
    if "resource" in request.repeated:
        raise RefusedByRedirect("invalid_target", "Name one resource.")
    requested = request.values.get("resource")
    if requested is None:
        return
    resource = resource_indicators.registered_resource(request.context, request.client, requested)
    if resource is None:
        raise RefusedByRedirect("invalid_target", "The resource is not registered for this client.")
    request.accepted["resource"] = resource


def still_holds(context: Context, client: Application, request: CheckedRequest) -> bool:
    """Return whether the client may still request the resource."""
    return request.resource is None or resource_indicators.is_known(context, client, request.resource)
