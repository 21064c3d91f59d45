"""Operations that take a PIN at sign-in: sign in with it, and set a first one."""

from __future__ import annotations

from app.contract import errors
from app.contract.pins import pin_operations
from app.contract.second_factors.challenge import FactorLogin
from app.contract.shared_responses import Posted
from app.contract.sign_in.sign_in_operations import Login
from app.identity.authentication.sign_in import completion, required_actions
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.credentials.pins import pin_tokens, pins
from app.identity.credentials.second_factors.authenticators.authenticator import ChallengeOptions
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.input_checks import require_parameter
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.public_api.sign_in import sign_in_responses

METHOD = "pin"  # RFC 8176


@pin_operations.with_pin.implements
def with_pin(context: Context, req: pin_operations.PinLogin) -> FactorLogin:
    """Begin a new session by the PIN; the right PIN uses up the session token."""
    settings = context.tenant.settings
    pins.refuse_disabled(settings)
    if not settings.pin.login:
        raise errors.PinLoginOff
    pin, session = require_parameter("pin", req.pin), pin_tokens.find_session(context, req.session_token)
    account = account_store.by_uid(context, session.uid)
    if account is None:
        raise errors.UnknownSessionToken
    pins.check(context, account, pin, errors.WrongPin)
    # lock the account before its tokens, as every request does, against deadlocks
    account_store.lock(context, account.uid)
    pin_tokens.spend_session(context, session)
    authentication = Authentication((METHOD,), str(session.facts.get("kind") or "email"))
    options = ChallengeOptions(req.sms_template_2fa, req.email_template_2fa, req.is_voice_otp, req.duo_redirect_uri)
    outcome = completion.after_first_factor(context, account, authentication)
    return sign_in_responses.present(context, outcome, fields=req.fields_, options=options)


@pin_operations.end_session.implements
def end_session(context: Context, req: pin_operations.EndPinSession) -> Posted:
    session = pin_tokens.find_session(context, req.session_token)
    pin_tokens.spend_session(context, session)
    context.audit.record("pin.session_ended", uid=session.uid)
    return Posted()


@pin_operations.set_first.implements
def set_first(context: Context, req: pin_operations.SetPinAtLogin) -> Login:
    """Continue a sign-in that requires a PIN; a refused PIN leaves the token unused. Only one of several concurrent calls succeeds."""
    pins.refuse_disabled(context.tenant.settings)
    if not req.pin_auth_token:
        raise errors.BadParameter.names("pinauthtoken")
    token, account = pin_tokens.find_setting_token(context, req.pin_auth_token)
    if not req.pin:
        raise errors.PinMissing
    pin_hash = pins.hash_new_pin(context, req.pin)

    def set_pin() -> Account:
        account_store.lock(context, account.uid)  # as above
        if not continuation_tokens.spend(context, token):
            raise errors.UnknownPinToken
        return pins.set_pin(context, account, pin_hash, pins.SET)

    authentication = Authentication.from_stored(token.facts["way"])
    outcome = completion.after_earlier_request(context, account, authentication, required_actions.PIN, set_pin)
    return sign_in_responses.to_login(sign_in_responses.present(context, outcome))
