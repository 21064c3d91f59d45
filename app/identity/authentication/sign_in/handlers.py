"""The operations of sign-in."""

from app.contract import errors as e
from app.contract import sign_in as contract
from app.contract.groups import NO_SMS
from app.contract.second_factors.challenge import FactorLogin
from app.contract.second_factors.signing_in import with_password as with_factors_stated
from app.identity.authentication.registration import service as registration
from app.identity.authentication.sign_in import (
    completion,
    identifiers,
    risk_challenges,
    service,
)
from app.identity.authentication.sign_in.locks import LockSolution
from app.identity.authentication.sign_in.second_factor import Authentication
from app.identity.authentication.sign_in.service import PasswordVerified
from app.identity.authentication.verification.service import VerificationOptions
from app.identity.credentials.authenticators.protocol import ChallengeOptions
from app.identity.credentials.captcha import service as captcha
from app.identity.credentials.second_factors import service as factors
from app.identity.platform.context import Context

ORIGIN = ("x-origin-ip", "x-origin-user-agent", "x-origin-accept-language", "x-origin-host", "x-platform")
_MAX_ORIGIN_LENGTH = 200


def _verification_options(req: contract.PasswordLogin) -> VerificationOptions:
    return VerificationOptions(
        url=req.verification_url,
        email_template=req.email_template,
        sms_template=req.sms_template,
        is_voice_otp=req.is_voice_otp,
        sends_sms=not req.has_option(NO_SMS),
    )


def _record_origin(context: Context, login_url: str | None) -> None:
    """Record the origin that the calling server states for its visitor. It is not trusted: any holder of the API key can
    state it.
    """
    headers = context.raw.headers
    origin = {name.removeprefix("x-").replace("-", "_"): headers[name] for name in ORIGIN if name in headers}
    if (page := registration.registration_source(login_url)) != registration.API:
        origin["login_url"] = page
    if origin:
        context.audit.record("sign_in.origin", **{name: text[:_MAX_ORIGIN_LENGTH] for name, text in origin.items()})


@contract.with_password.implements
def with_password(context: Context, req: contract.PasswordLogin) -> contract.Login:
    """Refuse tenants with second factors: they use the login that returns a challenge (interface mfa.md section 1)."""
    if context.tenant.settings.two_factor != "disabled":
        raise e.TwoFactorOn
    passed, authentication = _verify_password(context, req)
    if passed.required is not None:
        return risk_challenges.sign_in_or_challenge(context, passed.required, authentication, req)
    return completion.to_login(completion.begin_session(context, passed.account, authentication, req.fields_))


@with_factors_stated.implements
def with_factors(context: Context, req: contract.PasswordLogin) -> FactorLogin:
    factors.refuse_disabled(context.tenant.settings)
    passed, authentication = _verify_password(context, req)
    if passed.required is None:
        return completion.begin_session(context, passed.account, authentication, req.fields_)
    wish = ChallengeOptions(req.sms_template_2fa, req.email_template_2fa, req.is_voice_otp, req.duo_redirect_uri)
    return completion.challenge(context, passed.required, authentication, wish)


def _verify_password(context: Context, req: contract.PasswordLogin) -> tuple[PasswordVerified, Authentication]:
    settings = context.tenant.settings
    identifier, hides = identifiers.from_request(settings, req), settings.hide_unknown_accounts
    _record_origin(context, req.login_url)
    if req.password_delegation:
        raise e.DelegationFailed
    proof = LockSolution(req.security_answer, captcha.from_parameters(req))
    passed = service.verify(
        context,
        identifier,
        req.password,
        proof,
        hides_unknown=hides,
        options=_verification_options(req),
        suppress_webhook=req.suppress_webhook,
    )
    return passed, Authentication(
        (service.PASSWORD,), identifier.kind, opens_lock=passed.opens_lock, suppress_webhook=req.suppress_webhook
    )
