"""Delivery of logout tokens by the outbox: retries, dead letters, safe addresses (Back-Channel Logout 1.0 sections 2.5 and 2.8)."""

import pytest

from app.contract.steps import ConfirmSignOutStep
from app.identity.messaging.senders.backchannel_logout import BackchannelLogout
from app.identity.platform.outbox.sender import DeliveryError, Message
from app.identity.platform.services import IdentityServices
from app.kit.outbound.host_resolver import Resolver
from tests.support.fakes.logout_receiver import LogoutReceiver
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, moved
from tests.support.oauth.world import World

pytestmark = pytest.mark.database_alone  # a worker delivers all due messages of the database


@pytest.fixture
def desk(world: World, receiver: LogoutReceiver) -> RelyingParty:
    return world.application("desk", client_id="desk", backchannel_logout_uri=receiver.address)


def signed_in(browser: Browser, client: RelyingParty, person: Person) -> None:
    assert client.redeem(browser.code(client, person)).status_code == 200


def test_failed_sign_out_posts_nothing(
    world: World, desk: RelyingParty, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    """The token is in the outbox if and only if the session is gone: one transaction."""
    signed_in(browser, desk, ada)
    assert browser.sign_out().kind is ConfirmSignOutStep
    assert receiver.posted(world, desk) == []


@pytest.mark.parametrize("status", [500, 503, 429, 408])
def test_unwell_application_gets_the_token_again(
    services: IdentityServices,
    world: World,
    desk: RelyingParty,
    receiver: LogoutReceiver,
    browser: Browser,
    ada: Person,
    status: int,
) -> None:
    receiver.answers(status)
    signed_in(browser, desk, ada)
    browser.sign_out(confirmed=True)
    receiver.deliver()
    (row,) = receiver.rows(world)
    assert (row.state, row.attempts, row.due_at > services.clock.now()) == ("waiting", 1, True)
    assert f"answered {status}" in row.last_problem
    receiver.answers(204)
    with moved(services, seconds=16):
        receiver.deliver()
    assert [item.state for item in receiver.rows(world)] == ["sent"]
    assert receiver.tokens[0] == receiver.tokens[1], "the application sees one `jti`"


@pytest.mark.parametrize(("status", "headers"), [(400, {}), (404, {}), (302, {"Location": "http://127.0.0.1/"})])
def test_refused_token_is_a_dead_letter(
    world: World,
    desk: RelyingParty,
    receiver: LogoutReceiver,
    browser: Browser,
    ada: Person,
    status: int,
    headers: dict[str, str],
) -> None:
    """Back-Channel Logout 1.0 section 2.8; a redirect is never followed."""
    receiver.answers(status, headers)
    signed_in(browser, desk, ada)
    browser.sign_out(confirmed=True)
    receiver.deliver()
    (row,) = receiver.rows(world)
    assert (row.state, len(receiver.tokens)) == ("dead", 1)
    assert f"answered {status}" in row.last_problem


@pytest.mark.both_databases
def test_expired_token_is_not_sent(
    services: IdentityServices,
    world: World,
    desk: RelyingParty,
    receiver: LogoutReceiver,
    browser: Browser,
    ada: Person,
) -> None:
    signed_in(browser, desk, ada)
    browser.sign_out(confirmed=True)
    with moved(services, seconds=3_601):
        receiver.deliver()
    (row,) = receiver.rows(world)
    assert (row.state, receiver.tokens) == ("dead", [])
    assert "expired" in row.last_problem


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:1/out", "https://169.254.169.254/", "http://[::1]:1/", "http://10.0.0.1/"]
)
def test_token_never_goes_to_a_private_address(services: IdentityServices, address: str) -> None:
    """Tenants choose the address, so it is not trusted (SSRF)."""
    sender = BackchannelLogout(Resolver(resolve=lambda host, port, **_: [(2, 1, 6, "", (host, port))]), services.clock)
    expires_at = int(services.clock.now().timestamp()) + 60
    payload = {"to": address, "logout_token": "a.b.c", "expires_at": expires_at}
    with pytest.raises(DeliveryError) as refusal:
        sender.send(Message("acme", "1", "backchannel_logout", payload, 1, services.clock.now()))
    assert "not public" in str(refusal.value)
