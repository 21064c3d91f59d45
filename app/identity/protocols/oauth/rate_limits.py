"""Rate limits of the OAuth endpoints: 429 with Retry-After, as an OAuth error."""

from app.contract.oauth.oauth_errors import SlowDown
from app.identity.directory.tenants import profile_client
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.kit.limits.rate_limits import OverLimit, Rate

REFUSED_CLIENT = Rate(20, 60)  # wrong secrets of one client from one address
REFUSED_ADDRESS = Rate(200, 60)  # wrong secrets of all clients from one address
ASSERTED_ACCOUNT = Rate(120, 60)  # accounts that assertions for one client create


def count_against(context: Context, name: str, rate: Rate, *key: str) -> None:
    """Count one request in a window of this tenant; raises SlowDown."""
    try:
        context.services.limits.count_against(name, rate, context.tenant.tenant_id, *key)
    except OverLimit as over:
        raise SlowDown(retry_after_seconds=over.retry_after_seconds) from None


def count_authorization_request(context: Context) -> None:
    """Count one authorization request of the browser's address; raises the hub's TooManyRequests."""
    context.count_request("oauth.authorize", context.tenant.settings.limits.authorize_per_minute_per_address)


def count_client_request(context: Context, client: Application) -> None:
    """Count one request of a client from its address; raises SlowDown.

    A server, including the hub, calls for all users; a browser or a device calls for one.
    """
    limits = context.tenant.settings.limits
    is_public = client.settings.is_public and client.client_id != profile_client.CLIENT_ID
    name = "oauth.public_client" if is_public else "oauth.client"
    amount = limits.public_client_per_minute_per_address if is_public else limits.token_per_minute_per_client
    if amount:
        count_against(context, name, Rate(amount, 60), client.client_id, context.network)


def check_refusals(context: Context, client_id: str) -> None:
    """Raise SlowDown for an address that was refused too often, before its secret is compared."""
    limits, tenant_id = context.services.limits, context.tenant.tenant_id
    try:
        limits.refuse_over_limit("oauth.refused_client", REFUSED_CLIENT, tenant_id, client_id, context.network)
        limits.refuse_over_limit("oauth.refused_address", REFUSED_ADDRESS, tenant_id, context.network)
    except OverLimit as over:
        raise SlowDown(retry_after_seconds=over.retry_after_seconds) from None


def count_refusal(context: Context, client_id: str) -> None:
    """Count a refusal of the client and the address; raises SlowDown."""
    count_against(context, "oauth.refused_client", REFUSED_CLIENT, client_id, context.network)
    count_against(context, "oauth.refused_address", REFUSED_ADDRESS, context.network)
