"""Each field of an organization's connection is in force at a sign-in."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlsplit

import pytest

from tests.support.fakes.identity_provider import ReceivedRequest
from tests.support.organizations.connected_organization import DOMAIN, MINA, ConnectedOrganization
from tests.support.organizations.management import PATH
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import VisitedPage

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/api covers both databases


def redirected(globex: ConnectedOrganization, name: str) -> str:
    """Return a parameter of the authorization request."""
    return dict(parse_qsl(urlsplit(globex.begin().address).query)).get(name, "")


def token_request(globex: ConnectedOrganization, path: str = "/token") -> ReceivedRequest:
    globex.sign_in()
    return next(request for request in globex.provider.received if request.path == path)


def basic_secret(globex: ConnectedOrganization) -> str:
    """Return the secret of HTTP Basic authentication (RFC 6749 section 2.3.1)."""
    header = token_request(globex).headers.get("Authorization", "").removeprefix("Basic ")
    return unquote_plus(base64.b64decode(header).decode().partition(":")[2])


def profile(globex: ConnectedOrganization, **claims: Any) -> dict[str, Any]:
    globex.sign_in(**claims)
    account = globex.account()
    assert account is not None
    found: dict[str, Any] = answered(globex.business.tenant.send("GET", f"/identity/v2/manage/account/{account.uid}"))
    return found


def requests_after_sign_in(globex: ConnectedOrganization, path: str) -> int:
    globex.sign_in(email=None, groups=None)
    return globex.provider.requests_to(path)


Effect = Callable[[ConnectedOrganization], object]
FIELDS: dict[str, tuple[str, object, Effect]] = {
    "AuthorizationUrl": ("{url}/other", "/other", lambda globex: urlsplit(globex.begin().address).path),
    "TokenUrl": ("{url}/other", 1, lambda globex: requests_after_sign_in(globex, "/other")),
    "UserInfoUrl": ("{url}/other", 1, lambda globex: requests_after_sign_in(globex, "/other")),
    "ClientId": ("another client", "another client", lambda globex: redirected(globex, "client_id")),
    "ClientSecret": ("another secret", "another secret", basic_secret),
}
"""By field: another value, and what it changes."""
IN_OTHER_TESTS = {
    "Id", "CreatedDate", "ModifiedDate", "RedirectURI",  # generated; the tests of sign-ins follow RedirectURI
    "Name", "ConnectionType",  # for people who manage it; a sign-in shows the organization's name
    "IsActive", "GroupRoles",  # operations of their own
}  # fmt: skip
SAML = {
    "IDPEntityId", "IDPMetadataUrl", "IsIDPInitiated", "IDPCertificate", "EntityId", "MetadataUrl", "ACSEndpoint", "SPCertificate",
}  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
def test_changed_field_changes_the_sign_in(globex: ConnectedOrganization, field: str) -> None:
    value, expected, effect = FIELDS[field]
    assert effect(globex) != expected
    globex.provider.received.clear()
    globex.visitor = globex.new_visitor_at(globex.tenant)
    secret = (
        {"ClientSecret": "another secret"} if field == "TokenUrl" else {}
    )  # a new address does not get the present one
    globex.change(**{field: value.format(url=globex.provider.url), **secret})
    assert effect(globex) == expected


def test_issuer_is_the_one_whose_tokens_are_accepted(globex: ConnectedOrganization) -> None:
    assert globex.sign_in().heading == "Profile"
    issuer = f"{globex.provider.url}/other"
    document = json.dumps({**globex.provider.configuration(), "issuer": issuer}).encode()
    globex.provider.answers["/other/.well-known/openid-configuration"] = (200, {}, document)
    globex.change(Issuer=issuer)
    assert "Sign-in didn’t finish" in globex.sign_in_anew().text
    globex.provider.claims, globex.provider.back = {"iss": issuer}, {"iss": issuer}
    assert globex.sign_in_anew().heading == "Profile"


def test_scopes_are_requested(globex: ConnectedOrganization) -> None:
    assert redirected(globex, "scope") == "openid email profile"
    globex.change(Scopes=["openid", "email", "groups"])
    assert redirected(globex, "scope") == "openid email groups"


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_client_authenticates_by_the_configured_method(globex: ConnectedOrganization, method: str) -> None:
    globex.change(TokenAuthMethod=method)
    request = token_request(globex)
    sent = "client_secret_basic" if "Authorization" in request.headers else "client_secret_post"
    assert (sent, "client_secret" in request.form) == (method, method == "client_secret_post")


def test_domain_is_the_hint_and_leads_to_the_connection(globex: ConnectedOrganization) -> None:
    assert redirected(globex, "domain_hint") == DOMAIN
    other = "globex-gardens.example"
    domains = [{"DomainName": name, "IsVerified": True} for name in (DOMAIN, other)]
    answered(globex.business.send("PUT", f"{PATH}/{globex.org}", {"Domains": domains}))
    globex.change(Domain=other)
    assert redirected(globex, "domain_hint") == other
    shop = globex.tenant.application("shop", client_name="Shop")
    hinted = {name: globex.visitor.authorize(shop, domain_hint=name) for name in (DOMAIN, other)}
    assert hinted[DOMAIN].is_sign_in
    assert hinted[other].address.startswith(f"{globex.provider.url}/authorize")


def mapped(globex: ConnectedOrganization, field: str, attribute: Any, **claims: Any) -> VisitedPage:
    globex.change(Attributes={field: attribute})
    return globex.sign_in(**claims)


@pytest.mark.parametrize("is_mapped", [False, True])
def test_attribute_of_the_id_names_the_person(globex: ConnectedOrganization, *, is_mapped: bool) -> None:
    mapped(globex, "ID", "oid" if is_mapped else "sub", oid="o-7")
    assert globex.linked() == [(globex.id, "o-7" if is_mapped else MINA["sub"])]


@pytest.mark.parametrize("is_mapped", [False, True])
def test_attribute_of_the_email_is_read(globex: ConnectedOrganization, *, is_mapped: bool) -> None:
    page = mapped(globex, "Email", "mail" if is_mapped else "email", mail=MINA["email"], email=None)
    assert (page.heading == "Profile") is is_mapped


@pytest.mark.parametrize(("field", "name"), [("FirstName", "Wilhelmina Harker"), ("LastName", "Mina Wilhelmina")])
def test_attribute_of_a_name_fills_it(globex: ConnectedOrganization, field: str, name: str) -> None:
    assert mapped(globex, field, "called", called="Wilhelmina").profile_name == name


@pytest.mark.parametrize("is_mapped", [False, True])
def test_attribute_of_groups_is_read(globex: ConnectedOrganization, *, is_mapped: bool) -> None:
    editor = globex.business.role("Editor", org=globex.org)
    globex.group_role("editors", editor)
    mapped(globex, "Groups", "teams" if is_mapped else "groups", teams=["editors"])
    assert (editor in globex.roles()) is is_mapped


def test_custom_mapping_fills_the_profile(globex: ConnectedOrganization) -> None:
    globex.change(Attributes={"CustomMapping": {"Company": "org"}})
    (identity,) = profile(globex, org="Globex AG")["Identities"]
    assert identity["Company"] == "Globex AG"


def test_every_field_of_a_connection_is_covered(globex: ConnectedOrganization) -> None:
    shown = globex.connection.keys() - SAML
    in_tests = {"Issuer", "Scopes", "TokenAuthMethod", "Domain", "Attributes"}
    assert shown == FIELDS.keys() | IN_OTHER_TESTS | in_tests
    assert globex.connection["Attributes"].keys() == {"ID", "Email", "FirstName", "LastName", "Groups", "CustomMapping"}
