"""The metadata that an application states when it registers itself (RFC 7591 section 2, OpenID Connect Registration section 2)."""

from typing import Final

from app.contract.applications.file import ApplicationFile

_STANDARD: Final[tuple[str, ...]] = (
    # RFC 7591 section 2
    "redirect_uris", "token_endpoint_auth_method", "grant_types", "response_types", "client_name", "client_uri", "logo_uri", "scope",
    "contacts", "tos_uri", "policy_uri", "jwks_uri", "jwks", "software_id", "software_version",
    # OpenID Connect Registration section 2
    "application_type", "sector_identifier_uri", "subject_type", "id_token_signed_response_alg", "userinfo_signed_response_alg",
    "request_object_signing_alg", "token_endpoint_auth_signing_alg", "default_max_age", "require_auth_time", "default_acr_values",
    "initiate_login_uri", "request_uris",
    # OpenID Connect RP-Initiated, Back-Channel and Front-Channel Logout
    "post_logout_redirect_uris", "backchannel_logout_uri", "backchannel_logout_session_required", "frontchannel_logout_uri",
    "frontchannel_logout_session_required",
    # RFC 8705, RFC 9126, RFC 9101, RFC 9396, RFC 9449, RFC 9701, JARM, FAPI 2.0 Message Signing
    "tls_client_auth_subject_dn", "tls_client_auth_san_dns", "tls_client_auth_san_uri", "tls_client_auth_san_ip",
    "tls_client_auth_san_email", "tls_client_certificate_bound_access_tokens", "require_pushed_authorization_requests",
    "require_signed_request_object", "authorization_details_types", "dpop_bound_access_tokens", "introspection_signed_response_alg",
    "authorization_signed_response_alg", "response_modes",
)  # fmt: skip
"""Names in the registry of client metadata (RFC 7591 section 4.1). An application's setting with one of them is served by its name."""

MEMBERS: Final[tuple[str, ...]] = tuple(name for name in _STANDARD if name in ApplicationFile.model_fields)
"""What a registration may state. All other members are ignored (RFC 7591 section 2)."""
