"""The operations of sign-in."""

from app.contract import errors as e
from app.contract.consents.operations import SubmitConsentsByToken
from app.contract.consents.operations import submit as submit_consents
from app.contract.second_factors.challenge import FactorLogin
from app.contract.second_factors.sign_in import with_password as with_factors_contract
from app.contract.shared_parameters import PREVENT_SMS
from app.contract.sign_in import operations as contract
from app.identity.authentication.registration import service as registration
from app.identity.authentication.sign_in import (
    allowed_methods,
    api_sign_in,
    eligibility,
    risk_challenges,
    tenant_requirements,
)
from app.identity.authentication.sign_in import identifiers as sign_in_identifiers
from app.identity.authentication.sign_in import service as sign_in_service
from app.identity.authentication.sign_in.locks import LockSolution
from app.identity.authentication.sign_in.pending_sign_in import Authentication
from app.identity.authentication.sign_in.service import PasswordSignIn
from app.identity.authentication.verification.service import VerificationOptions
from app.identity.credentials import account_locks
from app.identity.credentials.captcha import service as captcha
from app.identity.credentials.second_factors import service as second_factors
from app.identity.credentials.second_factors.authenticators.authenticator import ChallengeOptions
from app.identity.directory.consents import consent_required
from app.identity.directory.consents import service as consent_forms
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context

_ORIGIN_HEADERS = ("x-origin-ip", "x-origin-user-agent", "x-origin-accept-language", "x-origin-host", "x-platform")
_MAX_ORIGIN_LENGTH = 200


def _verification_options(req: contract.PasswordLogin) -> VerificationOptions:
    return VerificationOptions(
        url=req.verification_url,
        email_template=req.email_template,
        sms_template=req.sms_template,
        is_voice_otp=req.is_voice_otp,
        sends_sms=not req.has_option(PREVENT_SMS),
    )


def _record_origin(context: Context, login_url: str | None) -> None:
    """Audit the origin that the calling server reports for its visitor; it is not trusted, because the API key is public."""
    headers = context.raw.headers
    origin = {name.removeprefix("x-").replace("-", "_"): headers[name] for name in _ORIGIN_HEADERS if name in headers}
    if (page := registration.registration_source(login_url)) != registration.API:
        origin["login_url"] = page
    if origin:
        context.audit.record("sign_in.origin", **{name: text[:_MAX_ORIGIN_LENGTH] for name, text in origin.items()})


@contract.with_password.implements
def with_password(context: Context, req: contract.PasswordLogin) -> contract.Login:
    """Refuse tenants with second factors: they use the login that returns a challenge."""
    if context.tenant.settings.two_factor != "disabled":
        raise e.TwoFactorOn
    verified, authentication = _verify_password(context, req)
    if verified.required is not None:
        return risk_challenges.sign_in_or_challenge(context, verified.required, authentication, req)
    return api_sign_in.to_login(api_sign_in.issue_session(context, verified.account, authentication, req.fields_))


@with_factors_contract.implements
def with_factors(context: Context, req: contract.PasswordLogin) -> FactorLogin:
    second_factors.refuse_disabled(context.tenant.settings)
    verified, authentication = _verify_password(context, req)
    if verified.required is None:
        return api_sign_in.issue_session(context, verified.account, authentication, req.fields_)
    options = ChallengeOptions(req.sms_template_2fa, req.email_template_2fa, req.is_voice_otp, req.duo_redirect_uri)
    return api_sign_in.challenge(context, verified.required, authentication, options)


def _verify_password(context: Context, req: contract.PasswordLogin) -> tuple[PasswordSignIn, Authentication]:
    settings = context.tenant.settings
    identifier, hides = sign_in_identifiers.from_request(settings, req), settings.hide_unknown_accounts
    _record_origin(context, req.login_url)
    if req.password_delegation:
        raise e.DelegationFailed
    solution = LockSolution(req.security_answer, captcha.from_parameters(req))
    verified = sign_in_service.sign_in_with_password(
        context,
        identifier,
        req.password,
        solution,
        hides_unknown=hides,
        options=_verification_options(req),
        suppress_webhook=req.suppress_webhook,
    )
    return verified, Authentication(
        (sign_in_service.PASSWORD,),
        identifier.kind,
        opens_lock=verified.opens_lock,
        suppress_webhook=req.suppress_webhook,
    )


@submit_consents.implements
def with_consents(context: Context, req: SubmitConsentsByToken) -> contract.Login:
    """Continue a sign-in that requires consents.

    A refused submission leaves the token unused; of concurrent valid ones, one begins the session.
    """
    consent_forms.require_enabled(context)
    token, account = consent_required.pending_sign_in(context, req.consent_token)
    answers = consent_required.parse_answers(context, token, req)
    authentication = Authentication.from_stored(token.facts["way"])
    account_locks.refuse_locked(context, account)
    if (refusal := eligibility.refusal(context, account, authentication.kind)) is not None:
        raise refusal
    if not continuation_tokens.spend(context, token):
        raise e.WrongConsentToken
    account = consent_forms.submit(context, account, answers, suppress_webhook=req.suppress_webhook)
    allowed_methods.refuse(context, account, authentication.methods, is_again=True)
    return api_sign_in.to_login(
        api_sign_in.issue_session(context, account, authentication, after=tenant_requirements.CONSENT)
    )
