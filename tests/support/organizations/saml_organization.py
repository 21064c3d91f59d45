"""An organization whose people sign in by its SAML connection, and its identity provider, which signs with a key of this test."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lxml import etree

from tests.support.organizations.connected_organization import DOMAIN, MINA, ConnectedOrganization
from tests.support.saml import signers
from tests.support.saml.responses import NOTHING, SAML, Change, response_tree
from tests.support.saml.signers import Signer
from tests.support.visitors.visitor import VisitedPage, Visitor

IDP = "https://idp.globex.example/saml"
SIGN_IN = "https://idp.globex.example/sso"
ATTRIBUTES: dict[str, Any] = {"email": MINA["email"], "firstName": "Mina", "lastName": "Harker"}


def provider_signer(name: str = "globex") -> Signer:
    return signers.rsa_signer(name, from_days=-3_000, to_days=3_000)


@dataclass(frozen=True)
class SentRequest:
    """An AuthnRequest that the browser brought to the provider."""

    root: etree._Element
    relay_state: str
    query: Mapping[str, str]

    @property
    def id(self) -> str:
        return str(self.root.get("ID"))

    @property
    def acs_url(self) -> str:
        return str(self.root.get("AssertionConsumerServiceURL"))


def read_request(address: str) -> SentRequest:
    """Return the request of a redirect to the provider."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    content = zlib.decompress(base64.b64decode(query["SAMLRequest"]), -zlib.MAX_WBITS)
    return SentRequest(etree.fromstring(content), query.get("RelayState", ""), query)


def instant(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class Answer:
    """What the provider answers, and how it is changed."""

    now: datetime
    acs_url: str
    audience: str
    request_id: str | None
    issuer: str = IDP
    name_id: str = "mina-1"
    name_id_format: str = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
    attributes: dict[str, Any] = field(default_factory=lambda: dict(ATTRIBUTES))
    authenticated_at: datetime | None = None
    session_index: str = "_session-mina"

    def tree(self, *, change: Change = NOTHING, signer: Signer | None = None, **form: Any) -> etree._Element:
        def all_changes(root: etree._Element) -> None:
            self._fill(root)
            change(root)

        return response_tree(signer=signer or provider_signer(), change=all_changes, **form)

    def posted(self, **form: Any) -> str:
        return base64.b64encode(etree.tostring(self.tree(**form))).decode()

    def _fill(self, root: etree._Element) -> None:
        """Make the good response of other tests one for this connection and this time."""
        now, serial = instant(self.now), signers.randomness_id()
        values = {
            "IssueInstant": now, "AuthnInstant": instant(self.authenticated_at or self.now), "NotBefore": now,
            "NotOnOrAfter": instant(self.now + timedelta(minutes=5)), "Recipient": self.acs_url, "Destination": self.acs_url,
            "InResponseTo": self.request_id, "SessionIndex": self.session_index,
        }  # fmt: skip
        for element in root.iter():
            for name in set(values).intersection(map(str, element.attrib)):
                element.set(name, values[name] or "")
                if values[name] is None:
                    del element.attrib[name]
        for issuer in root.iter(f"{{{SAML}}}Issuer"):
            issuer.text = self.issuer
        root.set("ID", f"_r{serial}")
        _first(root, "Assertion").set("ID", f"_a{serial}")
        _first(root, "Audience").text = self.audience
        _first(root, "NameID").text = self.name_id
        _first(root, "NameID").set("Format", self.name_id_format)
        self._fill_attributes(_first(root, "AttributeStatement"))

    def _fill_attributes(self, statement: etree._Element) -> None:
        for child in list(statement):
            statement.remove(child)
        for name, value in self.attributes.items():
            attribute = etree.SubElement(statement, f"{{{SAML}}}Attribute", Name=name)
            for text in value if isinstance(value, list) else [value]:
                etree.SubElement(attribute, f"{{{SAML}}}AttributeValue").text = text


def _first(root: etree._Element, name: str) -> etree._Element:
    return next(root.iter(f"{{{SAML}}}{name}"))


class SamlOrganization(ConnectedOrganization):
    """An organization with a SAML connection."""

    def __init__(self, *arguments: Any, **members: Any) -> None:
        self.signer = provider_signer()
        body = {
            "ConnectionType": "saml_custom", "IDPEntityId": IDP, "IDPCertificate": self.signer.certificate,
            "IDPSignInUrl": SIGN_IN, "Issuer": None, "ClientId": None, "ClientSecret": None,
        }  # fmt: skip
        super().__init__(*arguments, **{**body, **members})

    @property
    def login_url(self) -> str:
        return urlsplit(str(self.connection["EntityId"])).path

    @property
    def acs_path(self) -> str:
        return urlsplit(str(self.connection["ACSEndpoint"])).path

    def answer(self, redirected: VisitedPage | None = None, **changes: Any) -> Answer:
        """Return the provider's good answer to a request, or one without request."""
        request = read_request(redirected.address) if redirected is not None else None
        acs_url = request.acs_url if request is not None else str(self.connection["ACSEndpoint"])
        made = Answer(
            now=self.tenant.services.clock.now(), acs_url=acs_url, audience=str(self.connection["EntityId"]),
            request_id=request.id if request is not None else None,
        )  # fmt: skip
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    def post(self, visitor: Visitor, message: str | list[str], relay_state: str = "", path: str = "") -> VisitedPage:
        """Post an answer from the provider's site, as a browser does: without cookies of ours."""
        form = {"SAMLResponse": message, **({"RelayState": relay_state} if relay_state else {})}
        return visitor.post_from_elsewhere(path or self.acs_path, form)

    def sign_in(self, visitor: Visitor | None = None, **claims: Any) -> VisitedPage:
        """Sign in by the connection; `claims` are attributes, or `sub` and `form` of the answer."""
        browser = visitor or self.visitor
        return self.complete(self.begin(browser), browser, **claims)

    def complete(
        self, redirected: VisitedPage, visitor: Visitor | None = None, *, sub: str = "mina-1",
        form: Mapping[str, Any] | None = None, change: Callable[[Answer], object] | None = None, **attributes: Any,
    ) -> VisitedPage:  # fmt: skip
        """Answer a request that the browser brought to the provider."""
        answer = self.answer(redirected, name_id=sub)
        answer.attributes = {name: text for name, text in {**ATTRIBUTES, **attributes}.items() if text is not None}
        if change is not None:
            change(answer)
        relay_state = read_request(redirected.address).relay_state
        return self.post(visitor or self.visitor, answer.posted(**(form or {})), relay_state)


NewSamlOrganization = Callable[..., SamlOrganization]
__all__ = ["DOMAIN", "Answer", "NewSamlOrganization", "SamlOrganization", "provider_signer", "read_request"]
