"""Handlers of the older addresses on the API host: those of the tenant's host, under other names."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from app.contract.oauth import legacy_endpoints as contract
from app.contract.oauth.authorization import DeviceRequest, DeviceResponse
from app.contract.oauth.metadata import IssuerRequest, UserinfoResponse
from app.contract.oauth.tokens import RevocationRequest, TokenResponse
from app.identity.platform.context import Context
from app.identity.protocols.oauth.endpoints import handlers, metadata
from app.kit.operations.wire import Document, Found


@contract.oauth_redirect.implements
def redirect(context: Context, req: IssuerRequest) -> Found:  # noqa: ARG001 - the query goes on as it came
    return _to_hub(context, "/service/oauth/authorize")


@contract.oidc_authorize.implements
def redirect_to_application(context: Context, req: contract.SiteRequest) -> Found:
    metadata.issuer_at(context, req.app)
    return _to_hub(context, f"/service/oidc/{quote(req.app or '')}/authorize")


@contract.access_token.implements
def exchange_code(context: Context, req: contract.OlderCodeRequest) -> TokenResponse:
    return handlers.token(context, req)


@contract.oidc_token.implements
def exchange(context: Context, req: contract.SiteTokenRequest) -> TokenResponse:
    return handlers.token(context, req)


@contract.refresh.implements
def refresh(context: Context, req: contract.OlderRefreshRequest) -> TokenResponse:
    return handlers.token(context, req.model_copy(update={"grant_type": "refresh_token"}))


@contract.revoke.implements
def revoke(context: Context, req: RevocationRequest) -> Document:
    return handlers.revoke(context, req)


@contract.oidc_revoke.implements
def revoke_at_site(context: Context, req: contract.SiteRevocationRequest) -> Document:
    return handlers.revoke(context, req)


@contract.device.implements
def start_device(context: Context, req: DeviceRequest) -> DeviceResponse:
    return handlers.start_device(context, req)


@contract.oidc_userinfo.implements
def read_userinfo(context: Context, req: contract.SiteRequest) -> UserinfoResponse | Document:
    return handlers.read_userinfo(context, req)


@contract.oidc_jwks.implements
def read_keys(context: Context, req: contract.SiteRequest) -> Document:
    return handlers.read_keys(context, req)


@contract.oidc_discovery.implements
def read_metadata(context: Context, req: contract.SiteRequest) -> Document:
    return handlers.read_metadata(context, req)


def _to_hub(context: Context, path: str) -> Found:
    """Redirect to the tenant's own host with the query as it came, but for the API key."""
    remaining = [(name, value) for name, value in context.raw.query_pairs if name.lower() != "apikey"]
    query = f"?{urlencode(remaining, errors='replace')}" if remaining else ""
    return Found(headers={"Location": f"{context.own_addresses[0]}{path}{query}"})
