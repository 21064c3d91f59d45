"""npm oidc-provider tells that a person signed out, and the sessions by its connection end."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from tests.conformance.oidc_provider.connected import MINA, ORGANIZATION, NewUpstreamConnection, UpstreamConnection
from tests.support.organizations.connected_organization import DOMAIN
from tests.support.services.identity_service import on_one_database

pytestmark = [
    on_one_database,
    pytest.mark.parametrize("kind", [ORGANIZATION], indirect=True),
]
JONATHAN = f"jonathan.harker@{DOMAIN}"


@pytest.fixture
def connection(new_connection: NewUpstreamConnection, back_channel: int) -> UpstreamConnection:
    made = new_connection()
    parts = urlsplit(made.callback)
    address = f"http://{parts.hostname}:{back_channel}{parts.path.removesuffix('/callback')}/backchannel-logout"
    client_id, secret = made.provider.register(
        made.callback, backchannel_logout_uri=address, backchannel_logout_session_required=True
    )
    assert made.organization is not None
    made.organization.change(ClientId=client_id, ClientSecret=secret)
    return made


def test_sign_out_upstream_ends_the_session(connection: UpstreamConnection) -> None:
    mina, jonathan = connection.at_provider(MINA), connection.at_provider(JONATHAN)
    browsers = connection.visitor(), connection.visitor(), connection.visitor()
    for visitor, person in zip(browsers, (mina, mina, jonathan), strict=True):
        assert connection.sign_in(visitor, person).heading == "Profile"
    mina.sign_out()
    assert [visitor.open("/profile").is_sign_in for visitor in browsers] == [True, True, False]
    assert connection.sign_in(browsers[0], mina).heading == "Profile"
    assert mina.asked == ["login", "consent", "logout", "login", "consent"]
