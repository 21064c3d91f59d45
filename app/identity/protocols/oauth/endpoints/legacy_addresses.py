"""The older addresses on the API host: those of the tenant's host, under other names."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from app.contract.oauth import legacy_endpoints
from app.contract.oauth.authorization_operations import DeviceRequest, DeviceResponse
from app.contract.oauth.oauth_metadata import IssuerRequest, UserinfoResponse
from app.contract.oauth.oauth_token_operations import RevocationRequest, TokenResponse
from app.identity.platform.context import Context
from app.identity.protocols.oauth.endpoints import metadata, oauth_endpoints
from app.kit.operations.wire import Document, Found


@legacy_endpoints.oauth_redirect.implements
def redirect(context: Context, req: IssuerRequest) -> Found:  # noqa: ARG001 - the query goes on as it came
    return _to_hub(context, "/service/oauth/authorize")


@legacy_endpoints.oidc_authorize.implements
def redirect_to_application(context: Context, req: legacy_endpoints.SiteRequest) -> Found:
    metadata.issuer_at(context, req.app)
    return _to_hub(context, f"/service/oidc/{quote(req.app or '')}/authorize")


@legacy_endpoints.access_token.implements
def exchange_code(context: Context, req: legacy_endpoints.OlderCodeRequest) -> TokenResponse:
    return oauth_endpoints.token(context, req)


@legacy_endpoints.oidc_token.implements
def exchange(context: Context, req: legacy_endpoints.SiteTokenRequest) -> TokenResponse:
    return oauth_endpoints.token(context, req)


@legacy_endpoints.refresh.implements
def refresh(context: Context, req: legacy_endpoints.OlderRefreshRequest) -> TokenResponse:
    return oauth_endpoints.token(context, req.model_copy(update={"grant_type": "refresh_token"}))


@legacy_endpoints.revoke.implements
def revoke(context: Context, req: RevocationRequest) -> Document:
    return oauth_endpoints.revoke(context, req)


@legacy_endpoints.oidc_revoke.implements
def revoke_at_site(context: Context, req: legacy_endpoints.SiteRevocationRequest) -> Document:
    return oauth_endpoints.revoke(context, req)


@legacy_endpoints.device.implements
def begin_device(context: Context, req: DeviceRequest) -> DeviceResponse:
    return oauth_endpoints.begin_device(context, req)


@legacy_endpoints.oidc_userinfo.implements
def read_userinfo(context: Context, req: legacy_endpoints.SiteRequest) -> UserinfoResponse | Document:
    return oauth_endpoints.read_userinfo(context, req)


@legacy_endpoints.oidc_jwks.implements
def read_keys(context: Context, req: legacy_endpoints.SiteRequest) -> Document:
    return oauth_endpoints.read_keys(context, req)


@legacy_endpoints.oidc_discovery.implements
def read_metadata(context: Context, req: legacy_endpoints.SiteRequest) -> Document:
    return oauth_endpoints.read_metadata(context, req)


def _to_hub(context: Context, path: str) -> Found:
    """Redirect to the tenant's own host with the query as it came, but for the API key."""
    remaining = [(name, value) for name, value in context.raw.query_pairs if name.lower() != "apikey"]
    query = f"?{urlencode(remaining, errors='replace')}" if remaining else ""
    return Found(headers={"Location": f"{context.own_urls[0]}{path}{query}"})
