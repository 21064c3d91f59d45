"""The page on which a person allows a device without a browser (RFC 8628)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.contract.applications.file import DEVICE_GRANT
from app.hub.components.qr_codes import qr_code
from tests.support.oauth.registrations import Registrar
from tests.support.oauth.relying_party import Person, RelyingParty
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitor, NewVisitorAt, VisitedPage, Visitor, is_empty_with_focus


@pytest.fixture
def tv(world: World) -> RelyingParty:
    return world.application(
        "tv", secret=None, client_name="Acme TV", grant_types=[DEVICE_GRANT, "refresh_token"], redirect_uris=[]
    )


@pytest.fixture
def started(tv: RelyingParty) -> dict[str, Any]:
    answer = tv.start_device(scope="openid email")
    assert answer.status_code == 200, answer.text
    return answer.json or {}


def question(visitor: Visitor, person: Person, stored: dict[str, Any]) -> VisitedPage:
    page = visitor.open("/device").press("Continue", user_code=stored["user_code"])
    return page.press("Sign in", identifier=person.email, password=person.password)


def test_person_types_the_code_signs_in_and_connects_the_device(
    tv: RelyingParty, visitor: Visitor, ada: Person, started: dict[str, Any]
) -> None:
    page = question(visitor, ada, started)
    assert page.heading == "Connect Acme TV ?"
    for shown in ("Acme TV", ada.email, started["user_code"], tv.address):
        assert shown in page.text
    done = page.press("Connect device")
    assert (done.status, done.heading) == (200, "Device connected")
    assert tv.poll(started["device_code"]).status_code == 200


def test_denied_device_is_not_connected(
    tv: RelyingParty, visitor: Visitor, ada: Person, started: dict[str, Any]
) -> None:
    page = question(visitor, ada, started)
    assert page.press("Don’t allow").heading == "Device not connected"
    assert (tv.poll(started["device_code"]).json or {})["error"] == "access_denied"
    again = page.press("Connect device")
    assert again.heading == "Device not connected", "Back does not change the answer"
    assert "You denied this request earlier" in again.text


def test_connected_device_is_not_asked_again(
    tv: RelyingParty, visitor: Visitor, ada: Person, started: dict[str, Any]
) -> None:
    page = question(visitor, ada, started)
    assert "earlier" not in page.press("Connect device").text
    for again in (visitor.open(page.address), page.press("Connect device"), page.press("Don’t allow")):
        assert (again.status, again.heading) == (200, "Device already connected")
        assert "You connected this device earlier" in again.text
        assert again.follow("Enter code").heading == "Connect a device"
    assert tv.poll(started["device_code"]).status_code == 200


@pytest.mark.parametrize("path", ["/device", "/service/oidc/device/authorize", "/service/oidc/tv/device/authorize"])
def test_code_of_the_address_is_filled_in_and_never_sent(
    tv: RelyingParty, visitor: Visitor, ada: Person, started: dict[str, Any], path: str
) -> None:
    """RFC 8628 section 3.3.1: a person compares it; opening the address of a QR code does nothing."""
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    page = visitor.open(f"{path}?client_id={tv.client_id}&user_code={started['user_code']}")
    assert page.form("Continue").fields["user_code"] == started["user_code"]
    assert (tv.poll(started["device_code"]).json or {})["error"] == "authorization_pending"
    assert page.press("Continue").heading == "Connect Acme TV ?"


@pytest.mark.parametrize(
    ("typed", "error"), [("", "Enter the code shown on your device."), ("BBBB-BBBB", "Wrong or expired code.")]
)
def test_wrong_code_has_an_error_at_the_field(visitor: Visitor, typed: str, error: str) -> None:
    page = visitor.open("/device").press("Continue", user_code=typed)
    assert (page.status, page.heading) == (422, "Connect a device")
    assert error in page.text
    assert is_empty_with_focus(page, "user_code"), "a new code would be typed before the wrong one"


def test_too_many_codes_are_refused_calmly(visitor: Visitor) -> None:
    pages = [visitor.open("/device").press("Continue", user_code="BBBB-BBBB") for _ in range(21)]
    assert (pages[0].status, pages[-1].status, pages[-1].heading) == (422, 429, "Too many attempts")


def test_expired_question_offers_a_new_code(
    visitor: Visitor, new_visitor: NewVisitor, ada: Person, started: dict[str, Any]
) -> None:
    page = question(visitor, ada, started)
    question(new_visitor(), ada, started).press("Connect device")
    expired = page.press("Connect device")
    assert expired.heading == "Code expired"
    assert visitor.open("/device/done?state=%3Cscript%3E").heading == "Code expired"


def test_foreign_form_token_connects_nothing(
    tv: RelyingParty, visitor: Visitor, new_visitor: NewVisitor, ada: Person, started: dict[str, Any]
) -> None:
    page = question(visitor, ada, started)
    token = new_visitor().open("/login").form("Sign in").fields["token"]
    assert page.press("Connect device", token=token).status == 403
    assert (tv.poll(started["device_code"]).json or {})["error"] == "authorization_pending"


def test_question_of_another_browser_starts_again(
    visitor: Visitor, new_visitor: NewVisitor, ada: Person, started: dict[str, Any]
) -> None:
    page = question(visitor, ada, started)
    assert "/device/confirm?" in page.address
    assert new_visitor().open(page.address).status == 410


def test_qr_code_leads_to_the_page_with_the_code(tv: RelyingParty, visitor: Visitor, started: dict[str, Any]) -> None:
    """RFC 8628 section 3.3.1: the picture holds `verification_uri_complete`; a device of any site may show it."""
    page = visitor.open(f"/device/qr?user_code={started['user_code']}")
    assert page.answer is not None
    expected = qr_code(started["verification_uri_complete"])
    assert expected.path in page.html
    headers = page.answer.headers
    assert (headers["Content-Type"], headers["Cross-Origin-Resource-Policy"]) == ("image/svg+xml", "cross-origin")
    assert "script" not in page.html
    assert (tv.poll(started["device_code"]).json or {})["error"] == "authorization_pending", "a picture is no visit"


@pytest.mark.parametrize("typed", ["", "AAAA-AAAA", "<svg>", "BBBB-BBBBB", "BBBB", "%22onload%3D1", "ßßßß-ßßßß"])
def test_qr_code_is_drawn_for_codes_alone(visitor: Visitor, typed: str) -> None:
    assert visitor.open(f"/device/qr?user_code={typed}").status == 404


def test_qr_code_is_drawn_for_unknown_codes_too(visitor: Visitor, started: dict[str, Any]) -> None:
    known, unknown = (visitor.open(f"/device/qr?user_code={code}") for code in (started["user_code"], "BBBB-BBBB"))
    assert (known.status, unknown.status) == (200, 200)
    assert unknown.cost.get("sql", 0) == 0


def test_consent_of_a_self_registered_device_is_not_remembered(
    new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    world = new_world(client_registration={"mode": "open"})
    ada, registrar = world.person("ada@example.com"), Registrar(world)
    made = registrar.registered(grant_types=[DEVICE_GRANT, "authorization_code"], token_endpoint_auth_method="none")
    calendar, visitor = registrar.relying_party(made), new_visitor_at(world)
    body = calendar.start_device(scope="openid email").json or {}
    page = question(visitor, ada, body)
    assert "Do you know this app?" in page.text
    assert "hasn’t reviewed it" in page.text
    assert page.press("Connect device").heading == "Device connected"
    challenge = {"code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method": "S256"}
    requested = visitor.authorize(calendar, scope="openid email", **challenge)
    assert "wants to use" in requested.heading
    assert "calendar.example" in requested.text


def test_application_of_the_tenant_is_not_marked(visitor: Visitor, ada: Person, started: dict[str, Any]) -> None:
    assert "reviewed" not in question(visitor, ada, started).text


def test_page_shows_what_the_device_asks_to_do(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    """RFC 9396 section 3: the person sees every value before the device gets it."""
    fields = {"amount": {"label": {"en": "Amount"}}}
    world = new_world(authorization_details_types={"payment": {"title": {"en": "Make a payment"}, "fields": fields}})
    till = world.application(
        "till", grant_types=[DEVICE_GRANT], redirect_uris=[], authorization_details_types=["payment"]
    )
    details = [{"type": "payment", "amount": "EUR 12.50", "actions": ["<b>initiate</b>"]}]
    body = till.start_device(authorization_details=json.dumps(details)).json or {}
    page = question(new_visitor_at(world), world.person("ada@example.test"), body)
    assert page.heading == "Connect till ?"
    for shown in ("Make a payment", "Amount", "EUR 12.50"):
        assert shown in page.text
    assert "<bdi>&lt;b&gt;initiate&lt;/b&gt;</bdi>" in page.html
    page.press("Connect device")
    assert (till.poll(body["device_code"]).json or {})["authorization_details"] == details
