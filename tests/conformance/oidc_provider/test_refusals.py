"""What npm oidc-provider refuses: the person's page has a reference, and `gatehouse why` names the check."""

from __future__ import annotations

import re

import pytest

from tests.conformance.oidc_provider.connected import KINDS, NewUpstreamConnection, UpstreamConnection
from tests.support.services.identity_service import on_one_database
from tests.support.visitors.visitor import VisitedPage, Visitor

pytestmark = [on_one_database, pytest.mark.parametrize("kind", KINDS, indirect=True)]


def explained(connection: UpstreamConnection, page: VisitedPage) -> str:
    """Return what `gatehouse why` prints for the reference of a page."""
    (reference,) = re.findall(r"mention this ID: ?([B-Z]{4}-[B-Z]{4}-[B-Z]{4})", page.text)
    return connection.why(reference)


def assert_nothing_happened(connection: UpstreamConnection, visitor: Visitor) -> None:
    assert connection.uids() == []
    assert visitor.open("/profile").is_sign_in


def test_canceled_sign_in_is_explained(new_connection: NewUpstreamConnection) -> None:
    connection = new_connection()
    visitor = connection.visitor()
    page = visitor.open(connection.at_provider().cancel(connection.begin(visitor)))
    assert "Sign-in canceled" in page.text
    told = explained(connection, page)
    assert "failed check:   authorization_answer" in told
    assert "access_denied" in told
    assert_nothing_happened(connection, visitor)


def test_wrong_client_secret_is_explained(new_connection: NewUpstreamConnection) -> None:
    connection = new_connection(secret="another secret")
    visitor = connection.visitor()
    page = connection.sign_in(visitor, connection.at_provider())
    assert "Sign-in method unavailable" in page.text
    told = explained(connection, page)
    assert "failed check:   token_endpoint" in told
    assert "invalid_client" in told
    assert "another secret" not in told
    assert_nothing_happened(connection, visitor)


def test_session_that_ended_at_the_provider_is_explained(new_connection: NewUpstreamConnection) -> None:
    """The provider drops the codes of a session that ends before they are exchanged."""
    connection = new_connection()
    visitor, person = connection.visitor(), connection.at_provider()
    callback = person.sign_in(connection.begin(visitor))
    person.sign_out()
    page = visitor.open(callback)
    told = explained(connection, page)
    assert "failed check:   code" in told
    assert "`RedirectURI` of an organization’s connection" in told
    assert "invalid_grant" in told
    assert_nothing_happened(connection, visitor)


def test_unregistered_redirect_uri_stays_at_the_provider(new_connection: NewUpstreamConnection) -> None:
    """The provider shows its own page and sends nobody back, so that nothing is recorded; our page still works."""
    connection = new_connection(redirect_uri="https://elsewhere.example/callback")
    visitor = connection.visitor()
    ada = connection.tenant.person("ada@elsewhere.example")
    answer = connection.at_provider().open(connection.begin(visitor))
    assert answer.status_code == 400
    assert "redirect_uri" in answer.text
    assert connection.failed_checks() == []
    assert visitor.open("/login").sign_in(ada.email, ada.password).heading == "Profile"
