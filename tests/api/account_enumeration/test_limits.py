"""Limits are used up alike by known and unknown identifiers, also while the windows slide in which they count."""

from __future__ import annotations

from datetime import UTC, datetime

from app.kit.clock import FixedClock
from app.kit.limits.rate_limits import RateLimits
from tests.support.accounts.account_states import PASSWORD, Subject, Summary, unknown_and_known
from tests.support.services.identity_service import before_the_store
from tests.support.tenants.tenant_server import NewTenantServer

PATH = "/identity/v2/auth/password/securityanswer"


def asked_every_minute(who: Subject) -> list[Summary]:
    """Take down wrong answers to a security question from two and a half minutes before a window of ten minutes begins."""
    clock = FixedClock(datetime(2026, 1, 1, 12, 7, 30, tzinfo=UTC))
    who.tenant.services.limits = RateLimits(clock=clock)
    taken = []
    for _ in range(8):
        body = {"email": who.email, "password": PASSWORD, "securityanswer": {"pet": "no"}}
        taken.append(who.taken_down(who.ask("PUT", PATH, body)))
        clock.advance(minutes=1)
    return taken


@before_the_store
def test_sliding_windows_reveal_no_account(new_tenant_server: NewTenantServer) -> None:
    unknown, known = unknown_and_known(new_tenant_server, lockout={"suspend_seconds": 600})
    expected = asked_every_minute(unknown)
    assert [status for status, *_ in expected] == [403, 403, 403, 403, 429, 429, 403, 429]
    for who in known:
        assert asked_every_minute(who) == expected, who.state
