"""docs/tokens.md states the claims of real tokens, the lifetimes of the code, and a check that works."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from joserfc import jws

from app.contract.applications.settings import ApplicationSettings
from app.contract.tenants.settings import TenantSettings
from app.identity.protocols.oauth.claims import account_claims, organization_claims
from app.identity.protocols.oauth.tokens import authorization_codes
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in
from tests.support.services.identity_service import before_the_store
from tests.support.sources import text

PAGE = text(Path("docs/tokens.md"))


def table(name: str) -> set[str]:
    """Return the claims in the first column of a marked table."""
    rows = PAGE.partition(f"<!-- claims of: {name} -->")[2].partition("<!-- end of claims -->")[0]
    return {claim for row in re.findall(r"^\| (`[^|]*)\|", rows, re.MULTILINE) for claim in re.findall(r"`(\w+)`", row)}


def example(heading: str) -> set[str]:
    """Return the members of the JSON example below a heading."""
    block = PAGE.partition(f"\n## {heading}\n")[2].partition("```json\n")[2].partition("```")[0]
    return set(re.findall(r'^  "(\w+)":', block, re.MULTILINE))


def issued(
    client: RelyingParty, browser: Browser, ada: Person, scope: str = "openid profile email address"
) -> dict[str, Any]:
    stored: dict[str, Any] = client.redeem(browser.code(client, ada, scope=scope, nonce="n-0S6_WzA2Mj")).get_json()
    return stored


@before_the_store
def test_id_token_has_the_claims_of_its_table(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = set(claims_in(issued(shop, browser, ada)["id_token"]))
    assert table("id_token") == stored
    assert example("ID token") == stored


@before_the_store
def test_access_token_has_the_claims_of_its_table(
    machine_readable: RelyingParty, browser: Browser, ada: Person
) -> None:
    token = issued(machine_readable, browser, ada)["access_token"]
    assert table("access_token") == set(claims_in(token))
    assert example("JWT access token") == set(claims_in(token))
    assert jws.extract_compact(token.encode()).headers()["typ"] == "at+jwt"


@before_the_store
def test_check_of_the_page_accepts_the_token_alone(
    machine_readable: RelyingParty, browser: Browser, ada: Person
) -> None:
    stored = issued(machine_readable, browser, ada)
    code: dict[str, Any] = {}
    exec(re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0], code)
    keys = machine_readable.get("/service/oidc/jwks").json
    issuer = claims_in(stored["id_token"])["iss"]
    accepted = code["checked"](stored["access_token"], keys, issuer, machine_readable.client_id)
    assert accepted["sub"] == ada.uid
    for token, audience in ((stored["id_token"], machine_readable.client_id), (stored["access_token"], "another")):
        with pytest.raises(Exception, match=r"not an access token|aud"):
            code["checked"](token, keys, issuer, audience)


@before_the_store
def test_userinfo_has_the_members_of_the_example(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    body = shop.userinfo(issued(shop, browser, ada)["access_token"]).get_json()
    assert example("Userinfo") == set(body)


def test_scopes_have_the_claims_of_their_table() -> None:
    rows = PAGE.partition("<!-- claims of: scopes -->")[2].partition("<!-- end of claims -->")[0]
    stated = {
        scope: tuple(re.findall(r"`(\w+)`", names))
        for scope, names in re.findall(r"^\| `(\w+)` \|(.*)\|$", rows, re.MULTILINE)
    }
    assert stated == dict(account_claims.CLAIMS_OF_SCOPES)
    assert table("organization") == set(organization_claims.NAMES)


def test_lifetimes_are_those_of_the_code() -> None:
    application, tenant = ApplicationSettings(name="desk"), TenantSettings()
    stated = dict(re.findall(r"^\| ([a-zA-Z ]+?) \|[^|]*\| ([^|]+?) \|", PAGE, re.MULTILINE))
    assert stated["Authorization code"] == f"{authorization_codes.LIFETIME.seconds} seconds"
    assert stated["ID token"] == f"{application.id_token_seconds // 3600} hour"
    assert stated["Logout token"] == f"{application.logout_token_seconds // 3600} hour"
    assert stated["Access token"] == f"{tenant.access_token_minutes} minutes"
    assert stated["Refresh token"] == f"{tenant.refresh_token_minutes // 1440} days"
    assert f"({tenant.token_absolute_days})" in PAGE
