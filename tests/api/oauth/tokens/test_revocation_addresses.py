"""Wherever an application revokes its refresh token, its access tokens end too (decision 0351, RFC 7009 section 2.1)."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.oauth.relying_party import Browser, Person, RelyingParty
from tests.support.oauth.world import World

SCOPE = "openid email offline_access"
ADDRESSES = (
    "/api/oidc/revoke",
    "/api/oidc/Shop/revoke",
    "/sso/oauth/refresh_token/revoke",
    "/sso/oidc/v2/{site}/Shop/token/revoke",
)
MEMBERS = ("token", "refresh_token")


def posted(world: World, client: RelyingParty, address: str, form: dict[str, Any]) -> TestResponse:
    """Post to the tenant's host, or to the API host where the older operations are."""
    base = f"http://{world.services.settings.api_hostname}" if address.startswith("/sso/") else client.hub_url
    query = {"apikey": world.api_key} if address.startswith("/sso/oauth/") else {}
    return world.wsgi.post(address.format(site=world.name), data=form, base_url=base, query_string=query)


@pytest.mark.parametrize("access_token_format", ["opaque", "jwt"])
def test_revoked_refresh_token_ends_its_access_tokens(
    world: World, browser: Browser, ada: Person, access_token_format: str, subtests: pytest.Subtests
) -> None:
    shop = world.application("Shop", access_token_format=access_token_format)
    for address in ADDRESSES:
        for member in MEMBERS:
            with subtests.test(f"{address} {member}"):
                body = shop.redeem(browser.code(shop, ada, scope=SCOPE)).json or {}
                newer = shop.refresh(body["refresh_token"]).json or {}
                assert shop.userinfo(newer["access_token"]).status_code == 200
                form = {member: newer["refresh_token"], **shop.client_credentials()}
                answer = posted(world, shop, address, form)
                assert answer.status_code == 200, answer.text
                ended = [shop.userinfo(item["access_token"]).status_code for item in (body, newer)]
                assert (ended, shop.refresh(newer["refresh_token"]).status_code) == ([401, 401], 400)
