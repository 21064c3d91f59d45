"""Finds the tenant that the request's host, key or secret names, and recognizes the hub as caller."""

from __future__ import annotations

import re

from pydantic_core import from_json

from app.contract import errors
from app.contract.auth import Host
from app.contract.configuration_model import instant
from app.contract.oauth import oauth_errors
from app.contract.visitor_claims import VISIT_HEADER, VisitorClaims
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import Cost
from app.identity.platform.tenant import Tenant
from app.identity.protocols.oauth import refusal_log
from app.kit.operations.call_signing import SIGNATURE_HEADER, read_signature
from app.kit.operations.operation import AnyOperation
from app.kit.operations.request_parsing import RawRequest
from app.settings import Settings

_VENDOR_HEADER = re.compile(r"x-\w+-(apikey|apisecret)\Z")
SITE = "site"
"""The part of a path that names the tenant."""
_TENANT_NAME = re.compile(r"[a-z0-9-]{1,63}\Z")
_GUID = re.compile(r"[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}\Z")


def host_of(settings: Settings, host: str, *, is_inside: bool = False) -> Host:
    """Return the kind of host: the API host, the internal host of a separate hub, or a tenant's host.

    `is_inside`: a call of the hub in the same process, which needs no host.
    """
    if is_inside or (settings.inside_host and host.lower() == settings.inside_host):
        return Host.INSIDE
    return Host.API if host.lower() == settings.api_hostname else Host.TENANT


def tenant_at(services: IdentityServices, host: str, cost: Cost | None = None) -> Tenant:
    """Return the tenant of a host; raises UnknownTenant."""
    found = services.directory.by_host(host, cost)
    if found is None:
        raise errors.UnknownTenant
    return found


def tenant_of_host(services: IdentityServices, operation: AnyOperation, raw: RawRequest, cost: Cost) -> Tenant:
    """Return the tenant of the request's host.

    Raises:
        UnknownApplication: there is none, at the addresses where libraries look for an issuer's metadata: a 403 would look
            like a matter of permissions there.
        UnknownTenant: there is none, at another address.
    """
    settings = services.settings
    tenant = services.directory.by_host(settings.without_mtls(raw.host), cost)
    if tenant is not None:
        return tenant
    if oauth_errors.UnknownApplication not in operation.errors:
        raise errors.UnknownTenant
    issuers = f"{settings.public_scheme}://TENANT.{settings.hub_domain}"
    refusal = oauth_errors.UnknownApplication(
        f"No tenant has the host {refusal_log.shown(raw.host)}. An issuer here is a tenant's address: {issuers}"
    )
    refusal_log.log(refusal.code, refusal.description)
    raise refusal


def tenant_of_site(services: IdentityServices, raw: RawRequest, cost: Cost | None = None) -> Tenant:
    """Return the tenant that the path names; raises UnknownTenant."""
    name = raw.parameters[SITE].lower()
    if not _TENANT_NAME.match(name):
        raise errors.UnknownTenant
    return tenant_at(services, f"{name}.{services.settings.hub_domain}", cost)


def check_key(raw: RawRequest, tenant: Tenant, *, is_needed: bool) -> None:
    """Require the API key of the tenant that the address names, if the operation declares it; a key that is sent must be correct."""
    key = api_key(raw)
    if key is None:
        if is_needed:
            raise errors.BadParameter.names("apikey")
    elif key.lower() != tenant.api_key.lower():
        raise errors.UnknownKey


def visit_of(services: IdentityServices, raw: RawRequest) -> VisitorClaims:
    """Return the visit that the hub signed; raises HubRefused, also for a replayed call.

    A call within the process passes the visit along: no request over the network can set `caller`. A call that came as a
    request all the same needs no protection from replays.
    """
    if isinstance(raw.caller, VisitorClaims):
        return raw.caller
    visit, signature = raw.headers.get(VISIT_HEADER.lower(), ""), raw.headers.get(SIGNATURE_HEADER.lower(), "")
    address = f"{raw.path}?{raw.query_text}" if raw.query_text else raw.path
    now = int(services.clock.now().timestamp())
    signed = read_signature(services.hub_keys, raw.method, address, raw.body, visit, signature, now)
    if signed is None:
        raise errors.HubRefused
    if not raw.is_inside and not raw.is_repeated and not services.nonces.take(signed.nonce, signed.at, now):
        raise errors.HubRefused
    try:
        return VisitorClaims.from_header(visit)
    except ValueError:
        raise errors.HubRefused from None


def tenant_of_key(services: IdentityServices, operation: AnyOperation, raw: RawRequest, cost: Cost) -> Tenant:
    """Return the tenant whose API key was sent (order of checks: BadParameter, MalformedKey, UnknownKey, TrialExpired)."""
    key = api_key(raw)
    if key is None:
        raise (
            operation.error_profile.bad_parameter.names("apikey")
            if operation.name.startswith("oauth.")
            else _missing_key(operation, raw)
        )
    if errors.MalformedKey in operation.errors and not _GUID.match(key):
        raise errors.MalformedKey
    tenant = services.directory.by_key(key, cost)
    if tenant is None:
        raise errors.UnknownKey
    refuse_expired_trial(services, tenant)
    return tenant


def tenant_of_secret(services: IdentityServices, raw: RawRequest, cost: Cost) -> Tenant:
    """Return the tenant whose API secret was sent without a key (order of checks: MissingSecret, WrongSecret, TrialExpired)."""
    secret = api_secret(raw)
    if secret is None:
        raise errors.MissingSecret
    tenant = services.directory.by_secret(secret, cost)
    if tenant is None:
        raise errors.WrongSecret
    refuse_expired_trial(services, tenant)
    return tenant


def _missing_key(operation: AnyOperation, raw: RawRequest) -> errors.BadParameter:
    """Return the error for a missing API key, which may name another missing parameter too."""
    beside = getattr(operation.request, "beside_key", ())
    try:
        members = from_json(raw.body[:100_000]) if beside else None
    except ValueError:
        members = None
    member_names = {name.lower() for name, value in members.items() if value} if isinstance(members, dict) else set()
    missing = next((name for name in beside if name not in member_names), None)
    if (
        not isinstance(members, dict)
        or missing is None
        or (missing != "password" and member_names & {"otp", "email", "username"})
    ):
        return errors.BadParameter.names("apikey")
    return errors.BadParameter(f"The apikey and {missing} are required parameters.")


def refuse_expired_trial(services: IdentityServices, tenant: Tenant) -> None:
    """Raise TrialExpired once the tenant's trial is over."""
    ends = tenant.settings.trial_ends_at
    if ends is not None and services.clock.now() >= instant(ends):
        raise errors.TrialExpired


def api_key(raw: RawRequest) -> str | None:
    """Return the API key: query `apikey` (older paths: `key`) or the header `X-{vendor}-ApiKey`."""
    older = ("key",) if raw.path[:8].lower() == "/api/v2/" else ()
    return raw.first("apikey", *older) or _vendor_header(raw, "apikey")


def _vendor_header(raw: RawRequest, what: str) -> str | None:
    for name, value in raw.headers.items():
        if name.endswith(what) and _VENDOR_HEADER.match(name):
            return value
    return None


def has_secret(raw: RawRequest) -> bool:
    """Return whether the request has the API secret or a signature instead of it."""
    return api_secret(raw) is not None or "digest" in raw.headers


def api_secret(raw: RawRequest) -> str | None:
    """Return the API secret: query `apisecret` (older: `secret`) or the header `X-{vendor}-ApiSecret`."""
    return raw.first("apisecret", "secret") or _vendor_header(raw, "apisecret")
