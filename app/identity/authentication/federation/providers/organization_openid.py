"""The OpenID Connect provider of an organization, with the mapping that the organization's connection states."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.federation.connections import ConnectionSettings
from app.contract.organizations.models import Attributes
from app.identity.authentication.federation.providers import connection_mapping
from app.identity.authentication.federation.providers.openid import OpenIdProvider, owns_mailbox_domain
from app.identity.directory.identity_provider import (
    ProviderIdentity,
    find_claim,
    identity_from_claims,
    text_of,
)
from app.identity.directory.organizations.connections import (
    organization_connection_store,
    shared_issuers,
)
from app.identity.directory.organizations.connections.organization_connection_store import OrganizationConnectionRecord
from app.identity.platform.context import Context
from app.identity.platform.outbound.openid_metadata import DIRECTORY, ProviderMetadata
from app.identity.platform.outbound.outbound_http import ProviderUnavailable

_MAX_LENGTH: Final = 500
_STANDARD: Final[Mapping[str, str]] = {"first_name": "given_name", "last_name": "family_name"}
"""Claims of OpenID Connect Core section 5.1, used where those of the interface's default mapping are missing."""


@dataclass(frozen=True)
class OrganizationOpenIdProvider(OpenIdProvider):
    """A client at the OpenID Connect provider of an organization, whose administrators verify its addresses."""

    attributes: Attributes
    domain: str
    custom_fields: Collection[str] = ()

    def optional_parameters(self, hint: str, language: str) -> dict[str, str]:
        """Return the parameters of the base class, and the organization's domain, by which shared providers find its directory."""
        return {**super().optional_parameters(hint, language), "domain_hint": self.domain}

    def identity_of(self, claims: Mapping[str, Any]) -> ProviderIdentity:
        """Return the identity with its groups.

        An address counts as verified unless the provider says that it is not, or is Google and does not have its domain: anyone
        opens a private Google account with the address of a company.
        """
        names = self.settings.names
        mapped = {**claims, **{names[key]: claims[standard] for key, standard in _STANDARD.items()
                               if standard in claims and find_claim(claims, names[key]) is None}}  # fmt: skip
        identity = identity_from_claims(self.name, names, mapped)
        is_verified = identity.email is not None and claims.get("email_verified") in (None, True, "true")
        is_of_organization = owns_mailbox_domain(self.issuer, identity.email or "", claims)
        decided = connection_mapping.custom_profile(self.attributes, self.custom_fields, claims)
        return replace(
            identity,
            email_verified=is_verified and is_of_organization,
            profile={**identity.profile, **decided},
            decided=tuple(decided),
            groups=connection_mapping.groups(self.attributes, claims),
            upstream_session=text_of(claims.get("sid"))[:_MAX_LENGTH],
        )

    def needs_userinfo(self, claims: Mapping[str, Any]) -> bool:
        """Return whether claims of the mapping are missing that userinfo may have."""
        expected = (self.settings.names["email"], self.attributes.groups)
        return any(find_claim(claims, name) is None for name in expected)

    def verified_claims(
        self, token: Mapping[str, Any], metadata: ProviderMetadata, nonce: str | None, now: datetime
    ) -> dict[str, Any]:
        """Return the claims as the base class does. Refuses an issuer of many directories, each of which names any address."""
        if DIRECTORY in metadata.issuer:
            text = "its issuer stands for every directory"
            raise ProviderUnavailable(
                text, check=ConnectionCheck.ISS, expected="the issuer of one directory", received=self.issuer
            )
        return super().verified_claims(token, metadata, nonce, now)


def provider_of(context: Context, record: OrganizationConnectionRecord | None) -> OrganizationOpenIdProvider:
    """Return the client of a connection. What it states goes before the provider's own document.

    Args:
        record: the active connection; None: it was removed or turned off since a sign-in found it.

    Raises ProviderUnavailable: for None, and for an issuer at which anyone can have an account.
    """
    if record is None:
        text = "the connection was removed"
        raise ProviderUnavailable(text, check=ConnectionCheck.CONFIGURATION, expected="a connection that is active")
    if shared_issuers.is_shared(str(record.content["issuer"])):  # stored by an earlier version
        raise ProviderUnavailable(
            "anyone can have an account at its issuer",
            check=ConnectionCheck.CONFIGURATION,
            expected="the issuer of the organization’s own provider",
            received=str(record.content["issuer"]),
        )
    return client_of(
        context, record, organization_connection_store.secrets_of(context, record).get("client_secret", "")
    )


def client_of(context: Context, record: OrganizationConnectionRecord, secret: str) -> OrganizationOpenIdProvider:
    """Return the client of a connection, active or not, with this client secret."""
    content, attributes = record.content, Attributes.model_validate(record.content["attributes"])
    settings = ConnectionSettings.model_construct(
        key=content["client_id"],
        issuer=content["issuer"],
        authorization_endpoint=content["authorization_url"],
        token_endpoint=content["token_url"],
        userinfo_endpoint=content["user_info_url"] or None,
        token_endpoint_auth_method=content["token_auth_method"],
        scope=" ".join(dict.fromkeys(("openid", *content["scopes"]))),
        claims={
            "subject": attributes.id,
            "email": attributes.email,
            "first_name": attributes.first_name,
            "last_name": attributes.last_name,
        },
    )
    return OrganizationOpenIdProvider(
        record.connection_id, settings, secret, context.services.provider_metadata, attributes, record.domain or "",
        context.tenant.settings.custom_fields,
    )  # fmt: skip
