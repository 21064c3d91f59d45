"""Limits of the OAuth endpoints, answered in OAuth's own words: 429 with Retry-After."""

from app.contract.errors_oauth import SlowDown
from app.identity.call import Call
from app.kit.limits import OverLimit, Rate

TOKEN_PER_CLIENT = Rate(6_000, 60)  # one relying party's server exchanges the codes of all its people from one address
TOKEN_PER_PUBLIC_CLIENT = Rate(300, 60)  # an application on a device exchanges its own
REFUSED_CLIENT = Rate(20, 60)  # wrong secrets of one client from one address


def spend(call: Call, what: str, rate: Rate, *who: str) -> None:
    """Take one from a window of this tenant; raises SlowDown."""
    try:
        call.house.limits.spend(what, rate, call.tenant.tenant_id, *who)
    except OverLimit as over:
        raise SlowDown(retry_after_seconds=over.retry_after_seconds) from None


def demand(call: Call, what: str, rate: Rate, *who: str) -> None:
    """Refuse where the window is used up already, without taking from it; raises SlowDown."""
    try:
        call.house.limits.demand(what, rate, call.tenant.tenant_id, *who)
    except OverLimit as over:
        raise SlowDown(retry_after_seconds=over.retry_after_seconds) from None
