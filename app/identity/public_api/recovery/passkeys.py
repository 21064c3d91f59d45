"""Operations that replace a lost passkey by a mailed link."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.passkeys import sign_in as contract
from app.contract.passkeys.models import PublicKey, RegisterBegin
from app.contract.shared_responses import Posted
from app.identity.authentication.recovery import passkey_reset, recipient
from app.identity.authentication.recovery import service as recovery
from app.identity.authentication.sign_in.passkeys.sign_in import require_enabled
from app.identity.credentials.captcha import service as captcha
from app.identity.directory.accounts import service as accounts
from app.identity.directory.tenants.addresses import allowed_addresses
from app.identity.platform.context import Context


@contract.forgot.implements
def forgot(context: Context, req: contract.ForgotPasskey) -> Posted:
    require_enabled(context)
    recovery.spend_limits(context)
    if not req.email or not accounts.is_email(req.email):
        raise e.MalformedEmail
    captcha.require_solved_at(context, "forgot_password", captcha.from_parameters(req))
    if req.reset_passkey_url and not allowed_addresses.is_allowed_in_mail(context, req.reset_passkey_url):
        raise e.PasskeyUrlRefused
    lookup = recipient.find(context, "email", req.email)
    account = passkey_reset.find_recipient(context, lookup)
    if account is None and not lookup.is_hidden:
        raise e.NoPasskey
    passkey_reset.send(
        context,
        account,
        req.email,
        passkey_reset.RecoveryOptions(req.reset_passkey_url, req.email_template),
        is_hidden=lookup.is_hidden,
    )
    return Posted()


@contract.begin_reset.implements
def begin(context: Context, req: contract.ResetBegin) -> RegisterBegin:
    return RegisterBegin(
        register_begin_credential=PublicKey(publicKey=passkey_reset.begin_with_link(context, req.vtoken))
    )


@contract.finish_reset.implements
def finish(context: Context, req: contract.ResetFinish) -> Posted:
    passkey_reset.finish_with_link(context, req.vtoken, req.credential)
    return Posted()
