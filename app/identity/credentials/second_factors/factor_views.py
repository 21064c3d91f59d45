"""The members of challenges and settings that describe an account's second factors."""

from __future__ import annotations

from typing import Any

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind, Question
from app.identity.credentials.second_factors.authenticators import push
from app.identity.credentials.second_factors.authenticators.authenticator import AccountFactors, ChallengeOptions
from app.identity.credentials.second_factors.authenticators.registry import AUTHENTICATORS
from app.identity.credentials.second_factors.second_factors import RequiredFactor, available_kinds, enrolled_kinds
from app.identity.directory.accounts.identifiers import mask_email
from app.identity.platform.context import Context


def challenge_members(context: Context, required: RequiredFactor, options: ChallengeOptions) -> dict[str, Any]:
    """Return the members of a challenge. Those for an enrolment are included only if the account has no factor."""
    factors = required.factors
    members = enrolled_flags(context, factors) | _enrolled_details(context, factors)
    members["email"] = [mask_email(item.value) for item in factors.account.email_list.present] or None
    if FactorKind.DUO in required.kinds:
        members |= _duo_redirect(context, factors, options)
    if required.must_enrol:
        members |= enrolment_members(context, factors, options)
    return members


def settings_members(context: Context, factors: AccountFactors, options: ChallengeOptions) -> dict[str, Any]:
    """Return the members of the account's own settings, with unmasked addresses."""
    members = management_members(context, factors)
    return members | enrolment_members(context, factors, options)


def management_members(context: Context, factors: AccountFactors) -> dict[str, Any]:
    """Return the members for the tenant's servers, without those for an enrolment."""
    members = enrolled_flags(context, factors) | _enrolled_details(context, factors)
    members["email"] = [item.value for item in factors.account.email_list.present] or None
    members["is_security_question_enabled"] = members.get("is_security_question_authenticator_verified", False)
    return members


def _enrolled_details(context: Context, factors: AccountFactors) -> dict[str, Any]:
    """Return the masked enrolled number and the enrolled questions."""
    members: dict[str, Any] = {}
    enrolled = enrolled_kinds(context.tenant.settings, factors)
    if FactorKind.SMS in enrolled:
        members["otp_phone_no"] = AUTHENTICATORS[FactorKind.SMS].hint(factors)
    if FactorKind.QUESTIONS in enrolled:
        members["security_questions"] = _questions(context, factors)
    return members


def enrolled_flags(context: Context, factors: AccountFactors) -> dict[str, Any]:
    """Return which kinds are enrolled."""
    enrolled = enrolled_kinds(context.tenant.settings, factors)
    return {member: True for kind in enrolled for member in AUTHENTICATORS[kind].enrolled_members}


def enrolment_members(context: Context, factors: AccountFactors, options: ChallengeOptions) -> dict[str, Any]:
    """Start the enrolment of kinds with a QR code that the tenant enables and the account lacks, and return their members and
    the questions to choose from.
    """
    not_enrolled = [
        kind
        for kind in available_kinds(context.tenant.settings, factors)
        if not AUTHENTICATORS[kind].is_enrolled(factors)
    ]
    members: dict[str, Any] = {}
    if FactorKind.TOTP in not_enrolled:
        challenge = AUTHENTICATORS[FactorKind.TOTP].begin_enrolment(context, factors, options)
        members |= {"qr_code": _qr_code(context, challenge.uri or ""), "manual_entry_code": challenge.secret}
    if FactorKind.PUSH in not_enrolled and context.tenant.settings.push is not None:
        uri = AUTHENTICATORS[FactorKind.PUSH].describe(context, factors).uri
        members["push_qr_code"] = push.qr_code_url(context, uri) if uri else None
    if FactorKind.DUO in not_enrolled:
        members |= _duo_redirect(context, factors, options)
    if FactorKind.QUESTIONS in not_enrolled:
        members["security_questions"] = _questions(context, factors)
    return members


def _duo_redirect(context: Context, factors: AccountFactors, options: ChallengeOptions) -> dict[str, Any]:
    """Return the URL of Duo's prompt, if the program supplied a redirect URI and the tenant's Duo settings are complete.

    Raises MalformedDuoRedirect, DuoRedirectRefused.
    """
    if options.duo_redirect_uri is None:
        return {}
    try:
        return {"duo_auth_endpoint": AUTHENTICATORS[FactorKind.DUO].challenge(context, factors, options).address}
    except errors.DuoMisconfigured:
        return {}


def _questions(context: Context, factors: AccountFactors) -> list[Question]:
    texts = context.tenant.settings.security_questions
    challenge = AUTHENTICATORS[FactorKind.QUESTIONS].describe(context, factors)
    return [Question(question_id=question, question=texts.get(question, question)) for question in challenge.questions]


def _qr_code(context: Context, uri: str) -> str:
    """Return a QR code as a data URI of an SVG of the tenant's width."""
    import segno

    settings = context.tenant.settings.totp
    code = segno.make(uri, error="m", micro=False)
    return code.svg_data_uri(scale=settings.qr_code_width / code.symbol_size(border=4)[0] if settings else 4, border=4)
