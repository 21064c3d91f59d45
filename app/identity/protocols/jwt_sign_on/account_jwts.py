"""The operations that give a program the JWT of an account for an app."""

from __future__ import annotations

from app.contract import errors
from app.contract.jwt import jwt_sign_on_operations
from app.contract.sign_in.sign_in_operations import PasswordLogin
from app.identity.authentication.passwordless import password_login
from app.identity.authentication.sign_in import sign_in_identifiers
from app.identity.authentication.sign_in.completion import ActionRequired, FactorRequired
from app.identity.authentication.sign_in.locks import LockSolution
from app.identity.authentication.sign_in.workflows.tokens import token_workflows
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.credentials.captcha import answers
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.protocols.jwt_sign_on import signing
from app.kit.limits.rate_limits import Rate

_RATE = Rate(60, 60)
"""JWTs of one account in a minute."""


@jwt_sign_on_operations.login.implements
def login(context: Context, req: jwt_sign_on_operations.JwtLogin) -> jwt_sign_on_operations.SignedJwt:
    return _by_password(context, req.app, req, req.nonce)


@jwt_sign_on_operations.older_login.implements
def older_login(context: Context, req: jwt_sign_on_operations.OlderJwtLogin) -> jwt_sign_on_operations.SignedJwt:
    return _by_password(context, req.jwt_app, req, req.nonce)


@jwt_sign_on_operations.token.implements
def read_token(context: Context, req: jwt_sign_on_operations.ReadJwt) -> jwt_sign_on_operations.SignedJwt:
    return _by_access_token(context, req.app, req.nonce)


@jwt_sign_on_operations.older_token.implements
def read_older_token(context: Context, req: jwt_sign_on_operations.ReadOlderJwt) -> jwt_sign_on_operations.SignedJwt:
    return _by_access_token(context, req.jwt_app, req.nonce)


def _by_password(
    context: Context, name: str | None, req: PasswordLogin, nonce: str | None
) -> jwt_sign_on_operations.SignedJwt:
    """Verify the password as the sign-in does, and sign; no session begins. An account with a second factor is refused."""
    app = signing.find(context, name)
    settings = context.tenant.settings
    if settings.two_factor != "disabled":
        raise errors.TwoFactorOn
    if req.password_delegation:
        raise errors.DelegationFailed
    identifier = sign_in_identifiers.from_request(settings, req)
    outcome = password_login.sign_in(
        context,
        identifier,
        req.password,
        LockSolution(req.security_answer, answers.from_parameters(req)),
        hides_unknown=settings.hide_unknown_accounts,
        options=VerificationOptions(url=req.verification_url, email_template=req.email_template),
    )
    if isinstance(outcome, FactorRequired):
        raise errors.TwoFactorOn
    if isinstance(outcome, ActionRequired):
        raise outcome.refusal(context)
    return _signed(context, app, outcome.account, nonce)


def _by_access_token(context: Context, name: str | None, nonce: str | None) -> jwt_sign_on_operations.SignedJwt:
    """Sign for the account behind an access token. An impersonation token gets none: the app could not see the actor."""
    app = signing.find(context, name)
    if context.token_holder.actor is not None:
        raise errors.AccessRefused
    account = accounts.current_for_sign_on(context)
    token_workflows.admitted(context, account, context.token_holder.claims)
    return _signed(context, app, account, nonce)


def _signed(
    context: Context, app: signing.JwtApp, account: Account, nonce: str | None
) -> jwt_sign_on_operations.SignedJwt:
    context.count_against("jwt_sign_on", _RATE, account.uid)
    return jwt_sign_on_operations.SignedJwt(signature=signing.sign(context, app, account, nonce))
