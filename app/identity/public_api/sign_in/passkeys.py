"""Operations of sign-in with a passkey: for a named account, or for any passkey that the browser offers."""

from __future__ import annotations

from typing import Any

from app.contract import errors
from app.contract.passkeys import passkey_sign_in_operations
from app.contract.passkeys.models import LoginBegin, PublicKey
from app.contract.second_factors.challenge import FactorLogin
from app.identity.authentication.sign_in import completion, sign_in_identifiers
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.passkeys import passkey_sign_in
from app.identity.authentication.sign_in.passkeys.passkey_sign_in import require_autofill, require_enabled
from app.identity.credentials.passkeys import ceremonies
from app.identity.credentials.passkeys.ceremonies import CeremonyUse
from app.identity.credentials.second_factors.authenticators.authenticator import ChallengeOptions
from app.identity.directory.accounts.login_attempts import account_lookup
from app.identity.platform.context import Context
from app.identity.public_api.sign_in import sign_in_responses


@passkey_sign_in_operations.begin_sign_in.implements
def begin(context: Context, req: passkey_sign_in_operations.SignInBegin) -> LoginBegin:
    require_enabled(context)
    ceremonies.refuse_misconfigured(context)
    if not req.identifier.strip():
        raise errors.BadParameter.names("identifier")
    ceremonies.count_lookup(context)
    is_hidden = context.tenant.settings.hide_unknown_accounts
    lookup = account_lookup.find(
        context, sign_in_identifiers.guess(context.tenant.settings, req.identifier), is_hidden=is_hidden
    )
    allowed = (
        passkey_sign_in.padded_passkeys(context, lookup)
        if is_hidden
        else passkey_sign_in.account_passkeys(context, lookup, req)
    )
    uid = lookup.account.uid if lookup.account is not None else None
    return LoginBegin(
        login_begin_credential=_public_key(ceremonies.begin_authentication(context, CeremonyUse.SIGN_IN, uid, allowed))
    )


@passkey_sign_in_operations.finish_sign_in.implements
def finish(context: Context, req: passkey_sign_in_operations.SignInFinish) -> FactorLogin:
    require_enabled(context)
    return _sign_in(context, req, CeremonyUse.SIGN_IN)


@passkey_sign_in_operations.begin_autofill.implements
def begin_autofill(context: Context, req: passkey_sign_in_operations.AutofillBegin) -> LoginBegin:
    require_autofill(context)
    return LoginBegin(
        login_begin_credential=_public_key(ceremonies.begin_authentication(context, CeremonyUse.AUTOFILL))
    )


@passkey_sign_in_operations.finish_autofill.implements
def finish_autofill(context: Context, req: passkey_sign_in_operations.SignInFinish) -> FactorLogin:
    require_autofill(context)
    return _sign_in(context, req, CeremonyUse.AUTOFILL)


def _sign_in(context: Context, req: passkey_sign_in_operations.SignInFinish, use: CeremonyUse) -> FactorLogin:
    try:
        account, _, methods = passkey_sign_in.verify(context, use, req.credential)
    except errors.PasskeyRefused as refusal:
        raise passkey_sign_in.no_passkey_refusal(context, req.credential) or refusal from None
    if not account.email:
        raise errors.PasskeyNeedsEmail
    challenge_options = ChallengeOptions(
        req.sms_template_2fa, req.email_template_2fa, req.is_voice_otp, req.duo_redirect_uri
    )
    authentication = Authentication(methods)
    outcome = completion.after_first_factor(context, account, authentication)
    return sign_in_responses.present(context, outcome, fields=req.fields_, options=challenge_options)


def _public_key(request_options: dict[str, Any]) -> PublicKey:
    return PublicKey(publicKey=request_options)
