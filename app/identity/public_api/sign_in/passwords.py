"""The operations of sign-in."""

from app.contract import errors
from app.contract.consents.consent_operations import SubmitConsentsByToken
from app.contract.consents.consent_operations import submit as submit_consents
from app.contract.second_factors import factor_sign_in_operations
from app.contract.second_factors.challenge import FactorLogin
from app.contract.shared_parameters import PREVENT_SMS
from app.contract.sign_in import sign_in_operations
from app.identity.authentication.passwordless import password_login
from app.identity.authentication.registration import account_registration
from app.identity.authentication.sign_in import (
    completion,
    required_actions,
    sign_in_identifiers,
)
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.completion import FactorRequired, Recorded
from app.identity.authentication.sign_in.locks import LockSolution
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.credentials.captcha.answers import from_parameters
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.authenticators.authenticator import ChallengeOptions
from app.identity.directory.accounts.account import Account
from app.identity.directory.consents import consent_forms, consent_required
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.public_api.sign_in import risk_challenges, sign_in_responses

_ORIGIN_HEADERS = ("x-origin-ip", "x-origin-user-agent", "x-origin-accept-language", "x-origin-host", "x-platform")
_MAX_ORIGIN_LENGTH = 200


def _verification_options(req: sign_in_operations.PasswordLogin) -> VerificationOptions:
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
    if (page := account_registration.registration_source(login_url)) != account_registration.API:
        origin["login_url"] = page
    if origin:
        context.audit.record("sign_in.origin", **{name: text[:_MAX_ORIGIN_LENGTH] for name, text in origin.items()})


@sign_in_operations.with_password.implements
def with_password(context: Context, req: sign_in_operations.PasswordLogin) -> sign_in_operations.Login:
    """Refuse tenants with second factors: they use the login that returns a challenge."""
    if context.tenant.settings.two_factor != "disabled":
        raise errors.TwoFactorOn
    outcome = _verify_password(context, req)
    if isinstance(outcome, FactorRequired):
        return risk_challenges.sign_in_or_challenge(context, outcome, req)
    return sign_in_responses.to_login(sign_in_responses.present(context, outcome, fields=req.fields_))


@factor_sign_in_operations.with_password.implements
def with_password_and_factor(context: Context, req: sign_in_operations.PasswordLogin) -> FactorLogin:
    second_factors.refuse_disabled(context.tenant.settings)
    options = ChallengeOptions(req.sms_template_2fa, req.email_template_2fa, req.is_voice_otp, req.duo_redirect_uri)
    outcome = _verify_password(context, req)
    return sign_in_responses.present(context, outcome, fields=req.fields_, options=options)


def _verify_password(context: Context, req: sign_in_operations.PasswordLogin) -> Recorded | FactorRequired:
    settings = context.tenant.settings
    identifier, hides = sign_in_identifiers.from_request(settings, req), settings.hide_unknown_accounts
    _record_origin(context, req.login_url)
    if req.password_delegation:
        raise errors.DelegationFailed
    solution = LockSolution(req.security_answer, from_parameters(req))
    return password_login.sign_in(
        context, identifier, req.password, solution, hides_unknown=hides, options=_verification_options(req)
    )


@submit_consents.implements
def with_consents(context: Context, req: SubmitConsentsByToken) -> sign_in_operations.Login:
    """Continue a sign-in that requires consents.

    A refused submission leaves the token unused; of concurrent valid ones, one begins the session.
    """
    consent_forms.require_enabled(context)
    token, account = consent_required.pending_sign_in(context, req.consent_token)
    answers = consent_required.parse_answers(context, token, req)
    authentication = Authentication.from_stored(token.facts["way"])

    def submit() -> Account:
        if not continuation_tokens.spend(context, token):
            raise errors.WrongConsentToken
        return consent_forms.submit(context, account, answers)

    outcome = completion.after_earlier_request(context, account, authentication, required_actions.CONSENT, submit)
    return sign_in_responses.to_login(sign_in_responses.present(context, outcome))
