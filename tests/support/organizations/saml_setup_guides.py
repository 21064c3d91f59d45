"""The set-up guide of a SAML product, and the provider that its administrator connects, which signs with a key of this test."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from tests.support.fakes.dns_server import FakeDns
from tests.support.organizations.saml_organization import (
    IDP,
    SIGN_IN,
    Answer,
    SentRequest,
    provider_signer,
    read_request,
)
from tests.support.organizations.setup_guides import SetupByLink
from tests.support.saml.signers import Signer
from tests.support.visitors.visitor import VisitedPage, Visitor


def provider_metadata(
    certificate: str, binding: str = "HTTP-Redirect", sign_in: str = SIGN_IN, entity: str = IDP
) -> str:
    """Return what an administrator copies from a provider."""
    bare = "".join(line for line in certificate.splitlines() if "CERTIFICATE" not in line)
    return (
        f'<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="{entity}"><IDPSSODescriptor '
        'protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><KeyDescriptor use="signing"><KeyInfo '
        f'xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>{bare}</X509Certificate></X509Data></KeyInfo>'
        "</KeyDescriptor><SingleSignOnService "
        f'Binding="urn:oasis:names:tc:SAML:2.0:bindings:{binding}" Location="{sign_in}"/></IDPSSODescriptor></EntityDescriptor>'
    )


class SamlSetup:
    """The guide with a SAML product."""

    def __init__(self, guide: SetupByLink, product: str = "SAML 2.0") -> None:
        self.guide, self.product = guide, product
        self.visitor: Visitor = guide.visitor
        self.metadata = provider_metadata(provider_signer().certificate)

    @property
    def dns(self) -> FakeDns:
        return self.guide.dns

    def with_values(self) -> VisitedPage:
        """Paste the provider's metadata; return the page of the test."""
        return self.guide.with_product(self.product).press("Save and continue", metadata=self.metadata)

    def begin(self, page: VisitedPage, button: str = "Sign in to test") -> SentRequest:
        """Begin a test; return the request that the browser brings to the provider."""
        return read_request(page.press(button).address)

    def answer(self, request: SentRequest, **changes: Any) -> Answer:
        """Return the provider's good answer to a request."""
        made = Answer(
            now=self.guide.tenant.services.clock.now(), acs_url=request.acs_url, request_id=request.id,
            audience=str(request.root.findtext("{*}Issuer")),
        )  # fmt: skip
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    def post(
        self, request: SentRequest, message: str | list[str], *, visitor: Visitor | None = None,
        relay_state: str | list[str] | None = None, path: str = "",
    ) -> VisitedPage:  # fmt: skip
        """Post an answer from the provider's site: without cookies of ours; the browser follows the redirect with them."""
        form = {"SAMLResponse": message, "RelayState": request.relay_state if relay_state is None else relay_state}
        return (visitor or self.visitor).post_from_elsewhere(path or urlsplit(request.acs_url).path, form)

    def test(
        self, page: VisitedPage, button: str = "Sign in to test", *, signer: Signer | None = None, **changes: Any
    ) -> VisitedPage:
        """Sign in at the provider, by default as Mina; return the page that shows what came of it."""
        request = self.begin(page, button)
        return self.post(request, self.answer(request, **changes).posted(signer=signer))

    def tested(self) -> VisitedPage:
        return self.test(self.with_values())
