"""resource: the one resource server that the tokens are for (RFC 8707 section 2.1)."""

from app.identity.protocols.oauth import resources
from app.identity.protocols.oauth.authorize.request import Asked, Redirected


def check(asked: Asked) -> None:
    if "resource" in asked.repeated:
        raise Redirected("invalid_target", "Name one resource.")
    resource = asked.values.get("resource")
    if resource is None:
        return
    if not resources.is_known(asked.context, asked.client, resource):
        raise Redirected("invalid_target", "The resource is not registered for this client.")
    asked.kept["resource"] = resource
