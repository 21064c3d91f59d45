"""Hosts and origins of others are compared in the form that browsers send: punycode, lower case, no port of the scheme's own."""

from __future__ import annotations

import pytest

from app.identity.directory.tenants.urls.allowed_urls import is_allowed, is_allowed_in_mail, is_own
from tests.support.oauth.registrations import Registrar
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.callers import call_of

LISTED = ("https://Bücher.example:443/app", "https://*.münchen.example", "http://Shop.example:80")
ALLOWED = (
    "https://xn--bcher-kva.example/app/x", "https://bücher.example:443/app", "https://www.xn--mnchen-3ya.example/", "http://shop.example/x",
    "http://SHOP.example:80/", "https://a.b.MÜNCHEN.example:443/",
)  # fmt: skip
REFUSED = (
    "https://xn--bcher-kva.example:8443/app", "http://xn--bcher-kva.example/app", "https://xn--mnchen-3ya.example/",
    "https://shop.example/",
    "https://bucher.example/app", "https://xn--bcher-kva.example:99999/app", "https://[::1/app", "https://a@xn--bcher-kva.example/app",
    "https://xn--bcher-kva.example\\@evil.example/app", "https://xn--bcher-kva.example/ap p", "https://www.münchen.example.evil.example/",
)  # fmt: skip


def test_whitelist_matches_any_spelling_of_a_host(new_world: NewWorld, subtests: pytest.Subtests) -> None:
    world = new_world(url_whitelist=LISTED)
    with call_of(world.services, world.name) as context:
        for address, expected in [*((item, True) for item in ALLOWED), *((item, False) for item in REFUSED)]:
            with subtests.test(address):
                assert is_allowed(context, address) is expected
                assert is_allowed_in_mail(context, address) is expected


def test_own_host_is_known_in_any_spelling(world: World, subtests: pytest.Subtests) -> None:
    with call_of(world.services, world.name) as context:
        own = context.own_urls[0]
        for address in (
            own,
            own.upper().replace("HTTP", "http"),
            f"{own}/x",
            own.replace(".localhost", "\u3002localhost"),
        ):
            with subtests.test(address):
                assert is_own(context, address)
        for address in (f"{own}.evil.example", "http://[::1", "https://bücher.example", ""):
            with subtests.test(address):
                assert not is_own(context, address)


def test_registration_cannot_spell_our_host_otherwise(new_world: NewWorld, subtests: pytest.Subtests) -> None:
    """A browser reads each spelling as our host, and brings our cookies there."""
    registrar = Registrar(new_world(client_registration={"mode": "open"}))
    host = f"{registrar.world.name}.{registrar.world.services.settings.hub_domain.partition(':')[0]}"
    wide = host.replace("t", "\uff54", 1)
    for spelled in (host, host.upper(), wide, host.replace(".", "\u3002"), f"{host}."):
        with subtests.test(spelled):
            uris = {"redirect_uris": [f"https://{spelled}/cb"]}
            answer = registrar.register({"client_name": "Calendar", "application_type": "web", **uris})
            assert (answer.status_code, (answer.json or {})["error"]) == (400, "invalid_redirect_uri")
            bye = {
                "redirect_uris": ["https://calendar.example/cb"],
                "post_logout_redirect_uris": [f"https://{spelled}/bye"],
            }
            assert registrar.register({"client_name": "Calendar", **bye}).status_code == 400


MALFORMED = (
    "http://127.0.0.1:99999/cb", "http://[::1/cb", "http://[::g]/cb", "https://a%20b.example/cb", "https://who@a.example/cb",
    "https://a.example\\@b.example/cb", "https://a..example/cb", "https://xn--\u2488.example/cb", "com.example.app://host:99999/cb",
    "https://a.example/ cb", "https://256.1.1.1/cb",
)  # fmt: skip
MEMBERS = (
    "redirect_uris", "post_logout_redirect_uris", "logo_uri", "client_uri", "jwks_uri", "sector_identifier_uri", "request_uris",
    "initiate_login_uri", "backchannel_logout_uri",
)  # fmt: skip


def test_unreadable_address_is_refused_in_every_member(new_world: NewWorld, subtests: pytest.Subtests) -> None:
    world = new_world(client_registration={"mode": "open"})
    for place, member in enumerate(MEMBERS):
        for number, address in enumerate(MALFORMED):
            registrar = Registrar(world, f"198.51.{100 + place}.{number}")  # each network has a limit
            value = [address] if member.endswith("s") else address
            with subtests.test(f"{member} {address}"):
                sent = {"client_name": "Calendar", "redirect_uris": ["https://calendar.example/cb"], member: value}
                answer = registrar.register(sent)
                assert (answer.status_code, (answer.json or {}).get("error", "")[:8]) == (400, "invalid_")
