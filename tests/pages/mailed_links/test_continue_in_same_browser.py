"""A link opened in the browser that asked for it continues without a click; in any other browser a person presses the button.

The attacks: an attacker starts the journey with the victim's address, or leads the victim's browser to a link of the
attacker's own account.
"""

from __future__ import annotations

import pytest

from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.journeys.link_handoff import ADA, PASSWORD, Journey
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

EVE = "eve@example.com"
KINDS = pytest.mark.parametrize("kind", ["verification", "sign-in link"])
BUTTONS = {"verification": "Verify", "sign-in link": "Sign in"}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(passwordless_email=True)


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


def continues(page: VisitedPage) -> bool:
    """Return whether the page's script presses its button."""
    is_marked, is_run = "data-continue" in page.html, ".continue." in page.html
    assert is_marked == is_run, "form and script agree"
    return is_marked


def with_interaction(link: str, interaction_id: str) -> str:
    """Return the link with another interaction in its address."""
    address, _, query = link.partition("?")
    others = [part for part in query.split("&") if part and not part.startswith("attempt=")]
    return f"{address}?{'&'.join([*others, f'attempt={interaction_id}'])}"


@KINDS
def test_link_continues_in_the_browser_that_asked(kind: str, world: World, visitor: Visitor) -> None:
    journey = Journey(kind, world, visitor)
    page = visitor.open(journey.link)
    assert continues(page)
    assert "Nothing happens until you continue" not in page.text
    assert journey.state == "waits", "the GET itself spends nothing"
    assert page.press(BUTTONS[kind]).query["code"], "the button stays, for browsers without scripts"


@KINDS
def test_attackers_journey_needs_the_victims_click(
    kind: str, world: World, visitor: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    """The attacker starts the journey with the victim's address; the link reaches the victim's browser."""
    journey = Journey(kind, world, visitor)
    page = new_visitor_at(world).open(journey.link)
    assert not continues(page)
    assert "Nothing happens until you continue" in page.text
    assert journey.state == "waits"


@KINDS
def test_victims_own_journey_does_not_lend_itself(
    kind: str, world: World, visitor: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    """The victim's browser waits for a link of its own; the attacker transplants its interaction into another link."""
    attackers = Journey(kind, world, visitor)
    victim = new_visitor_at(world)
    start = victim.open(f"/sign-in/mail?attempt={_interaction(world, victim)}")
    waiting = start.press("Email me a link", identifier=EVE)
    for link in (attackers.link, with_interaction(attackers.link, waiting.query["attempt"])):
        assert not continues(victim.open(link))
    assert not victim.cookies("session")


@KINDS
def test_attackers_interaction_cannot_be_transplanted(
    kind: str, world: World, visitor: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    """Login CSRF: the attacker leads the victim to the link of the attacker's account, with the attacker's interaction."""
    journey, victim = Journey(kind, world, visitor), new_visitor_at(world)
    own = _interaction(world, victim)
    for attempt in (journey.page.query["attempt"], own):
        assert not continues(victim.open(with_interaction(journey.link, attempt)))
    assert continues(visitor.open(with_interaction(journey.link, journey.page.query["attempt"]))), (
        "the address is right"
    )
    assert not victim.cookies("session")


@KINDS
def test_foreign_site_cannot_start_a_journey(
    kind: str, world: World, new_visitor_at: NewVisitorAt, visitor: Visitor
) -> None:
    """No GET asks for a link, and a foreign form has no token: so no browser waits for a link that its owner did not ask for."""
    attempt = _interaction(world, visitor)
    path, field = {"verification": ("/register", "email"), "sign-in link": ("/sign-in/mail", "identifier")}[kind]
    hint = f"{path}?attempt={attempt}&{field}={EVE}&login_hint={EVE}"
    visitor.open(hint)
    visitor.send("POST", hint, {field: EVE, "password": PASSWORD, "attempt": attempt})
    assert mails_to(world.services, world.tenant_id, EVE) == []


@KINDS
def test_signed_in_browser_asks_before_it_switches(
    kind: str, world: World, visitor: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    journey, eve = Journey(kind, world, visitor), world.person(EVE)
    login = visitor.open("/login")
    login.press("Sign in", identifier=eve.email, password=eve.password)
    assert visitor.cookies("session")
    assert not continues(visitor.open(journey.link))


@KINDS
@pytest.mark.parametrize(
    "headers",
    [{"Sec-Purpose": "prefetch;prerender"}, {"Purpose": "prefetch"}, {"User-Agent": "SafeLinks preview"}],
    ids=["prerender", "prefetch", "scanner"],
)
def test_prefetched_page_needs_a_click(kind: str, world: World, visitor: Visitor, headers: dict[str, str]) -> None:
    journey = Journey(kind, world, visitor)
    assert not continues(visitor.open(journey.link, **headers))
    assert continues(visitor.open(journey.link))


@KINDS
def test_page_after_an_error_needs_a_click(kind: str, world: World, visitor: Visitor) -> None:
    """A page that answers a post never presses its button: an error would become a loop."""
    page = visitor.open(Journey(kind, world, visitor).link)
    refused = page.press(BUTTONS[kind], token="x")
    assert "We couldn’t verify your request" in refused.text
    assert not continues(refused)


def test_contested_address_asks_for_the_password(world: World, visitor: Visitor, new_visitor_at: NewVisitorAt) -> None:
    """Two browsers signed up with the address: a link continues by itself only where its own sign-up was typed."""
    first, other = Journey("verification", world, visitor), new_visitor_at(world)
    first_link = first.link
    pass_time(world.services, seconds=31)
    other.open("/register").press("Create account", email=ADA, password="Teapot-zebra-91")
    second_link = link_in(mails_to(world.services, world.tenant_id, ADA)[-1])
    assert not continues(other.open(first_link))
    assert not continues(visitor.open(second_link))
    assert continues(visitor.open(first_link))


@KINDS
def test_used_link_does_not_continue(kind: str, world: World, visitor: Visitor) -> None:
    link = Journey(kind, world, visitor).link
    visitor.open(link).press(BUTTONS[kind])
    assert not continues(visitor.open(link))


def _interaction(world: World, visitor: Visitor) -> str:
    """Start a sign-in in this browser and return its interaction's id."""
    shop = world.application("other", client_uri="https://other.example/")
    return visitor.authorize(shop).query["attempt"]
