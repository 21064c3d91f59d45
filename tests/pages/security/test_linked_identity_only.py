"""An account with only a linked identity reauthenticates by mail when the provider cannot, and sets a password."""

from __future__ import annotations

import pytest

from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.fakes.identity_provider import ADA, FakeProvider
from tests.support.oauth.world import NewWorld
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitorAt

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)
START_URL = "/sign-in/with?provider=globex"


def test_mailed_link_reauthenticates_and_password_is_set(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> None:
    email, verified = {"email": "email"}, {"email_verified": "email_verified"}
    connection = fake_provider.oauth2(title="Globex", trusts_email=True, claims={"subject": "id", **email, **verified})
    tenant = new_world(connections={"globex": connection}, passwordless_email=True)
    fake_provider.userinfo = {"email": ADA["email"], "email_verified": True}
    visitor = new_visitor_at(tenant)
    visitor.open(fake_provider.callback_url(visitor.open(START_URL).address))
    assert visitor.open("/set-password").form("Save password").fields
    pass_time(tenant.services, minutes=6)
    page = visitor.open("/set-password")
    assert page.heading == "Confirm it’s you"
    assert "Globex" not in page.text
    page.follow("Get an email link").press("Email me a link")
    page = visitor.open(link_in(mails_to(tenant.services, tenant.tenant_id, ADA["email"])[-1])).press("Sign in")
    page = page.press("Save password", new_password="Quartz-lantern-58")
    assert page.address.endswith("/security?done=password-set")
