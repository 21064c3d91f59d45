"""What a registration names by address (OpenID Connect Registration section 5), and software statements (RFC 7591 section 2.3)."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64encode
from typing import Any
from urllib.parse import urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from app.contract.steps import LoginStep, RefusedStep
from app.identity.platform.outbound import bounded_transport
from app.identity.platform.outbound.openid_metadata import ProviderMetadataCache
from app.kit.outbound.host_resolver import Resolver
from tests.support.fakes.identity_provider import FakeProvider, key
from tests.support.oauth.registrations import CALLBACK, METADATA, Registrar, error_of
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.signed_requests import Signer, client_key, part, public_jwks
from tests.support.oauth.world import NewWorld

OPEN = {"client_registration": {"mode": "open"}}


@pytest.fixture
def registrar(new_world: NewWorld) -> Registrar:
    return Registrar(new_world(**OPEN))


PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"
JSON_TYPE, PNG_TYPE = {"Content-Type": "application/json"}, {"Content-Type": "image/png"}


class TestFetched:
    """What a registration names by address is fetched before it is stored (OpenID Connect Registration section 5)."""

    def test_keys_at_an_address_must_exist(self, registrar: Registrar, fake_provider: FakeProvider) -> None:
        address = f"{fake_provider.url}/keys"
        assert registrar.registered(jwks_uri=address)["jwks_uri"] == address
        answer = registrar.register({**METADATA, "jwks_uri": f"{fake_provider.url}/nothing"})
        assert error_of(answer) == (400, "invalid_client_metadata")
        fake_provider.answers["/large"] = (200, JSON_TYPE, b'{"keys": [' + b" " * 300_000 + b"]}")
        assert error_of(registrar.register({**METADATA, "jwks_uri": f"{fake_provider.url}/large"}))[0] == 400

    def test_request_uri_with_a_random_fragment_serves(self, registrar: Registrar, fake_provider: FakeProvider) -> None:
        """OpenID Connect Core section 6.2: the certification suite registers such ones."""
        address, jwks = f"{fake_provider.url}/request.jwt#{'x' * 43}", public_jwks(client_key("ES256"))
        made = registrar.registered(request_uris=[address], jwks=jwks)
        assert made["request_uris"] == [address]
        text = Signer(registrar.relying_party(made)).request_object(scope="openid")
        fake_provider.answers["/request.jwt"] = (200, {}, text.encode())
        browser = registrar.world.browser()
        opened = [
            browser.authorize({"client_id": made["client_id"], "request_uri": item}) for item in (address, address[:-1])
        ]
        assert [step.kind for step in opened] == [LoginStep, RefusedStep]

    @pytest.mark.parametrize(
        ("content", "is_good"),
        [
            ([CALLBACK, "https://other.example/"], True),
            (["https://other.example/"], False),
            ({"redirect_uris": [CALLBACK]}, False),
            (CALLBACK, False),
        ],
    )
    def test_sector_lists_every_redirect_uri(
        self, registrar: Registrar, fake_provider: FakeProvider, content: Any, is_good: bool
    ) -> None:
        fake_provider.answers["/sector.json"] = (200, JSON_TYPE, json.dumps(content).encode())
        answer = registrar.register({**METADATA, "sector_identifier_uri": f"{fake_provider.url}/sector.json"})
        assert answer.status_code == (201 if is_good else 400)

    def test_redirect_of_a_fetched_address_is_not_followed(
        self, registrar: Registrar, fake_provider: FakeProvider
    ) -> None:
        fake_provider.answers["/sector.json"] = (302, {"Location": f"{fake_provider.url}/keys"}, b"")
        answer = registrar.register({**METADATA, "sector_identifier_uri": f"{fake_provider.url}/sector.json"})
        assert error_of(answer) == (400, "invalid_client_metadata")

    @pytest.mark.both_databases("first")
    @pytest.mark.parametrize(
        ("content", "is_copied"),
        [(PNG, True), (b"<svg onload='alert(1)'>", False), (PNG + b"x" * 100_001, False), (b"", False)],
    )
    def test_logo_is_copied_if_it_is_a_small_picture(
        self, registrar: Registrar, fake_provider: FakeProvider, content: bytes, is_copied: bool
    ) -> None:
        fake_provider.answers["/logo"] = (200, PNG_TYPE, content)
        made = registrar.registered(logo_uri=f"{fake_provider.url}/logo")
        step = registrar.world.browser().authorize(registrar.relying_party(made).authorization_parameters())
        shown = step.relying_party.logo if step.relying_party else None
        assert made["logo_uri"] == f"{fake_provider.url}/logo"
        assert (shown is not None) is is_copied
        assert shown is None or shown.startswith("/application-logo/"), "pages load nothing from the application"

    @pytest.fixture
    def busy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let federation occupy all its slots."""
        monkeypatch.setattr(bounded_transport, "SLOTS", bounded_transport.RequestSlots(total=0, per_host=1))
        monkeypatch.setattr(bounded_transport, "_SLOT_WAIT_SECONDS", 0.05)

    @pytest.mark.usefixtures("busy")
    def test_addresses_have_slots_of_their_own(self, registrar: Registrar, fake_provider: FakeProvider) -> None:
        """Unauthenticated callers name them, so they must not take those of federation."""
        fake_provider.answers["/sector.json"] = (200, JSON_TYPE, json.dumps([CALLBACK]).encode())
        fake_provider.answers["/logo"] = (200, PNG_TYPE, PNG)
        named = {"sector_identifier_uri": "/sector.json", "jwks_uri": "/keys", "logo_uri": "/logo"}
        made = registrar.registered(**{name: fake_provider.url + path for name, path in named.items()})
        assert made["jwks_uri"] == f"{fake_provider.url}/keys"
        registrar.world.services.provider_metadata = ProviderMetadataCache(
            registrar.world.services.clock, registrar.world.services.provider_metadata.resolver
        )
        client = registrar.relying_party(made)
        signed = Signer(client, "RS256", key(1)).request_object()
        step = registrar.world.browser().authorize({"client_id": client.client_id, "request": signed})
        assert step.kind is LoginStep
        assert [fake_provider.requests_to(path) for path in named.values()] == [1, 2, 1]

    def test_fetches_of_one_network_are_limited(self, registrar: Registrar, fake_provider: FakeProvider) -> None:
        """An initial access token, or a registration that is replaced again and again, fetches no more than that."""
        missing = f"{fake_provider.url}/nothing"
        made, token = registrar.registered(), registrar.initial_access_token(max_uses=100)
        members = {**METADATA, "sector_identifier_uri": missing}
        body = {**members, "client_id": made["client_id"]}
        answers = [registrar.register(members, token=token).status_code for _ in range(15)]
        answers += [registrar.manage(made, "PUT", body).status_code for _ in range(15)]
        assert set(answers) == {400}
        assert registrar.manage(made, "PUT", body).status_code == 429
        assert registrar.register(members, token=token).status_code == 429
        assert fake_provider.requests_to("/nothing") == 30
        registrar.address = "203.0.113.99"
        assert registrar.manage(made, "PUT", body).status_code == 400


class TestInternalAddresses:
    """An address from an unauthenticated caller is fetched from public addresses alone (SSRF)."""

    @pytest.fixture
    def inside(self, registrar: Registrar, fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> str:
        """A name that leads to a server of this machine, which must not be asked; tests may reach it otherwise."""
        services = registrar.world.services
        resolver = Resolver(resolve=lambda _host, port, **_: [(2, 1, 6, "", ("127.0.0.1", port))])
        monkeypatch.setattr(services, "provider_metadata", ProviderMetadataCache(services.clock, resolver))
        fake_provider.answers["/logo"] = (200, PNG_TYPE, PNG)
        fake_provider.answers["/sector.json"] = (200, JSON_TYPE, json.dumps([CALLBACK]).encode())
        return f"https://inside.example:{urlsplit(fake_provider.url).port}"

    @pytest.mark.parametrize(
        ("member", "path", "status"),
        [("jwks_uri", "/keys", 400), ("sector_identifier_uri", "/sector.json", 400), ("logo_uri", "/logo", 201)],
    )
    def test_name_of_an_internal_address_is_not_asked(
        self, registrar: Registrar, inside: str, fake_provider: FakeProvider, member: str, path: str, status: int
    ) -> None:
        answer = registrar.register({**METADATA, member: inside + path})
        assert answer.status_code == status
        assert fake_provider.received == []

    @pytest.mark.usefixtures("inside")
    @pytest.mark.parametrize("member", ["jwks_uri", "sector_identifier_uri", "logo_uri"])
    def test_number_in_any_notation_is_not_asked(
        self, registrar: Registrar, fake_provider: FakeProvider, member: str
    ) -> None:
        port = urlsplit(fake_provider.url).port
        for host in ("127.0.0.1", "2130706433", "0x7f.1", "127.1", "[::1]", "[::ffff:127.0.0.1]", "localhost."):
            answer = registrar.register({**METADATA, member: f"https://{host}:{port}/keys"})
            assert answer.status_code == 201 if member == "logo_uri" else answer.status_code == 400
        assert fake_provider.received == []


class TestSoftwareStatements:
    """RFC 7591 section 2.3."""

    ISSUER = "https://software.example"

    @pytest.fixture
    def trusting(self, new_world: NewWorld, fake_provider: FakeProvider) -> Registrar:
        trusted = {self.ISSUER: f"{fake_provider.url}/keys"}
        return Registrar(new_world(client_registration={"mode": "open", "software_statement_issuers": trusted}))

    def statement(self, registrar: Registrar, header: dict[str, Any] | None = None, **claims: Any) -> str:
        stated = {"iss": self.ISSUER, "software_id": "calendar", "client_name": "Signed Calendar", **claims}
        unsigned = RelyingParty(registrar.world.services, registrar.world.wsgi, "", "", "", "")
        nothing = dict.fromkeys((*unsigned.authorization_parameters(), "iss", "aud", "iat", "nbf", "exp"))
        signer = Signer(unsigned, "RS256", key(1), header or {})
        return signer.request_object(**{**nothing, **stated})

    def test_signed_claims_override_members(self, trusting: Registrar) -> None:
        statement = self.statement(trusting)
        made = trusting.registered(software_statement=statement, software_id="other")
        assert (made["software_id"], made["client_name"]) == ("calendar", "Signed Calendar")
        assert made["software_statement"] == statement, "RFC 7591 section 3.2.1"

    def test_signed_name_has_no_unsigned_translation(self, trusting: Registrar) -> None:
        names: dict[str, Any] = {"client_name#ar": "تقويم"}
        statement = self.statement(trusting, **names)
        unsigned = {"client_name#de": "Bank", "client_name#ar": "بنك", "tos_uri#de": "https://calendar.example/de"}
        made = trusting.registered(software_statement=statement, **unsigned)
        localized = {name: value for name, value in made.items() if "#" in name}
        assert localized == {"client_name#ar": "تقويم", "tos_uri#de": unsigned["tos_uri#de"]}

    def test_statement_for_this_server_is_accepted(self, trusting: Registrar) -> None:
        issuer = trusting.world.services.settings.hub_url(trusting.world.name)
        for audience in (issuer, [f"{issuer}/api/oidc/register", "https://other.example"]):
            made = trusting.registered(software_statement=self.statement(trusting, aud=audience))
            assert made["client_name"] == "Signed Calendar"

    def test_public_key_as_a_shared_secret_signs_nothing(self, trusting: Registrar) -> None:
        """Confusion of algorithms: a published key verifies no HMAC."""
        signed = f"{part({'alg': 'HS256', 'kid': 'key-1'})}.{part({'iss': self.ISSUER, 'client_name': 'Forged'})}"
        for secret in (key(1).as_pem(private=False), json.dumps(key(1).as_dict(private=False)).encode()):
            mac = hmac.digest(secret, signed.encode(), "sha256")
            forged = f"{signed}.{urlsafe_b64encode(mac).rstrip(b'=').decode()}"
            answer = trusting.register({**METADATA, "software_statement": forged})
            assert error_of(answer) == (400, "invalid_software_statement")

    def test_key_in_the_header_is_not_used(self, trusting: Registrar) -> None:
        own = RSAKey.generate_key(2048)
        for header in ({"jwk": own.as_dict(private=False)}, {"jku": "https://evil.example/keys"}, {"kid": "../key-1"}):
            forged = jwt.encode({"alg": "RS256", **header}, {"iss": self.ISSUER, "client_name": "Forged"}, own)
            answer = trusting.register({**METADATA, "software_statement": forged})
            assert error_of(answer) == (400, "invalid_software_statement")

    def test_unknown_issuer_is_not_approved(self, trusting: Registrar, registrar: Registrar) -> None:
        statement = self.statement(trusting)
        other = self.statement(trusting, iss="https://evil.example")
        for who, text in ((registrar, statement), (trusting, other)):
            answer = who.register({**METADATA, "software_statement": text})
            assert error_of(answer) == (400, "unapproved_software_statement")

    @pytest.mark.parametrize(
        "changed",
        [
            "signature",
            "claims",
            "alg",
            "crit",
            "expired",
            "early",
            "audience",
            "id_token",
            "type",
            "weak key",
            "no jwt",
            "number",
        ],
    )
    @pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
    def test_wrong_statement_is_refused(self, trusting: Registrar, fake_provider: FakeProvider, changed: str) -> None:
        small = RSAKey.generate_key(1024, {"kid": "small"})
        published = [*fake_provider.published, small.as_dict(private=False)]
        fake_provider.answers["/keys"] = (200, JSON_TYPE, json.dumps({"keys": published}).encode())
        now, text = trusting.world.services.clock.now().timestamp(), self.statement(trusting)
        head, body, signature = text.split(".")
        wrong: dict[str, Any] = {
            "signature": f"{head}.{body}.{signature[:-8]}AAAAAAAA",
            "claims": f"{head}.{part({'iss': self.ISSUER, 'client_name': 'Other'})}.{signature}",
            "alg": f"{part({'alg': 'none'})}.{body}.",
            "crit": self.statement(trusting, {"crit": ["x"], "x": 1}),
            "expired": self.statement(trusting, exp=now - 3_600),
            "early": self.statement(trusting, nbf=now + 3_600),
            "audience": self.statement(trusting, aud="https://other.example"),
            "id_token": self.statement(trusting, aud=["gatehouse-of-acme"], sub="ada", nonce="n"),
            "type": self.statement(trusting, {"typ": "at+jwt"}),
            "weak key": jwt.encode(
                {"alg": "RS256", "kid": "small"}, {"iss": self.ISSUER, "client_name": "Forged"}, small
            ),
            "no jwt": "statement",
            "number": 7,
        }
        answer = trusting.register({**METADATA, "software_statement": wrong[changed]})
        assert error_of(answer) == (400, "invalid_software_statement")
