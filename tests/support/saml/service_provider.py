"""A service provider that a tenant's SAML client stands for: it sends requests and reads what the browser posts back."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import urlencode

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from lxml import etree
from werkzeug.test import TestResponse

from app.identity.platform.saml.bindings import SamlEnvelope, redirected
from app.identity.platform.saml.encrypted_assertions import DecryptionKeys
from app.identity.platform.saml.expectations import AcceptedAssertion, ExpectedResponse, SignedPart
from app.identity.platform.saml.metadata_reader import EntityMetadata, read_metadata
from app.identity.platform.saml.request_gate import (
    AcceptedLogoutRequest,
    AcceptedLogoutResponse,
    SamlPeer,
    accept_logout_request,
    accept_logout_response,
)
from app.identity.platform.saml.response_gate import accept_response
from app.identity.platform.saml.trusted_keys import TrustedKeys
from app.identity.platform.saml_writing import message_bindings, request_writer
from app.identity.platform.saml_writing.request_writer import AuthnRequestContents
from app.identity.platform.saml_writing.xml_signing import SigningKey
from tests.support.saml import signers
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import Form, VisitedPage, Visitor

ENTITY = "https://wiki.example/saml"
ACS = "https://wiki.example/acs"
SIGN_OUT = "https://wiki.example/slo"


@cache
def own_key(name: str = "wiki") -> SigningKey:
    """Return a key pair of a service provider, with a certificate that is valid now."""
    return key_pair(signers.rsa_key(f"sp {name}"))


def key_pair(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> SigningKey:
    now = datetime.now(UTC)
    certificate = signers.certificate_of(key, now - timedelta(days=1), now + timedelta(days=30))
    return SigningKey(certificate, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode())


@dataclass
class ServiceProvider:
    """A SAML client of a tenant, and the service provider behind it."""

    tenant: TenantServer
    name: str = "Wiki"
    entity_id: str = ENTITY
    acs_url: str = ACS
    key: SigningKey | None = None
    """With it, requests are signed."""
    request_ids: list[str] = field(default_factory=list)
    body: dict[str, Any] = field(default_factory=dict)
    """The client as it was stored last."""

    def store(self, **members: Any) -> dict[str, Any]:
        """Create the client."""
        self.body = {
            "AppName": self.name,
            "IssuerUrl": self.entity_id,
            "AssertionConsumerService": {"Location": self.acs_url},
            **({"SpCertificate": {"Certificate": self.key.certificate}} if self.key else {}),
            **members,
        }
        return answered(
            ask(self.tenant, machine(self.tenant, "client:create"), "POST", "/v2/manage/saml-clients", self.body)
        )

    @property
    def now(self) -> datetime:
        return self.tenant.services.clock.now()

    def change(self, **members: Any) -> None:
        """Change members of the client, for every process."""
        self.body = {**self.body, **members}
        path = f"/v2/manage/saml-clients/{self.name}"
        answered(ask(self.tenant, machine(self.tenant, "client:update"), "PUT", path, self.body))
        self.tenant.services.directory.clear_cache()

    def change_certificate(self, end: str, method: str = "POST") -> dict[str, Any]:
        """Change the certificate of the tenant for this client: next-certificate, activate-certificate, former-certificate."""
        path = f"/v2/manage/saml-clients/{self.name}/{end}"
        changed = answered(
            ask(self.tenant, machine(self.tenant, "client:update"), method, path, {} if method == "POST" else None)
        )
        self.tenant.services.directory.clear_cache()
        return changed

    def metadata(self, visitor: Visitor) -> EntityMetadata:
        """Return the metadata of the identity provider, at the host that the visitor visits."""
        answer = read_document(self.tenant, visitor, self.name)
        assert (answer.status_code, answer.mimetype) == (200, "application/samlmetadata+xml")
        return read_metadata(answer.data, self.now)

    def request(self, visitor: Visitor, **changed: Any) -> etree._Element:
        """Return a new request, unsigned."""
        contents = {
            "issuer": self.entity_id,
            "destination": self.login_url(visitor),
            "acs_url": self.acs_url,
            **changed,
        }
        made = request_writer.authn_request(AuthnRequestContents(**contents), self.now)
        self.request_ids.append(str(made.get("ID")))
        return made

    def login_url(self, visitor: Visitor) -> str:
        return f"{visitor.home}/service/saml/idp/login?{urlencode({'appname': self.name})}"

    def link(
        self, visitor: Visitor, request: etree._Element | None = None, relay_state: str = "back here", **changed: Any
    ) -> str:
        """Return the address by which this service provider sends a browser to sign in."""
        made = self.request(visitor, **changed) if request is None else request
        return message_bindings.redirect_url(made, self.login_url(visitor), self.key, relay_state)

    def open(self, visitor: Visitor, relay_state: str = "back here", **changed: Any) -> VisitedPage:
        return visitor.open(self.link(visitor, relay_state=relay_state, **changed))

    def post(self, visitor: Visitor, relay_state: str = "back here", **changed: Any) -> VisitedPage:
        """Post a request from this service provider's site."""
        fields = message_bindings.posted_fields(self.request(visitor, **changed), self.key, relay_state)
        return visitor.send("POST", self.login_url(visitor), fields)

    def logout_url(self, visitor: Visitor) -> str:
        return f"{visitor.home}/service/saml/idp/logout?{urlencode({'appname': self.name})}"

    def sign_out_request(self, visitor: Visitor, accepted: AcceptedAssertion, **changed: Any) -> etree._Element:
        """Return a request to end the session of an assertion, unsigned."""
        values: dict[str, Any] = {
            "entity_id": self.entity_id,
            "destination": self.logout_url(visitor),
            "name_id": accepted.name_id,
            "session_indexes": [accepted.session_index],
            "now": self.now,
        }
        return request_writer.logout_request(**{**values, **changed})

    def answer(self, visitor: Visitor, address: str, *, is_complete: bool = True, key: SigningKey | None = None) -> str:
        """Check the request for sign-out in an address, and return the address of the answer."""
        envelope, request = self.logout_request(visitor, address)
        response = request_writer.logout_response(
            entity_id=self.entity_id,
            destination=self.logout_url(visitor),
            request_id=request.request_id,
            now=self.now,
            is_complete=is_complete,
        )
        return message_bindings.redirect_url(response, self.logout_url(visitor), key or self.key, envelope.relay_state)

    def logout_request(self, visitor: Visitor, address: str) -> tuple[SamlEnvelope, AcceptedLogoutRequest]:
        """Return the request for sign-out in an address, after the gate's checks."""
        url, _, query = address.partition("?")
        envelope = redirected("SAMLRequest", query)
        return envelope, accept_logout_request(envelope, self._provider(visitor), address=url, now=self.now)

    def signed_out(self, visitor: Visitor, address: str, request: etree._Element) -> AcceptedLogoutResponse:
        """Return the answer to a request for sign-out, after the gate's checks."""
        url, _, query = address.partition("?")
        envelope = redirected("SAMLResponse", query)
        peer = self._provider(visitor)(f"{visitor.home}/")
        assert peer is not None
        identifier = str(request.get("ID"))
        return accept_logout_response(envelope, peer, request_id=identifier, address=url, now=self.now)

    def _provider(self, visitor: Visitor) -> Callable[[str], SamlPeer | None]:
        found = self.metadata(visitor)
        assert found.provider is not None
        return {
            found.entity_id: SamlPeer(entity_id=found.entity_id, keys=TrustedKeys(found.provider.signing_certificates))
        }.get

    def accept(self, visitor: Visitor, page: VisitedPage, **changed: Any) -> AcceptedAssertion:
        """Return the assertion of the response that a page posts to this service provider, after the gate's checks."""
        provider = self.metadata(visitor)
        role = provider.provider
        assert role is not None
        expected: dict[str, Any] = {
            "issuer": provider.entity_id,
            "keys": TrustedKeys(role.signing_certificates),
            "audience": self.entity_id,
            "acs_url": self.acs_url,
            "request_id": self.request_ids[-1] if self.request_ids else None,
            "signed_part": SignedPart.ASSERTION,
            "decryption": DecryptionKeys((self.key.loaded,))
            if self.key and isinstance(self.key.loaded, rsa.RSAPrivateKey)
            else DecryptionKeys(),
        }
        found = posted_form(page)
        assert (found.action, found.method) == (expected["acs_url"], "post")
        return accept_response([found.fields["SAMLResponse"]], ExpectedResponse(**{**expected, **changed}), self.now)


def posted_form(page: VisitedPage) -> Form:
    return page.form("Continue")


def response_xml(page: VisitedPage) -> bytes:
    return base64.b64decode(posted_form(page).fields["SAMLResponse"])


def read_document(tenant: TenantServer, visitor: Visitor, name: str) -> TestResponse:
    client = PlainClient(tenant.app, use_cookies=False)
    return client.get("/service/saml/idp/metadata", query_string={"appName": name}, base_url=visitor.home)
