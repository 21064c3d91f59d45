"""The password form signs people of a directory in, as a provider would without leaving the page."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.accounts.mailbox import mails_to
from tests.support.fakes import silent_directory
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import World
from tests.support.services.slapd import HOST, PASSWORD, Slapd
from tests.support.tenants.tenant_server import TenantServer
from tests.support.visitors.visitor import NewVisitorAt, Visitor

Corp = Callable[..., None]
WRONG = "Wrong email or password."


@pytest.mark.both_databases
def test_form_signs_in_and_continues_the_request(corp: Corp, visitor: Visitor, shop: RelyingParty) -> None:
    corp()
    page = visitor.authorize(shop, state="of the app").sign_in("ada@corp.test", PASSWORD)
    assert page.address.startswith("https://shop.example/cb?")
    assert (page.query["state"], "code" in page.query) == ("of the app", True)


def test_form_without_a_request_leads_to_the_profile(corp: Corp, visitor: Visitor) -> None:
    corp()
    page = visitor.open("/login").sign_in("Ada@Corp.test", PASSWORD)
    assert (page.heading, "Ada" in page.text) == ("Profile", True)


def test_username_form_signs_in(corp: Corp, visitor: Visitor, tenant: TenantServer) -> None:
    tenant.change_settings(username_login=True, email_login=True)
    corp(AcceptsUsernames=True)
    assert visitor.open("/login").sign_in("ada", PASSWORD).heading == "Profile"


@pytest.mark.parametrize("identifier_first", [True, False])
def test_wrong_password_and_unknown_login_show_one_page(
    corp: Corp, visitor: Visitor, tenant: TenantServer, identifier_first: bool
) -> None:
    tenant.change_settings(identifier_first=identifier_first)
    corp()
    pages = [
        visitor.open("/login").sign_in(email, "wrong one").comparable_text(email)
        for email in ("ada@corp.test", "ava@corp.test")
    ]
    assert pages[0] == pages[1]
    assert WRONG in pages[0]


def test_domain_stays_on_the_password_form(corp: Corp, visitor: Visitor, tenant: TenantServer) -> None:
    tenant.change_settings(identifier_first=True)
    corp()
    page = visitor.open("/login").at_password("ada@corp.test")
    assert "Password" in page.text


def test_turned_off_person_reads_why(corp: Corp, visitor: Visitor, directory: Slapd) -> None:
    corp()
    directory.add_person("gone", userAccountControl="514")
    assert "Account disabled" in visitor.open("/login").sign_in("gone@corp.test", PASSWORD).text


def test_directory_that_does_not_answer_has_a_reference(corp: Corp, visitor: Visitor, shop: RelyingParty) -> None:
    with silent_directory.server(lambda *_: None) as port:
        corp(ServerUrl=f"ldaps://{HOST}:{port}")
        page = visitor.authorize(shop).sign_in("ada@corp.test", PASSWORD)
    assert "This provider isn’t responding" in page.text
    assert page.query["reference"] in page.text


def test_required_fields_are_asked_once(corp: Corp, visitor: Visitor, tenant: TenantServer) -> None:
    """As for every provider: the registration page has what the directory said."""
    tenant.change_settings(
        registration_form=[{"name": "email", "required": True}, {"name": "company", "required": True}]
    )
    corp()
    page = visitor.open("/login").sign_in("ada@corp.test", PASSWORD)
    assert "/register" in page.address
    assert "ada@corp.test" in page.html


def test_second_factor_follows_the_directory(corp: Corp, visitor: Visitor, tenant: TenantServer) -> None:
    tenant.change_settings(two_factor="required")
    corp()
    page = visitor.open("/login").sign_in("ada@corp.test", PASSWORD)
    assert "code" not in page.query
    assert page.heading != "Profile"


def test_person_changes_the_password_in_the_directory(
    corp: Corp, visitor: Visitor, directory: Slapd, world: World, new_visitor_at: NewVisitorAt
) -> None:
    corp(PasswordChange="ExtendedOperation")
    directory.add_person("pager")
    visitor.open("/login").sign_in("pager@corp.test", PASSWORD)
    page = visitor.open("/change-password")
    wrong = page.press("Save password", old_password="wrong", new_password="Zebra-kettle-91")
    assert "Wrong password." in wrong.text
    page = visitor.open("/change-password").press(
        "Save password", old_password=PASSWORD, new_password="Zebra-kettle-91"
    )
    assert "/security" in page.address
    other = new_visitor_at(world)
    assert WRONG in other.open("/login").sign_in("pager@corp.test", PASSWORD).text
    assert other.open("/login").sign_in("pager@corp.test", "Zebra-kettle-91").heading == "Profile"


def test_page_names_where_the_password_is_changed(corp: Corp, visitor: Visitor) -> None:
    corp(PasswordUrl="https://password.corp.test/")
    visitor.open("/login").sign_in("ada@corp.test", PASSWORD)
    page = visitor.open("/change-password").press(
        "Save password", old_password=PASSWORD, new_password="Zebra-kettle-91"
    )
    assert "Change it at https://password.corp.test/." in page.text


def test_forgotten_password_of_the_domain_is_not_mailed(corp: Corp, visitor: Visitor, world: World) -> None:
    """The domain decides, so that the page is the same for people and for unknown addresses."""
    corp(PasswordUrl="https://password.corp.test/")
    visitor.open("/login").sign_in("ada@corp.test", PASSWORD)
    visitor.forget("session")
    for email in ("ada@corp.test", "nobody@corp.test"):
        page = visitor.open("/forgot-password").press("Send reset link", identifier=email)
        assert "Change it at https://password.corp.test/." in page.text
        subjects = [mail["subject"] for mail in mails_to(world.services, world.tenant_id, email)]
        assert not any("password" in subject for subject in subjects)
    assert "/sent" in visitor.open("/forgot-password").press("Send reset link", identifier="a@example.test").address
