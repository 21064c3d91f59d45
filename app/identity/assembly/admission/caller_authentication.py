"""Authenticates programs, clients and persons, each in the headers and parameters of the interface."""

from __future__ import annotations

import hmac
from typing import Any

from app.contract import errors
from app.contract.auth import AuthScheme
from app.contract.error_profiles import OAUTH
from app.contract.oauth import oauth_errors
from app.identity.assembly.admission import signed_requests
from app.identity.assembly.admission.tenant_resolution import api_secret, refuse_expired_trial
from app.identity.authentication.sign_in import reauthentication_rules
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts import account_store, privacy_policy
from app.identity.platform import powers
from app.identity.platform.context import Context, TokenHolder
from app.identity.protocols.oauth.client_authentication import client_authentication, query_clients
from app.identity.protocols.oauth.sender_constraints import token_binding
from app.identity.protocols.oauth.sender_constraints.token_binding import SenderRefused
from app.identity.protocols.oauth.tokens import bearer_tokens, machine_tokens
from app.kit.operations.operation import AnyOperation
from app.kit.operations.request_parsing import RawRequest
from app.kit.web.proxies import is_refused


def admit_secret(context: Context) -> None:
    """Authenticate by API secret in the query or a header, or by a signature instead of it."""
    tenant, raw = context.tenant, context.raw
    _refuse_address(context)
    secret = context.services.encryption.decrypt(tenant.sealed_api_secret, f"{tenant.tenant_id} api_secret")
    if signed_requests.is_authenticated(tenant.settings.request_signing, secret, raw, context.now):
        context.program_scopes = frozenset({powers.ALL})
        return
    provided = api_secret(raw)
    if provided is None:
        raise errors.MissingSecret
    if not hmac.compare_digest(provided.lower().encode("utf-8", "surrogatepass"), secret.lower()):
        context.audit.record("secret.refused")
        raise errors.WrongSecret
    context.program_scopes = frozenset({powers.ALL})


def _refuse_address(context: Context) -> None:
    settings = context.tenant.settings
    if is_refused(context.raw.address, settings.allowed_ips, settings.denied_ips):
        raise errors.IpRefused


def admit_machine(context: Context, operation: AnyOperation) -> None:
    """Authenticate a machine token of this tenant with the operation's scope or `all`; raises 6002."""
    context.machine = machine_tokens.verify(context, context.raw.header_token())
    context.program_scopes = machine_tokens.scopes_of(context.machine)
    if context.program_scopes.isdisjoint({operation.admission.scope, powers.ALL}):
        raise errors.MachineRefused(f"The machine token lacks the scope {operation.admission.scope}.")
    _refuse_address(context)
    refuse_expired_trial(context.services, context.tenant)


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


def admit_client(context: Context, body: dict[str, Any]) -> None:
    """Authenticate a client by the method that it is registered for."""
    context.client = client_authentication.authenticate(context, context.raw, body)


def admit_person(context: Context, operation: AnyOperation, body: dict[str, Any]) -> None:
    """Authenticate the holder of an access token, who must prove a bound token's key and meet what the operation requires."""
    read = bearer_tokens.read if operation.error_profile is OAUTH else access_token
    token = read(context.raw, body)
    if token is None and any(AuthScheme.ACCESS_TOKEN not in every for every in operation.admission.auth.alternatives):
        return
    holder = context.holder = tokens.holder_of(context, token, operation)
    if (actor := holder.actor) is not None:
        context.audit.actor = actor
    require_sender(context, operation, holder)
    require_accepted_policy(context, operation, holder)
    reauthentication_rules.require_for_token(context, operation, holder, body)


def require_sender(context: Context, operation: AnyOperation, holder: TokenHolder) -> None:
    """Raise NotAuthenticated for a sender-constrained access token without proof of its key; in OAuth's error profile, its own error."""
    try:
        token_binding.check(context, holder.token, holder.claims.cnf or {}, holder.client_id)
    except SenderRefused as refusal:
        if operation.error_profile is not OAUTH:
            raise errors.NotAuthenticated(refusal.reason) from None
        kinds = (oauth_errors.TokenDpopProofRefused, oauth_errors.BoundTokenNeedsNonce)
        kind = next((kind for kind in kinds if kind.code == refusal.error), oauth_errors.BoundTokenRefused)
        raise kind(refusal.reason) from None


def require_accepted_policy(context: Context, operation: AnyOperation, holder: TokenHolder) -> None:
    """Raise PrivacyPolicyOutdated until the account has accepted the current privacy policy.

    Operations whose error profile lacks that error, such as the acceptance itself, stay available.
    """
    settings = context.tenant.settings
    if errors.PrivacyPolicyOutdated not in operation.every_error or not privacy_policy.is_strict(settings):
        return
    account = account_store.by_uid(context, holder.uid)
    if account is None or not account.is_active or account.is_deleted:
        return  # the operation raises 1409 or 984
    if privacy_policy.must_accept(settings.privacy_policy, account, context.now):
        raise errors.PrivacyPolicyOutdated
