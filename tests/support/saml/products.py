"""What the products of the ready-made integrations publish about themselves as service providers, for the account `acme`.

The facts are those of their metadata and their documentation, whose addresses the integrations have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_FORMAT: Final = "urn:oasis:names:tc:SAML:{}:nameid-format:{}"
EMAIL, UNSPECIFIED = _FORMAT.format("1.1", "emailAddress"), _FORMAT.format("1.1", "unspecified")
PERSISTENT, TRANSIENT = _FORMAT.format("2.0", "persistent"), _FORMAT.format("2.0", "transient")
_CLAIM: Final = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/"
_BINDING: Final = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
ACCOUNT: Final = {"IntegrationConfigs": {"AccountName": "acme"}}


@dataclass(frozen=True)
class Product:
    """A service provider.

    Attributes:
        formats: the NameID formats that its metadata states or its documentation demands.
        requested: the format of its requests; empty if they leave it open.
        attributes: the names of attributes that it reads.
        audience: the one that it enforces, if that is not its entity ID.
        given: the fields that the client of its integration is created with; without them, its entity ID and address.
    """

    entity_id: str
    acs_url: str
    formats: tuple[str, ...]
    attributes: tuple[str, ...] = ()
    requested: str = ""
    audience: str = ""
    sign_out_url: str = ""
    demands_signed_response: bool = False
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def members(self) -> dict[str, Any]:
        """The fields that an administrator enters."""
        stated = {"IssuerUrl": self.entity_id, "AssertionConsumerService": {"Location": self.acs_url}}
        return dict(self.given) or stated

    @property
    def metadata(self) -> bytes:
        formats = "".join(f"<NameIDFormat>{one}</NameIDFormat>" for one in self.formats)
        sign_out = f'<SingleLogoutService Binding="{_BINDING}" Location="{self.sign_out_url}"/>'
        address = self.acs_url.replace("&", "&amp;")
        return (
            f'<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="{self.entity_id}"><SPSSODescriptor'
            ' protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol" WantAssertionsSigned="true">'
            f"{sign_out if self.sign_out_url else ''}{formats}<AssertionConsumerService "
            f'Binding="{_BINDING}" Location="{address}" index="0" isDefault="true"/></SPSSODescriptor></EntityDescriptor>'
        ).encode()


PRODUCTS: Final[Mapping[str, Product]] = {
    "Salesforce": Product(
        "https://acme.my.salesforce.com", "https://acme.my.salesforce.com?so=00D000000000001", (UNSPECIFIED, PERSISTENT),
        ("User.Email", "User.FirstName", "User.LastName"),
    ),
    "AwsIdentityCenter": Product(
        "https://eu-central-1.signin.aws.amazon.com/platform/saml/d-9900000001",
        "https://eu-central-1.signin.aws.amazon.com/platform/saml/acs/00000000-0000-4000-8000-000000000001", (EMAIL,),
        requested=EMAIL,
    ),
    "GoogleWorkspace": Product(
        "google.com/a/acme.example", "https://www.google.com/a/acme.example/acs", (EMAIL,), requested=UNSPECIFIED
    ),
    "Microsoft365": Product(
        "urn:federation:MicrosoftOnline", "https://login.microsoftonline.com/login.srf", (PERSISTENT,), ("IDPEmail",),
        requested=PERSISTENT, given={"AppName": "app"},
    ),
    "Slack": Product(
        "https://slack.com", "https://acme.slack.com/sso/saml", (PERSISTENT,), ("User.Email", "first_name", "last_name"),
        requested=PERSISTENT, demands_signed_response=True, given=ACCOUNT,
    ),
    "Zoom": Product(
        "acme.zoom.us", "https://acme.zoom.us/saml/SSO", (EMAIL, UNSPECIFIED, PERSISTENT),
        ("urn:oid:0.9.2342.19200300.100.1.3", "urn:oid:2.5.4.42", "urn:oid:2.5.4.4"), given=ACCOUNT,
    ),
    "GitLab": Product(
        "https://gitlab.com/groups/acme", "https://gitlab.com/groups/acme/-/saml/callback", (PERSISTENT,),
        ("email", "first_name", "last_name"), requested=PERSISTENT, given=ACCOUNT,
    ),
    "Grafana": Product(
        "https://acme.grafana.net/saml/metadata", "https://acme.grafana.net/saml/acs", (TRANSIENT,),
        ("mail", "displayName"), requested=TRANSIENT, sign_out_url="https://acme.grafana.net/saml/slo", given=ACCOUNT,
    ),
    "Zendesk": Product(
        "https://acme.zendesk.com", "https://acme.zendesk.com/access/saml", (EMAIL, UNSPECIFIED),
        (f"{_CLAIM}givenname", f"{_CLAIM}surname"), audience="acme.zendesk.com", given=ACCOUNT,
    ),
    "Box": Product(
        "box.net", "https://sso.services.box.net/sp/ACS.saml2", (EMAIL, UNSPECIFIED), ("email", "firstName", "lastName"),
        given={"AppName": "app"},
    ),
    "Tableau": Product(
        "https://sso.online.tableau.com/public/sp/metadata?alias=00000000-0000-4000-8000-000000000001",
        "https://sso.online.tableau.com/public/sp/SSO?alias=00000000-0000-4000-8000-000000000001", (EMAIL, UNSPECIFIED),
        ("email", "firstName", "lastName"),
    ),
    "Jira": Product(
        "https://auth.atlassian.com/saml/acme", "https://auth.atlassian.com/login/callback?connection=saml-acme", (EMAIL,),
        (f"{_CLAIM}givenname", f"{_CLAIM}surname", f"{_CLAIM}name"), given=ACCOUNT,
    ),
}  # fmt: skip
