"""The SAML provider of an organization, with the mapping that the organization's connection has."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.federation.connections import STANDARD_CLAIMS
from app.contract.organizations.models import Attributes
from app.identity.authentication.federation.providers import connection_mapping
from app.identity.authentication.federation.saml.saml_upstream import HintForm, SamlUpstream, claims_of, subject_of
from app.identity.directory.identity_provider import ProviderIdentity, identity_from_claims
from app.identity.directory.organizations.connections import (
    organization_connection_store,
    provider_certificates,
    sp_addresses,
    sp_keys,
)
from app.identity.directory.organizations.connections.organization_connection_store import OrganizationConnectionRecord
from app.identity.platform.context import Context
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.saml.expectations import AcceptedAssertion
from app.identity.platform.saml.saml_names import REDIRECT, UNSPECIFIED_FORMAT
from app.identity.platform.saml_writing import service_provider_keys

_DEFAULTS: Final = Attributes()
NAME_ID: Final = "NameID"
"""The name by which a mapping takes the subject's NameID like an attribute."""
_EMAIL_FORMAT: Final = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
_CLAIM: Final = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/"
_USUAL: Final[Mapping[str, tuple[str, ...]]] = {
    "email": ("mail", "urn:oid:0.9.2342.19200300.100.1.3", f"{_CLAIM}emailaddress", "Email", "User.Email"),
    "first_name": ("givenName", "urn:oid:2.5.4.42", f"{_CLAIM}givenname", "FirstName", "User.FirstName"),
    "last_name": ("sn", "urn:oid:2.5.4.4", f"{_CLAIM}surname", "LastName", "User.LastName"),
    "groups": (
        "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups", "http://schemas.xmlsoap.org/claims/Group",
        "urn:oid:1.3.6.1.4.1.5923.1.5.1.1", "memberOf", "Groups",
    ),
}  # fmt: skip
"""The names that providers give these attributes, used where the mapping is the default and no attribute has its name."""
_HINTS: Final = {
    "saml_okta": HintForm.SUBJECT, "saml_entraid": HintForm.PARAMETER, "saml_google_workspace": HintForm.PARAMETER,
}  # fmt: skip


@dataclass(frozen=True)
class AttributeMapping:
    """The mapping of a connection. Its provider's administrators verify the addresses of the organization's domains."""

    attributes: Attributes
    custom_fields: Collection[str]
    others: Mapping[str, str] = field(default_factory=dict)
    """The attributes of further claims, by claim."""

    def __call__(self, provider: str, assertion: AcceptedAssertion) -> ProviderIdentity:
        claims, attributes = self._claims(assertion), self.attributes
        names = {
            **STANDARD_CLAIMS,
            "subject": attributes.id,
            "email": attributes.email,
            "first_name": attributes.first_name,
            "last_name": attributes.last_name,
            **self.others,
        }
        identity = identity_from_claims(provider, names, claims)
        decided = connection_mapping.custom_profile(attributes, self.custom_fields, claims)
        return replace(
            identity,
            email_verified=identity.email is not None,
            profile={**identity.profile, **decided},
            decided=tuple(decided),
            groups=connection_mapping.groups(attributes, claims),
        )

    def sources(self, assertion: AcceptedAssertion) -> dict[str, str]:
        """Return the attribute that fills each member of the mapping, by the member's name in Python: the mapped one, else what stands
        in for one of the default mapping that is missing."""
        claims = claims_of(assertion)
        found = {member: str(getattr(self.attributes, member)) for member in ("id", *_USUAL)}
        missing = [
            member for member, name in found.items() if name not in claims and name == getattr(_DEFAULTS, member)
        ]
        for member in missing:
            stand_in = next((other for other in _USUAL.get(member, ()) if other in claims), None)
            if stand_in is None and (member == "id" or (member == "email" and _names_address(assertion))):
                stand_in = NAME_ID
            found[member] = stand_in or found[member]
        return found

    def _claims(self, assertion: AcceptedAssertion) -> dict[str, Any]:
        """Return the attributes, each of the mapping by its mapped name. Raises ProviderUnavailable for a NameID that names nobody."""
        received = {**claims_of(assertion), NAME_ID: assertion.name_id.value}
        claims = dict(received)
        for member, source in self.sources(assertion).items():
            value = received.get(source)
            if member == "id" and source == NAME_ID:
                value = subject_of(assertion)
            elif member in ("email", "first_name", "last_name"):
                value = _first(value)
            elif value is None:
                continue
            claims[getattr(self.attributes, member)] = value
        return claims


def _first(value: Any) -> Any:
    """Return the first of several values: a person may have several addresses, of which the provider's first is the main one."""
    return value[0] if isinstance(value, list) else value


def _names_address(assertion: AcceptedAssertion) -> bool:
    """Return whether the NameID is an email address."""
    name_id = assertion.name_id
    return name_id.name_format == _EMAIL_FORMAT or (name_id.name_format == UNSPECIFIED_FORMAT and "@" in name_id.value)


def mapping_of(context: Context, record: OrganizationConnectionRecord) -> AttributeMapping:
    attributes = Attributes.model_validate(record.content["attributes"])
    return AttributeMapping(attributes, context.tenant.settings.custom_fields)


def provider_of(context: Context, record: OrganizationConnectionRecord | None) -> SamlUpstream:
    """Return the provider of a connection.

    Args:
        record: the active connection; None: it was removed or turned off since a sign-in found it.

    Raises ProviderUnavailable for None, and for a connection without a usable certificate.
    """
    if record is None:
        raise ProviderUnavailable("the connection was removed")
    return client_of(context, record, organization_connection_store.secrets_of(context, record))


def client_of(context: Context, record: OrganizationConnectionRecord, secrets: Mapping[str, str]) -> SamlUpstream:
    """Return the provider of a connection, active or not, with these secrets. Raises ProviderUnavailable without a usable certificate."""
    content = record.content
    keys = provider_certificates.keys_of(content, context.now)
    own = service_provider_keys.of_keys(sp_keys.SLOTS.read(content, secrets), context.now)
    if own is None:
        text = "the connection has no key of its own"
        raise ProviderUnavailable(text, check=ConnectionCheck.CONFIGURATION, expected="a connection that is made anew")
    return SamlUpstream(
        name=record.connection_id,
        issuer=content["idp_entity_id"],
        entity_id=sp_addresses.of_connection(context, record).entity_id,
        keys=keys,
        sign_in_url=content.get("idp_sign_in_url") or "",
        sign_in_binding=content.get("idp_sign_in_binding") or REDIRECT,
        signing_key=own.signing,
        decryption=own.decryption,
        identity_of=mapping_of(context, record),
        hint_form=_HINTS.get(record.kind, HintForm.NONE),
    )
