"""States of an account in which operations of the profile refuse."""

from __future__ import annotations

from typing import Any

from werkzeug.test import TestResponse

from tests.support.operation_cases.cases import AccountHolder, Act
from tests.support.tenants.tenant_server import answered


def nameless(who: AccountHolder, **more: Any) -> AccountHolder:
    """Create another account that has a username only."""
    stored = who.tenant.create(**{"UserName": f"n{who.username}", **more})
    return AccountHolder(who.tenant, stored["Uid"], who.email, stored["UserName"], who.phone)


def twice(act: Act) -> Act:
    def done(who: AccountHolder) -> TestResponse:
        answered(act(who))
        return act(who)

    return done
