"""Rate limits of the OAuth endpoints: 429 with Retry-After, as an OAuth error."""

from app.contract.errors_oauth import SlowDown
from app.identity.directory.tenants import profile_client
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.kit.limits import OverLimit, Rate

PUBLIC_CLIENT = Rate(300, 60)  # an application on a device exchanges its own codes only
REFUSED_CLIENT = Rate(20, 60)  # wrong secrets of one client from one address
REFUSED_ADDRESS = Rate(200, 60)  # and of any clients from it


def spend(context: Context, what: str, rate: Rate, *who: str) -> None:
    """Take one from a window of this tenant; raises SlowDown."""
    try:
        context.services.limits.spend(what, rate, context.tenant.tenant_id, *who)
    except OverLimit as over:
        raise SlowDown(retry_after_seconds=over.retry_after_seconds) from None


def spend_for_visitor(context: Context) -> None:
    """Take one authorization request of the visitor's address; raises the hub's TooManyRequests."""
    amount = context.tenant.settings.limits.authorize_per_minute_per_address
    if amount:
        context.spend("oauth.authorize", Rate(amount, 60), context.network)


def spend_for_client(context: Context, client: Application) -> None:
    """Count one request of a client from its address: a server, including the hub's, calls for many users, a device for one."""
    amount = context.tenant.settings.limits.token_per_minute_per_client
    if client.settings.is_public and client.client_id != profile_client.CLIENT_ID:
        spend(context, "oauth.public_client", PUBLIC_CLIENT, client.client_id, context.network)
    elif amount:
        spend(context, "oauth.client", Rate(amount, 60), client.client_id, context.network)


def demand_trust(context: Context, client_id: str) -> None:
    """Refuse an address that was refused too often, before its secret is looked at; raises SlowDown."""
    limits, tenant_id = context.services.limits, context.tenant.tenant_id
    try:
        limits.demand("oauth.refused_client", REFUSED_CLIENT, tenant_id, client_id, context.network)
        limits.demand("oauth.refused_address", REFUSED_ADDRESS, tenant_id, context.network)
    except OverLimit as over:
        raise SlowDown(retry_after_seconds=over.retry_after_seconds) from None


def spend_trust(context: Context, client_id: str) -> None:
    """Count a refusal; raises SlowDown."""
    spend(context, "oauth.refused_client", REFUSED_CLIENT, client_id, context.network)
    spend(context, "oauth.refused_address", REFUSED_ADDRESS, context.network)
