"""connection, provider: skip the sign-in page and redirect to one of the tenant's identity providers.

A name that the tenant does not have, or has switched off, is no error: the sign-in page is shown.
"""

from app.contract.federation.connections import can_sign_in
from app.identity.protocols.oauth.authorize.request import UncheckedRequest


def check(request: UncheckedRequest) -> None:
    name = (request.values.get("connection") or request.values.get("provider") or "").lower()
    connection = request.context.tenant.settings.connections.get(name)
    if connection is not None and can_sign_in(name, connection):
        request.accepted["connection"] = name
