"""Operations that replace a lost passkey by a mailed link."""

from __future__ import annotations

from app.contract import errors
from app.contract.passkeys import passkey_sign_in_operations
from app.contract.passkeys.models import PublicKey, RegisterBegin
from app.contract.shared_responses import Posted
from app.identity.authentication.recovery import passkey_reset, recipient, recovery_requests
from app.identity.authentication.sign_in.passkeys.passkey_sign_in import require_enabled
from app.identity.credentials.captcha import answers, captcha_verification
from app.identity.directory.accounts import accounts
from app.identity.directory.tenants.urls import allowed_urls
from app.identity.platform.context import Context


@passkey_sign_in_operations.forgot.implements
def forgot(context: Context, req: passkey_sign_in_operations.ForgotPasskey) -> Posted:
    require_enabled(context)
    recovery_requests.count_request(context)
    if not req.email or not accounts.is_email(req.email):
        raise errors.MalformedEmail
    captcha_verification.require_solved_at(context, "forgot_password", answers.from_parameters(req))
    if req.reset_passkey_url and not allowed_urls.is_allowed_in_mail(context, req.reset_passkey_url):
        raise errors.PasskeyUrlRefused
    lookup = recipient.find(context, "email", req.email)
    account = passkey_reset.find_recipient(context, lookup)
    if account is None and not lookup.is_hidden:
        raise errors.NoPasskey
    passkey_reset.send(
        context,
        account,
        req.email,
        passkey_reset.RecoveryOptions(req.reset_passkey_url, req.email_template),
        is_hidden=lookup.is_hidden,
    )
    return Posted()


@passkey_sign_in_operations.begin_reset.implements
def begin(context: Context, req: passkey_sign_in_operations.ResetBegin) -> RegisterBegin:
    return RegisterBegin(
        register_begin_credential=PublicKey(publicKey=passkey_reset.begin_with_link(context, req.vtoken))
    )


@passkey_sign_in_operations.finish_reset.implements
def finish(context: Context, req: passkey_sign_in_operations.ResetFinish) -> Posted:
    passkey_reset.finish_with_link(context, req.vtoken, req.credential)
    return Posted()
