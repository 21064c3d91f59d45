"""The operation that signs an app's user in by a provider's credential (decision 0182)."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from app.contract import errors
from app.contract.federation import native_sign_in_operations
from app.contract.federation.native_sign_in_operations import NativeToken
from app.contract.second_factors.challenge import FactorLogin
from app.identity.authentication.federation import native_credentials
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.sessions.sessions import FEDERATED
from app.identity.directory.organizations.invitations import email_invitations, join_by_invitation
from app.identity.directory.organizations.invitations.invitation import EmailInvitation
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform.context import Context
from app.identity.public_api.native_sign_in import account
from app.kit import randomness

_REFRESH_TOKENS_OF_APPLE: Final = "applert"


@native_sign_in_operations.sign_in.implements
def sign_in(context: Context, req: native_sign_in_operations.NativeSignIn) -> NativeToken:
    _refuse_incomplete(context, req)
    if not context.has_api_secret:
        context.count_request("native_sign_in", context.tenant.settings.limits.native_sign_in_per_minute_per_address)
    _refuse_unknown_references(context, req)
    invitation = _invitation(context, req)
    verified = native_credentials.verify(context, req)
    authentication = Authentication((FEDERATED,), verified.identity.provider)
    login, signed_in = account.sign_in(context, verified, authentication)
    if invitation is not None and login.second_factor_authentication is None:
        join_by_invitation.accept(context, invitation[0], signed_in, randomness.digest(str(req.invitation_token)))
    return _token(context, login)


def _refuse_incomplete(context: Context, req: native_sign_in_operations.NativeSignIn) -> None:
    """Require the API secret and `refresh_token`, unless the tenant admits apps of an older kind.

    Raises BadParameter, ProviderRefreshTokenMissing.
    """
    is_legacy = context.tenant.settings.legacy_native_login
    if not (context.has_api_secret or is_legacy):
        raise errors.BadParameter.names("secret")
    if req.refresh_token:
        return
    if not is_legacy:
        raise errors.BadParameter.names("refresh_token")
    if req.native_provider.lower() == _REFRESH_TOKENS_OF_APPLE:
        raise errors.ProviderRefreshTokenMissing


def _refuse_unknown_references(context: Context, req: native_sign_in_operations.NativeSignIn) -> None:
    """Raise BadParameter for an application that the tenant does not have."""
    if req.client_id:
        application = context.application(client_id=req.client_id)
        if application is None or not application.settings.is_active:
            raise errors.BadParameter("client_id: the client id of an application.")


def _invitation(
    context: Context, req: native_sign_in_operations.NativeSignIn
) -> tuple[EmailInvitation, OrganizationRecord] | None:
    """Return the open invitation that the request names. Raises ClosedInvitation, OrganizationInactive."""
    if not req.invitation_token:
        return None
    if not context.tenant.settings.organizations.enabled:
        raise errors.ClosedInvitation
    return email_invitations.require_open(context, req.invitation_token)


def _token(context: Context, login: FactorLogin) -> NativeToken:
    challenge = login.second_factor_authentication
    seconds = 0 if challenge else round((datetime.fromisoformat(login.expires_in) - context.now).total_seconds())
    return NativeToken(
        access_token=login.access_token,
        refresh_token=login.refresh_token,
        expires_in=str(seconds),
        second_factor_authentication=challenge,
    )
