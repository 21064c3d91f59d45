"""The statements of a sign-in at a provider of the tenant (docs/bench.md)."""

from __future__ import annotations

import pytest

from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.federated_sign_in import ADA, START_URL
from tests.support.oauth.world import NewWorld
from tests.support.visitors import costs
from tests.support.visitors.visitor import NewVisitorAt


@pytest.mark.both_databases
def test_sign_in_at_a_provider_costs_9_statements(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> None:
    tenant = new_world(connections={"globex": fake_provider.openid(title="Globex", trusts_email=True)})

    def visit() -> list[int]:
        visitor = new_visitor_at(tenant)
        redirected = visitor.open(START_URL)
        count, address = costs.of_opening(visitor, fake_provider.callback_url(redirected.address, **ADA))
        assert address == "/profile"
        return [count]

    assert costs.fewest(visit) == [9]
