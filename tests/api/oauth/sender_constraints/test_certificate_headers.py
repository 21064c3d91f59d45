"""The headers in which proxies send a client's certificate: one format for each name, and one certificate in it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from werkzeug.test import Client

from app.factories import create_identity
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.settings import SettingsError, read
from tests.support.oauth.client_certificates import Certificate, certificate
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import World

PROXY = "10.0.0.1"
FORMATS: dict[str, Callable[[Certificate], str]] = {
    "X-SSL-Client-Cert": lambda item: item.escaped,
    "Client-Cert": lambda item: item.field,
    "X-Forwarded-Client-Cert": lambda item: item.element,
}
each_format = pytest.mark.parametrize("header", FORMATS)


@pytest.fixture
def ours() -> Certificate:
    return certificate(names=[x509.UniformResourceIdentifier("spiffe://shop.example")])


@pytest.fixture
def client(world: World, ours: Certificate) -> RelyingParty:
    return world.application(
        "own", secret=None, token_endpoint_auth_method="self_signed_tls_client_auth", jwks={"keys": [ours.jwk]},
        grant_types=["client_credentials"], redirect_uris=[],
    )  # fmt: skip


@pytest.fixture
def ask(services: IdentityServices, world: World, client: RelyingParty) -> Callable[..., int]:
    """Send a request through the whole application, by default from the proxy; return its status."""
    with UnitOfWork(services.database, world.tenant_id).separate_transaction() as work:
        services.signing_keys.current(work)  # from those that tests share: each application would make one of its own
    applications: dict[str, Client] = {}

    def send(header: str, value: str | list[str], peer: str = PROXY, **environ: str) -> int:
        if header not in applications:
            settings = replace(services.settings, client_certificate_header=header, trusted_proxies=(PROXY,))
            services.settings = settings
            applications[header] = Client(create_identity(settings))
        values = [value] if isinstance(value, str) else value
        answer = applications[header].post(
            "/api/oidc/token",
            data={"grant_type": "client_credentials", "client_id": client.client_id},
            headers=[(header, item) for item in values],
            base_url=client.hub_url,
            environ_overrides={"REMOTE_ADDR": peer, **environ},
        )
        return answer.status_code

    return send


@each_format
def test_certificate_is_read_in_the_format_of_the_header(
    ask: Callable[..., int], ours: Certificate, header: str
) -> None:
    """RFC 9440 section 2.1 for `Client-Cert`, Envoy's element, else an escaped PEM."""
    assert ask(header, FORMATS[header](ours)) == 200
    assert ask(header, FORMATS[header](certificate())) == 401, "another certificate"
    for name, spelled in FORMATS.items():
        assert name == header or ask(header, spelled(ours)) == 401, f"the format of {name}"


@each_format
def test_header_from_another_address_is_ignored(ask: Callable[..., int], ours: Certificate, header: str) -> None:
    value = FORMATS[header](ours)
    assert ask(header, value, "203.0.113.5") == 401
    assert ask(header, value, "203.0.113.5", HTTP_X_FORWARDED_FOR=PROXY) == 401
    assert ask(header, value, PROXY, HTTP_X_FORWARDED_FOR="203.0.113.5") == 200


@each_format
def test_header_with_two_certificates_is_refused(ask: Callable[..., int], ours: Certificate, header: str) -> None:
    """A proxy that appends leaves what the client sent in the header."""
    first, second = FORMATS[header](ours), FORMATS[header](certificate())
    for values in ([first, second], [second, first], [first, first], f"{first},{second}", f"{first}, {first}"):
        assert ask(header, values) == 401


@each_format
def test_malformed_certificate_is_refused(
    ask: Callable[..., int], ours: Certificate, header: str, subtests: pytest.Subtests
) -> None:
    value = FORMATS[header](ours)
    changed = {
        "half": value[: len(value) // 2],
        "prefix": f"x{value}",
        "suffix": f"{value}x",
        "empty": "",
        "long": value + "%20" * 20_000,
        "not ascii": value + "\xff",
        "not base64": value.replace("MI", "!!", 1),
    }
    for cut, malformed in changed.items():
        with subtests.test(cut):
            assert ask(header, malformed) == 401
    assert ask(header, value) == 200


def test_pem_holds_nothing_else(ask: Callable[..., int], ours: Certificate) -> None:
    other = certificate().escaped
    for value in (ours.escaped + other, f"Subject%3A{ours.escaped}", ours.escaped.replace("CERTIFICATE", "X509%20CRL")):
        assert ask("X-SSL-Client-Cert", value) == 401
    joined = ours.certificate.public_bytes(Encoding.PEM).decode().replace("\n", " ")
    assert ask("X-SSL-Client-Cert", joined) == 200, "Apache joins the lines of `%{SSL_CLIENT_CERT}s`"


class TestEnvoy:
    """X-Forwarded-Client-Cert, in which Envoy writes values of the certificate without quotes."""

    HEADER = "X-Forwarded-Client-Cert"

    def element(self, *pairs: str) -> str:
        return ";".join(pairs)

    def hash(self, item: Certificate) -> str:
        return f"Hash={hashlib.sha256(item.der).hexdigest()}"

    def cert(self, item: Certificate, name: str = "Cert") -> str:
        return f'{name}="{item.escaped}"'

    def test_order_and_other_names_do_not_matter(self, ask: Callable[..., int], ours: Certificate) -> None:
        chain = self.cert(certificate(), "Chain")
        for pairs in (
            (self.hash(ours), self.cert(ours)),
            (self.cert(ours), self.hash(ours).upper().replace("HASH", "hash")),
            ("By=http://a.example", self.hash(ours), self.cert(ours), chain, 'Subject="CN=\\"x\\",O=y;z"', "DNS=a", "DNS=b"),
        ):  # fmt: skip
            assert ask(self.HEADER, self.element(*pairs)) == 200, pairs

    def test_names_in_the_certificate_forge_nothing(self, ask: Callable[..., int], ours: Certificate) -> None:
        """The sender has a certificate of its own, whose names spell the pairs of another one."""
        own, forged = certificate(), self.cert(ours)
        for pairs in (
            (self.hash(own), self.cert(own), f"URI=x;{forged}"),
            (self.hash(own), f"URI=x;{forged}"),
            (self.hash(own), f"URI=x;{self.hash(ours)};{forged}"),
            (self.hash(own), self.cert(own), f"URI=x,{self.hash(ours)};{forged}"),
            (self.hash(own), self.cert(own), f'Subject="CN=\\\\";{self.hash(ours)};{forged};x=""'),
        ):
            assert ask(self.HEADER, self.element(*pairs)) == 401, pairs

    @pytest.mark.parametrize(
        "name", ["no hash", "no certificate", "another hash", "two hashes", "unquoted list", "no name"]
    )
    def test_element_must_be_whole(self, ask: Callable[..., int], ours: Certificate, name: str) -> None:
        hashed, cert = self.hash(ours), self.cert(ours)
        values: dict[str, Any] = {
            "no hash": cert,
            "no certificate": hashed,
            "another hash": self.element(self.hash(certificate()), cert),
            "two hashes": self.element(hashed, hashed, cert),
            "unquoted list": self.element(hashed, cert, "DNS=a,b"),
            "no name": self.element(hashed, cert, "=x"),
        }
        assert ask(self.HEADER, values[name]) == 401


def test_certificate_with_bytes_behind_it_is_refused(ask: Callable[..., int], ours: Certificate) -> None:
    longer = base64.b64encode(ours.certificate.public_bytes(Encoding.DER) + b"\0").decode()
    assert ask("Client-Cert", f":{longer}:") == 401
    assert ask("Client-Cert", f"{ours.field};a=1") == 401


def test_operator_names_a_header_of_its_own(tmp_path: Any) -> None:
    """Only Envoy's name may begin as the headers that tell the client's address."""
    base = {"GATEHOUSE_TRUSTED_PROXIES": PROXY, "GATEHOUSE_DATA_DIR": str(tmp_path)}
    for name in FORMATS:
        header = read({**base, "GATEHOUSE_CLIENT_CERTIFICATE_HEADER": name}).client_certificate_header
        assert header == name
    for name in ("X-Forwarded-For", "X-Forwarded-Client-Cert-2", "Forwarded", "Cookie", "X Cert"):
        with pytest.raises(SettingsError, match="GATEHOUSE_CLIENT_CERTIFICATE_HEADER"):
            read({**base, "GATEHOUSE_CLIENT_CERTIFICATE_HEADER": name})
    with pytest.raises(SettingsError, match="GATEHOUSE_CLIENT_VERIFICATION_HEADER"):
        read({**base, "GATEHOUSE_CLIENT_VERIFICATION_HEADER": "X-Forwarded-Client-Cert"})
