"""Authenticates programs, clients and persons, each in the headers and parameters of the interface (user.md, account.md section 0)."""

from __future__ import annotations

import hmac
from datetime import timedelta
from typing import Any

from app.contract import errors as e
from app.contract import errors_oauth as oauth
from app.contract.auth import AuthScheme
from app.contract.error_groups import OAUTH
from app.identity.authentication.sign_in import authentication_times
from app.identity.credentials.tokens import service as tokens
from app.identity.directory.accounts import privacy_policy
from app.identity.directory.accounts import service as accounts
from app.identity.entry import signed_requests
from app.identity.entry.callers import api_secret, has_secret, is_machine, refuse_expired_trial
from app.identity.platform import powers
from app.identity.platform.context import Context, TokenHolder
from app.identity.protocols.oauth import bearer_tokens, machine_tokens, query_clients, sender_constraints
from app.identity.protocols.oauth.client_authentication import service as client_authentication
from app.identity.protocols.oauth.sender_constraints import SenderRefused
from app.kit.operation import AnyOperation
from app.kit.proxies import is_refused
from app.kit.reading import RawRequest

REAUTHENTICATION_LIFETIME = timedelta(minutes=10)


def admit_secret(context: Context) -> None:
    """Authenticate by API secret in the query or a header, or by a signature instead of it (account.md section 10)."""
    tenant, raw = context.tenant, context.raw
    _refuse_address(context)
    secret = context.services.encryption.decrypt(tenant.sealed_api_secret, f"{tenant.tenant_id} api_secret")
    if signed_requests.is_authenticated(tenant.settings.request_signing, secret, raw, context.now):
        context.program_scopes = frozenset({powers.ALL})
        return
    given = api_secret(raw)
    if given is None:
        raise e.MissingSecret
    if not hmac.compare_digest(given.lower().encode("utf-8", "surrogatepass"), secret.lower()):
        context.audit.record("secret.refused")
        raise e.WrongSecret
    context.program_scopes = frozenset({powers.ALL})


def _refuse_address(context: Context) -> None:
    settings = context.tenant.settings
    if is_refused(context.raw.address, settings.allowed_ips, settings.denied_ips):
        raise e.IpRefused


def admit_machine(context: Context, operation: AnyOperation) -> None:
    """Authenticate a machine token of this tenant with the operation's scope or `all`; raises 6002."""
    context.machine = machine_tokens.verify(context, context.raw.header_token())
    context.program_scopes = machine_tokens.scopes_of(context.machine)
    if context.program_scopes.isdisjoint({operation.admission.scope, powers.ALL}):
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
    context.client, context.program_scopes = query_clients.admit(context, operation.admission.scope)


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
