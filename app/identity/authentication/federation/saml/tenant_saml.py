"""A tenant's SAML provider, with the mapping of its `DataMap`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.federation.connections import MEMBERS
from app.contract.organizations.models import Attributes
from app.identity.authentication.federation import saml_providers
from app.identity.authentication.federation.saml.organization_saml import AttributeMapping
from app.identity.authentication.federation.saml.saml_upstream import SamlUpstream
from app.identity.authentication.federation.saml_providers import SamlSender
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform import saml_certificates
from app.identity.platform.context import Context
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.saml.expectations import AcceptedAssertion
from app.identity.platform.saml.trusted_keys import TrustedKeys
from app.identity.platform.saml_writing import service_provider_keys


@dataclass(frozen=True)
class TenantMapping:
    """The mapping of a provider, whose addresses count as verified in its own domain alone."""

    sender: SamlSender
    mapping: AttributeMapping

    def __call__(self, provider: str, assertion: AcceptedAssertion) -> ProviderIdentity:
        identity = self.mapping(provider, assertion)
        is_verified = saml_providers.trusts_email(self.sender, identity)
        return replace(identity, email_verified=is_verified, groups=None)


def entity_id(context: Context) -> str:
    """Return the entity ID of the tenant as a service provider: its own host, which no domain that it adds changes."""
    return context.own_urls[0]


def provider_of(context: Context, sender: SamlSender) -> SamlUpstream:
    """Return the provider. Raises ProviderUnavailable for one without a key of ours."""
    provider, upstream = sender.provider, sender.provider.identity_provider
    own = service_provider_keys.of_keys(sender.keys, context.now)
    if own is None:
        text = "the provider has no certificate of its own"
        raise ProviderUnavailable(text, check=ConnectionCheck.CONFIGURATION, expected="a renewed SpCertificate")
    fields, default = provider.data_map, Attributes()
    attributes = Attributes.model_construct(
        id=fields.get("ID", default.id),
        email=fields.get("Email", default.email),
        first_name=fields.get("FirstName", default.first_name),
        last_name=fields.get("LastName", default.last_name),
        groups=default.groups,
        custom_mapping={},
    )
    others = {claim: fields[member] for claim, member in MEMBERS.items() if member in fields}
    return SamlUpstream(
        name=sender.name,
        issuer=str(upstream.entity_id),
        entity_id=entity_id(context),
        keys=TrustedKeys(saml_certificates.read_all(str(provider.idp_certificate.certificate))),
        sign_in_url=upstream.location or "",
        sign_in_binding=upstream.binding,
        signing_key=own.signing,
        decryption=own.decryption,
        identity_of=TenantMapping(sender, AttributeMapping(attributes, (), others)),
    )
