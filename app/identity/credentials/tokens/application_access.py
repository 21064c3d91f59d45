"""What the tokens of applications open: the scope that the operation declares, granted to the token and still allowed to its client."""

from __future__ import annotations

from app.identity.platform.context import Context, TokenHolder


def may_use(context: Context, holder: TokenHolder) -> bool:
    """Return whether the token may be used at the operation of this call.

    Tokens of the interface's own sign-ins always may. An application's token needs what the operation declares (`Access`), and
    its client must be active and have that scope by its present `interface_access`: a change there takes effect at once.
    """
    if holder.client_id is None:
        return True
    access = context.operation.admission.access if context.operation is not None else None
    if access is None or access.scope is None:
        return False
    if not access.scope:
        return True
    client = context.application(client_id=holder.client_id)
    is_allowed = client is not None and client.settings.is_active and access.scope in client.settings.interface_scopes
    return is_allowed and access.scope in holder.scope.split()
