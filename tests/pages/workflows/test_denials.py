"""A workflow refuses people on the pages: each way to sign in shows them why."""

from __future__ import annotations

import pytest

from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.federated_sign_in import FederatedPageUser, link_identity
from tests.support.journeys.passwordless import by_mail, code
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.tenant_server import TenantServer
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor
from tests.support.workflows.drawings import sequence
from tests.support.workflows.running import DENIAL, asking_for_factor, denying, put_in_force, runs, server_of

ADA = "ada@example.com"
HEADING = "You can’t sign in"


@pytest.fixture
def world(new_world: NewWorld, fake_provider: FakeProvider) -> World:
    return new_world(
        passwordless_email=True, connections={"globex": fake_provider.openid(title="Globex", trusts_email=True)}
    )


@pytest.fixture
def server(world: World) -> TenantServer:
    return server_of(world)


@pytest.fixture
def ada(world: World) -> Person:
    return world.person(ADA)


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


def is_signed_in(visitor: Visitor) -> bool:
    return visitor.open("/profile").address.endswith("/profile")


def by_password(page: VisitedPage, ada: Person) -> VisitedPage:
    return page.press("Sign in", identifier=ada.email, password=ada.password)


@pytest.mark.both_databases
def test_password_shows_the_denial(server: TenantServer, visitor: Visitor, ada: Person) -> None:
    put_in_force(server, denying())
    page = by_password(visitor.open("/login"), ada)
    assert page.address.partition("?")[0].endswith("/login")
    assert HEADING in page.text
    assert DENIAL["en"] in page.text
    assert not is_signed_in(visitor)


def test_page_shows_the_text_in_its_language(server: TenantServer, visitor: Visitor, ada: Person) -> None:
    server.change_settings(locales=["en", "de"])
    put_in_force(server, denying())
    visitor.language = "de"
    page = visitor.open("/login").press("Anmelden", identifier=ada.email, password=ada.password)
    assert DENIAL["de"] in page.text
    assert DENIAL["en"] not in page.text


def test_page_names_the_factor_that_the_account_lacks(server: TenantServer, visitor: Visitor, ada: Person) -> None:
    server.change_settings(locales=["en", "de"])
    put_in_force(server, asking_for_factor("account.logins >= 0", "totp"))
    assert "You need an authenticator app here" in by_password(visitor.open("/login"), ada).text
    visitor.language = "de"
    page = visitor.open("/login").press("Anmelden", identifier=ada.email, password=ada.password)
    assert "Hier brauchen Sie eine Authenticator-App" in page.text
    assert not is_signed_in(visitor)


def test_emailed_code_shows_the_denial(world: World, server: TenantServer, visitor: Visitor, ada: Person) -> None:
    put_in_force(server, denying())
    page = by_mail(visitor.open("/login"), ada.email)
    page = page.press("Sign in", code=code(world, ada.email))
    assert DENIAL["en"] in page.text
    assert not is_signed_in(visitor)


def test_provider_shows_the_denial(
    world: World, server: TenantServer, visitor: Visitor, ada: Person, fake_provider: FakeProvider
) -> None:
    user = FederatedPageUser(world, visitor, fake_provider)
    link_identity(world, ada, subject="1")
    put_in_force(server, denying("sign_in.provider == 'globex'"))
    page = user.sign_in(email=ADA)
    assert DENIAL["en"] in page.text
    assert not user.is_in
    assert by_password(visitor.open("/login"), ada).address.endswith("/profile")


def test_denied_confirmation_links_nothing(
    world: World, server: TenantServer, visitor: Visitor, ada: Person, fake_provider: FakeProvider
) -> None:
    user = FederatedPageUser(world, visitor, fake_provider)
    put_in_force(server, denying("'password' in sign_in.methods"))
    page = user.sign_in(email=ada.email).press("Sign in", password=ada.password)
    assert DENIAL["en"] in page.text
    assert page.form("Sign in").fields["identifier"] == ada.email
    assert user.sign_in(email=ada.email).heading == "You already have an account"


def test_application_gets_nothing_after_a_denial(
    world: World, server: TenantServer, visitor: Visitor, ada: Person
) -> None:
    shop = world.application("Shop")
    put_in_force(server, denying("request.application == 'Shop'"))
    page = by_password(visitor.authorize(shop), ada)
    assert DENIAL["en"] in page.text
    assert "Back to Shop" in page.text
    assert not page.follow("Back to sign in").text.count(DENIAL["en"])
    assert by_password(visitor.open("/login"), ada).address.endswith("/profile")


def test_factor_of_a_workflow_completes_the_sign_in(
    world: World, server: TenantServer, visitor: Visitor, ada: Person
) -> None:
    put_in_force(server, asking_for_factor("account.logins >= 0"))
    page = by_password(visitor.open("/login"), ada)
    assert page.heading == "Two-step verification"
    assert page.press("Verify", code=code(world, ada.email)).address.endswith("/profile")
    assert [run["outcome"] for run in runs(server)] == ["factor", "passed"]
    assert runs(server)[-1]["path"] == ["mfa:next", "end"]


def test_markup_in_a_denial_is_text(server: TenantServer, visitor: Visitor, ada: Person) -> None:
    hostile = "5 > 4 & %(name)s {{ 7 * 7 }} &lt;b&gt;"
    put_in_force(server, denying(en=hostile))
    page = by_password(visitor.open("/login"), ada)
    assert hostile in page.text


def test_address_alone_shows_no_denial(world: World, server: TenantServer, visitor: Visitor) -> None:
    put_in_force(server, sequence())
    assert HEADING not in visitor.open("/login?needs=workflow").text
    attempt = visitor.authorize(world.application("Shop")).query["attempt"]
    assert HEADING not in visitor.open(f"/login?needs=workflow&attempt={attempt}").text
