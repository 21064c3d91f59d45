"""Authenticates callers by every scheme, each in the headers and parameters of the interface (user.md, account.md section 0)."""

from __future__ import annotations

import hmac
import re
from datetime import timedelta
from typing import Any

from pydantic_core import from_json

from app.contract import errors as e
from app.contract import errors_oauth as oauth
from app.contract.auth import AuthScheme, Host
from app.contract.configuration_model import instant
from app.contract.error_groups import OAUTH
from app.contract.visit import VISIT_HEADER, Visit
from app.identity.authentication.sign_in import authentication_times
from app.identity.credentials.tokens import service as tokens
from app.identity.directory.accounts import privacy_policy
from app.identity.directory.accounts import service as accounts
from app.identity.entry import signed_requests
from app.identity.platform.context import Context, TokenHolder
from app.identity.platform.services import Services
from app.identity.platform.store.unit import Cost
from app.identity.platform.tenant import Tenant
from app.identity.protocols.oauth import bearer_tokens, machine_tokens, query_clients, refusals, sender_constraints
from app.identity.protocols.oauth.client_authentication import service as client_authentication
from app.identity.protocols.oauth.sender_constraints import SenderRefused
from app.kit.operation import AnyOperation
from app.kit.proxies import is_refused
from app.kit.reading import RawRequest
from app.kit.signing import SIGNATURE_HEADER, read_signature
from app.settings import Settings

REAUTHENTICATION_LIFETIME = timedelta(minutes=10)
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


def tenant_at(services: Services, host: str, cost: Cost | None = None) -> Tenant:
    """Return the tenant of a host; raises UnknownTenant."""
    found = services.directory.by_host(host, cost)
    if found is None:
        raise e.UnknownTenant
    return found


def tenant_of_host(services: Services, operation: AnyOperation, raw: RawRequest, cost: Cost) -> Tenant:
    """Return the tenant of the request's host.

    Raises:
        UnknownApplication: there is none, at the addresses where libraries look for an issuer's metadata: a 403 would look
            like a matter of permissions there.
        UnknownTenant: there is none, at another address.
    """
    settings = services.settings
    try:
        return tenant_at(services, settings.without_mtls(raw.host), cost)
    except e.UnknownTenant:
        if oauth.UnknownApplication not in operation.errors:
            raise
        issuers = f"{settings.public_scheme}://TENANT.{settings.hub_domain}"
        refusal = oauth.UnknownApplication(
            f"No tenant has the host {refusals.shown(raw.host)}. An issuer here is a tenant's address: {issuers}"
        )
        refusals.log(refusal.code, refusal.description)
        raise refusal from None


def tenant_of_site(services: Services, raw: RawRequest, cost: Cost | None = None) -> Tenant:
    """Return the tenant that the path names (interface federation.md section 9); raises UnknownTenant."""
    name = raw.parameters[SITE].lower()
    if not _TENANT_NAME.match(name):
        raise e.UnknownTenant
    return tenant_at(services, f"{name}.{services.settings.hub_domain}", cost)


def visit_of(services: Services, raw: RawRequest) -> Visit:
    """Return the visit that the hub signed; raises HubRefused, also for a replayed call.

    A call within the process hands the visit over: no request over the network can set `caller`. One that came as a
    request all the same needs no protection from replays.
    """
    if isinstance(raw.caller, Visit):
        return raw.caller
    visit, signature = raw.headers.get(VISIT_HEADER.lower(), ""), raw.headers.get(SIGNATURE_HEADER.lower(), "")
    address = f"{raw.path}?{raw.query_text}" if raw.query_text else raw.path
    now = int(services.clock.now().timestamp())
    signed = read_signature(services.hub_keys, raw.method, address, raw.body, visit, signature, now)
    if signed is None:
        raise e.HubRefused
    if not raw.is_inside and not raw.is_repeated and not services.nonces.take(signed.nonce, signed.at, now):
        raise e.HubRefused
    try:
        return Visit.from_header(visit)
    except ValueError:
        raise e.HubRefused from None


def tenant_of_key(services: Services, operation: AnyOperation, raw: RawRequest, cost: Cost) -> Tenant:
    """Return the tenant whose API key was sent (order of checks: 908, 920, 901, 6003)."""
    key = api_key(raw)
    if key is None:
        raise (
            operation.error_profile.bad_parameter.names("apikey")
            if operation.name.startswith("oauth.")
            else _missing_key(operation, raw)
        )
    if e.MalformedKey in operation.errors and not _GUID.match(key):
        raise e.MalformedKey
    tenant = services.directory.by_key(key, cost)
    if tenant is None:
        raise e.UnknownKey
    refuse_expired_trial(services, tenant)
    return tenant


def tenant_of_secret(services: Services, raw: RawRequest, cost: Cost) -> Tenant:
    """Return the tenant whose API secret was sent without a key (order of checks: 923, 902, 6003)."""
    secret = api_secret(raw)
    if secret is None:
        raise e.MissingSecret
    tenant = services.directory.by_secret(secret, cost)
    if tenant is None:
        raise e.WrongSecret
    refuse_expired_trial(services, tenant)
    return tenant


def _missing_key(operation: AnyOperation, raw: RawRequest) -> e.BadParameter:
    """Return the error for a missing API key, which may name another missing parameter too (errors.md section 5)."""
    beside = getattr(operation.request, "beside_key", ())
    try:
        members = from_json(raw.body[:100_000]) if beside else None
    except ValueError:
        members = None
    given = {name.lower() for name, value in members.items() if value} if isinstance(members, dict) else set()
    missing = next((name for name in beside if name not in given), None)
    if (
        not isinstance(members, dict)
        or missing is None
        or (missing != "password" and given & {"otp", "email", "username"})
    ):
        return e.BadParameter.names("apikey")
    return e.BadParameter(f"The apikey and {missing} are required parameters.")


def refuse_expired_trial(services: Services, tenant: Tenant) -> None:
    """Raise 6003 once the tenant's trial is over."""
    ends = tenant.settings.trial_ends_at
    if ends is not None and services.clock.now() >= instant(ends):
        raise e.TrialExpired


def api_key(raw: RawRequest) -> str | None:
    """Return the API key: query `apikey` (older paths: `key`) or the header `X-{vendor}-ApiKey`."""
    older = ("key",) if raw.path[:8].lower() == "/api/v2/" else ()
    return raw.first("apikey", *older) or _vendor_header(raw, "apikey")


def _vendor_header(raw: RawRequest, what: str) -> str | None:
    for name, value in raw.headers.items():
        if name.endswith(what) and _VENDOR_HEADER.match(name):
            return value
    return None


def admit_secret(context: Context) -> None:
    """Authenticate by API secret in the query or a header, or by a signature instead of it (account.md section 10)."""
    tenant, raw = context.tenant, context.raw
    _refuse_address(context)
    secret = context.services.encryption.decrypt(tenant.sealed_api_secret, f"{tenant.tenant_id} api_secret")
    if signed_requests.is_authenticated(tenant.settings.request_signing, secret, raw, context.now):
        return
    given = api_secret(raw)
    if given is None:
        raise e.MissingSecret
    if not hmac.compare_digest(given.lower().encode("utf-8", "surrogatepass"), secret.lower()):
        context.audit.record("secret.refused")
        raise e.WrongSecret


def has_secret(raw: RawRequest) -> bool:
    """Return whether the request has the API secret or a signature instead of it."""
    return api_secret(raw) is not None or "digest" in raw.headers


def api_secret(raw: RawRequest) -> str | None:
    """Return the API secret: query `apisecret` (older: `secret`) or the header `X-{vendor}-ApiSecret`."""
    return raw.first("apisecret", "secret") or _vendor_header(raw, "apisecret")


def _refuse_address(context: Context) -> None:
    settings = context.tenant.settings
    if is_refused(context.raw.address, settings.allowed_ips, settings.denied_ips):
        raise e.IpRefused


def access_token(raw: RawRequest, body: dict[str, Any]) -> str | None:
    """Return the access token: `Authorization: Bearer` or `DPoP`, else query, else body member `access_token`."""
    token = raw.header_token() or raw.first("access_token")
    if token is None:
        member = next((value for name, value in body.items() if name.lower() == "access_token"), None)
        token = member if isinstance(member, str) else None
    return token


def admit_person(context: Context, operation: AnyOperation, raw: RawRequest, body: dict[str, Any]) -> None:
    """Authenticate schemes whose credentials may be in the body: client and access token."""
    schemes = operation.admission.auth.schemes()
    if AuthScheme.CLIENT in schemes:
        context.client = client_authentication.authenticate(context, raw, body)
    if AuthScheme.ACCESS_TOKEN in schemes:
        is_oauth = operation.error_profile is OAUTH
        token = bearer_tokens.read(raw, body) if is_oauth else access_token(raw, body)
        optional = any(AuthScheme.ACCESS_TOKEN not in schemes for schemes in operation.admission.auth.alternatives)
        if token is None and optional:
            return
        context.holder = tokens.holder_of(context, token, operation)
        _require_sender(context, operation, context.holder)
        context.audit.actor = context.holder.actor
        _require_accepted_policy(context, operation, context.holder.uid)
        _require_recent_authentication(context, operation, context.holder, body)


def _require_sender(context: Context, operation: AnyOperation, holder: TokenHolder) -> None:
    """Raise 1409 where the access token is bound to what the request does not prove; OAuth's errors in its profile."""
    try:
        sender_constraints.check(context, holder.token, holder.facts, holder.client_id)
    except SenderRefused as refusal:
        if operation.error_profile is not OAUTH:
            raise e.NotAuthenticated(refusal.reason) from None
        kinds = (oauth.TokenDpopProofRefused, oauth.BoundTokenNeedsNonce)
        kind = next((kind for kind in kinds if kind.code == refusal.error), oauth.BoundTokenRefused)
        raise kind(refusal.reason) from None


def _require_accepted_policy(context: Context, operation: AnyOperation, uid: str | None) -> None:
    """Raise 1194 until the account has accepted the current privacy policy.

    Operations whose error profile lacks 1194, such as the acceptance itself, stay available.
    """
    if (
        uid is None
        or e.PrivacyPolicyOutdated not in operation.every_error
        or not privacy_policy.is_strict(context.tenant.settings)
    ):
        return
    account = accounts.by_uid(context, uid)
    if account is None or not account.is_active or account.is_deleted:
        return  # the operation raises 1409 or 984
    if privacy_policy.must_accept(context.tenant.settings.privacy_policy, account, context.now):
        raise e.PrivacyPolicyOutdated


def _require_recent_authentication(
    context: Context, operation: AnyOperation, holder: TokenHolder, body: dict[str, Any]
) -> None:
    """Raise `reauthentication_required` for a sensitive operation if the last authentication is over ten minutes old.

    Applies to tokens of applications, and with `fresh_proof_for_credentials` also to tokens of the interface's sign-ins.
    An impersonation token (operation A22) always raises `access_refused`, because the account holder did not authenticate.
    """
    if operation.admission.access is None or not operation.admission.access.needs_reauthentication(body):
        return
    if holder.actor is not None:
        raise (operation.error_profile.access_refused or e.NotAuthenticated)(
            "An impersonation token cannot change credentials."
        )
    if holder.client_id is None and not context.tenant.settings.fresh_proof_for_credentials:
        return
    authenticated_at = authentication_times.authenticated_at(context, holder)
    if authenticated_at is None or context.now - authenticated_at > REAUTHENTICATION_LIFETIME:
        raise operation.error_profile.reauthentication_required or e.NotAuthenticated


def is_machine(operation: AnyOperation, raw: RawRequest) -> bool:
    """Return whether the request authenticates by machine token: a token in the header and no API secret or signature."""
    schemes = operation.admission.auth.schemes()
    if AuthScheme.MACHINE_TOKEN not in schemes or schemes == {AuthScheme.MACHINE_TOKEN}:
        return AuthScheme.MACHINE_TOKEN in schemes
    return raw.header_token() is not None and api_secret(raw) is None and "digest" not in raw.headers


def admit_machine(context: Context, operation: AnyOperation) -> None:
    """Authenticate a machine token of this tenant with the operation's scope or `all`; raises 6002."""
    context.machine = machine_tokens.verify(context, context.raw.header_token())
    if not machine_tokens.has_scope(context.machine, operation.admission.scope):
        raise e.MachineRefused(f"The machine token lacks the scope {operation.admission.scope}.")
    _refuse_address(context)
    refuse_expired_trial(context.services, context.tenant)


def is_query_client(operation: AnyOperation, raw: RawRequest) -> bool:
    """Return whether the request authenticates by a client's id and secret in its query, in place of the API secret."""
    is_declared = AuthScheme.QUERY_CLIENT_SECRET in operation.admission.auth.schemes()
    return is_declared and query_clients.is_sent(raw) and not has_secret(raw) and not is_machine(operation, raw)


def admit_query_client(context: Context, operation: AnyOperation) -> None:
    """Authenticate a client by its id and secret in the query; raises 6002."""
    _refuse_address(context)
    refuse_expired_trial(context.services, context.tenant)
    context.client = query_clients.admit(context, operation.admission.scope)
