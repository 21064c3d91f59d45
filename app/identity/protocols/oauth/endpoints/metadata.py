"""Discovery documents (OpenID Connect Discovery section 3, RFC 8414 section 2, RFC 9701 section 7): rendered once per issuer."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, get_args

from app.contract.applications.client_protocol import ClientProtocol
from app.contract.applications.file import GrantType
from app.contract.applications.subject_types import SubjectType
from app.contract.oauth import response_types
from app.contract.sessions.pages.sign_out_pages import CHECK_SESSION_PATH
from app.identity.directory.tenants.keys.signing_algorithms import ALGORITHMS
from app.identity.platform.context import Context
from app.identity.protocols.oauth import authorization_details, issuers
from app.identity.protocols.oauth.authorize.oauth_parameters import response_mode
from app.identity.protocols.oauth.authorize.openid_parameters import acr_values, prompt
from app.identity.protocols.oauth.claims import organization_claims
from app.identity.protocols.oauth.claims.account_claims import CLAIMS_OF_SCOPES, names
from app.identity.protocols.oauth.client_authentication import authentication_methods
from app.identity.protocols.oauth.grants import GRANTS
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.sender_constraints import client_certificates, client_keys, dpop
from app.kit.operations.wire import Document

_MAX_AGE_SECONDS = 300  # shorter than a new key is published before it signs
_GRANTS = [name for name in GRANTS if name in get_args(GrantType)]  # an application can register these


def issuer_at(context: Context, app: str | None) -> Issuer:
    """Return the issuer that the address names; raises UnknownApplication for an unknown or inactive application."""
    if app is None:
        return issuers.tenant_wide(context)
    return issuers.of_application(context, issuers.require_application(context, app))


@dataclass(frozen=True)
class IssuerFeatures:
    """What the settings of the tenant and of the installation add to the metadata."""

    has_open_registration: bool = False
    has_session_management: bool = False
    has_registration: bool = False
    requires_signature: bool = False
    response_modes: tuple[str, ...] = ()
    requires_push: bool = False
    takes_documents: bool = False
    authorization_details_types: tuple[str, ...] = ()
    client_methods: tuple[str, ...] = ()
    binds_certificates: bool = False
    mtls_url: str = ""


def document(context: Context, issuer: Issuer) -> Document:
    """Return the issuer's metadata; one document serves both standards, because their members do not collide."""
    settings = context.tenant.settings
    named = context.application(name=issuer.app) if issuer.app is not None else None
    offer = IssuerFeatures(
        has_open_registration=settings.client_registration.is_open,
        has_session_management=settings.session_management,
        has_registration=settings.client_registration.mode != "closed",
        requires_push=named is not None and named.settings.must_push,
        requires_signature=named is not None and named.settings.require_signed_request_object,
        response_modes=named.settings.response_modes if named is not None else (),
        takes_documents=settings.client_registration.client_id_documents,
        authorization_details_types=authorization_details.supported(context),
        client_methods=authentication_methods.served(context.services.settings),
        binds_certificates=client_certificates.is_configured(context.services.settings),
        mtls_url=context.services.settings.mtls_url(context.tenant.name),
    )
    return Document(_bytes(issuer, offer), max_age_seconds=_MAX_AGE_SECONDS)


def key_set(context: Context) -> Document:
    """Return the tenant's public keys."""
    return Document(context.services.signing_keys.published(context.work).jwks, max_age_seconds=_MAX_AGE_SECONDS)


@lru_cache(maxsize=8192)
def _bytes(issuer: Issuer, offer: IssuerFeatures) -> bytes:
    return json.dumps(_members(issuer, offer), separators=(",", ":")).encode()


def _members(issuer: Issuer, offer: IssuerFeatures) -> dict[str, Any]:
    is_openid = issuer.protocol is ClientProtocol.OPENID
    keys = issuer if is_openid else Issuer(issuer.hub_url, ClientProtocol.OPENID, None, issuer.key)
    return {
        "issuer": issuer.url,
        "authorization_endpoint": issuer.browser_endpoint("authorize"),
        "token_endpoint": issuer.token_endpoint,
        "revocation_endpoint": issuer.client_endpoint("revoke"),
        "introspection_endpoint": issuer.client_endpoint("introspect"),
        "pushed_authorization_request_endpoint": issuer.client_endpoint("par"),
        "device_authorization_endpoint": issuer.client_endpoint("device"),
        "require_pushed_authorization_requests": offer.requires_push,
        "require_signed_request_object": offer.requires_signature,
        **({"registration_endpoint": issuer.client_endpoint("register")} if offer.has_registration else {}),
        **({"client_id_metadata_document_supported": True} if offer.takes_documents else {}),
        "jwks_uri": keys.browser_endpoint("jwks"),
        "response_types_supported": _response_types(issuer, offer),
        "response_modes_supported": list(offer.response_modes or response_mode.SUPPORTED),
        "authorization_signing_alg_values_supported": list(ALGORITHMS),
        "grant_types_supported": [*_GRANTS, *([response_types.IMPLICIT] if offer.has_open_registration else [])],
        "scopes_supported": [*(["openid"] if is_openid else []), "offline_access", *CLAIMS_OF_SCOPES],
        **authentication_methods.metadata(offer.client_methods),
        **_certificate_members(issuer, offer),
        "introspection_signing_alg_values_supported": list(ALGORITHMS),
        "code_challenge_methods_supported": ["S256"],
        "dpop_signing_alg_values_supported": list(dpop.ALGORITHMS),
        "authorization_response_iss_parameter_supported": True,
        "request_parameter_supported": True,
        "request_uri_parameter_supported": True,
        "require_request_uri_registration": True,
        "request_object_signing_alg_values_supported": list(client_keys.ALGORITHMS),
        "authorization_details_types_supported": list(offer.authorization_details_types),
        **({**_openid_members(issuer), **_logout_members(issuer, offer)} if is_openid else {}),
    }


def _certificate_members(issuer: Issuer, offer: IssuerFeatures) -> dict[str, Any]:
    """Return the members of RFC 8705 sections 3.3 and 5."""
    if not offer.binds_certificates:
        return {}
    members: dict[str, Any] = {"tls_client_certificate_bound_access_tokens": True}
    if offer.mtls_url:
        at_mtls = replace(issuer, hub_url=offer.mtls_url)
        members["mtls_endpoint_aliases"] = {
            "token_endpoint": at_mtls.token_endpoint,
            "revocation_endpoint": at_mtls.client_endpoint("revoke"),
            "introspection_endpoint": at_mtls.client_endpoint("introspect"),
            "pushed_authorization_request_endpoint": at_mtls.client_endpoint("par"),
            "device_authorization_endpoint": at_mtls.client_endpoint("device"),
            **(
                {"userinfo_endpoint": at_mtls.browser_endpoint("userinfo")}
                if issuer.protocol is ClientProtocol.OPENID
                else {}
            ),
        }
    return members


def _response_types(issuer: Issuer, offer: IssuerFeatures) -> list[str]:
    """Return `code`, and the legacy types where anyone may register for them, as Dynamic OpenID Providers must (Discovery section 3)."""
    if not offer.has_open_registration:
        return [response_types.CODE]
    # That section's later editions write `id_token token`: the order of the words has no meaning.
    return (
        [*response_types.OPENID_TYPES, "id_token token"]
        if issuer.protocol is ClientProtocol.OPENID
        else [*response_types.OAUTH_TYPES]
    )


def _openid_members(issuer: Issuer) -> dict[str, Any]:
    """Return the members of OpenID Connect (Discovery section 3)."""
    token_claims = ["sub", "iss", "aud", "exp", "iat", "auth_time", "acr", "amr", "azp", "nonce", "sid"]
    return {
        "userinfo_endpoint": issuer.browser_endpoint("userinfo"),
        "subject_types_supported": list(get_args(SubjectType)),
        "id_token_signing_alg_values_supported": list(ALGORITHMS),
        "userinfo_signing_alg_values_supported": list(ALGORITHMS),
        "claim_types_supported": ["normal"],
        "claims_supported": [*token_claims, *names(CLAIMS_OF_SCOPES), *organization_claims.NAMES],
        "claims_parameter_supported": True,
        "acr_values_supported": [acr_values.ONE, acr_values.TWO],
        "prompt_values_supported": list(prompt.ADVERTISED),
        "display_values_supported": ["page", "popup", "touch", "wap"],
    }


def _logout_members(issuer: Issuer, offer: IssuerFeatures) -> dict[str, Any]:
    """Return the members of RP-Initiated Logout 1.0 section 2.1, Back-Channel Logout 1.0 section 2.1, Front-Channel Logout 1.0
    section 3 and Session Management 1.0 section 3.3, whose iframe is the same for every issuer.
    """
    members: dict[str, Any] = {
        "end_session_endpoint": issuer.browser_endpoint("logout"),
        "backchannel_logout_supported": True,
        "backchannel_logout_session_supported": True,
        "frontchannel_logout_supported": True,
        "frontchannel_logout_session_supported": True,
    }
    if offer.has_session_management:
        members["check_session_iframe"] = f"{issuer.hub_url}{CHECK_SESSION_PATH}"
    return members
