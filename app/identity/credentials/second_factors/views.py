"""What a challenge and the settings tell of an account's second factors (interface mfa.md sections 1 and 3)."""

from __future__ import annotations

from typing import Any

import segno

from app.contract import errors as e
from app.contract.second_factors.challenge import FactorKind, Question
from app.identity.credentials.authenticators import push
from app.identity.credentials.authenticators.masks import mask_email, mask_phone
from app.identity.credentials.authenticators.protocol import AccountFactors, ChallengeOptions
from app.identity.credentials.authenticators.registry import AUTHENTICATORS
from app.identity.credentials.second_factors.service import RequiredFactor, available_kinds, enrolled_kinds
from app.identity.platform.context import Context

ENROLLED_MEMBERS = {
    FactorKind.TOTP: ("is_google_authenticator_verified", "is_authenticator_verified"),
    FactorKind.SMS: ("is_otp_authenticator_verified",),
    FactorKind.EMAIL: ("is_email_otp_authenticator_verified",),
    FactorKind.QUESTIONS: ("is_security_question_authenticator_verified",),
    FactorKind.PUSH: ("is_push_device_registered",),
    FactorKind.DUO: ("is_duo_authenticator_verified",),
    FactorKind.PASSKEY: ("is_passkey_authenticator_verified",),
}
"""The members that say that a kind is enrolled."""


def challenge_members(context: Context, required: RequiredFactor, options: ChallengeOptions) -> dict[str, Any]:
    """Return the members of a challenge. Whoever has a factor is shown nothing to enrol another by."""
    factors = required.factors
    told = enrolled_flags(context, factors) | _enrolled_details(context, factors)
    told["email"] = [mask_email(one["Value"]) for one in factors.account.emails if not one.get("pending")] or None
    if FactorKind.DUO in required.kinds:
        told |= _duo_redirect(context, factors, options)
    if required.must_enrol:
        told |= enrolment_members(context, factors, options)
    return told


def settings_members(context: Context, factors: AccountFactors, options: ChallengeOptions) -> dict[str, Any]:
    """Return the members of the settings: addresses are the account's own to see."""
    told = management_members(context, factors)
    return told | enrolment_members(context, factors, options)


def management_members(context: Context, factors: AccountFactors) -> dict[str, Any]:
    """Return the settings as the tenant's servers see them, without what enrols anything."""
    told = enrolled_flags(context, factors) | _enrolled_details(context, factors)
    told["email"] = [str(one["Value"]) for one in factors.account.emails if not one.get("pending")] or None
    told["is_security_question_enabled"] = told.get("is_security_question_authenticator_verified", False)
    return told


def _enrolled_details(context: Context, factors: AccountFactors) -> dict[str, Any]:
    """Return the number that is enrolled, masked, and the questions that are."""
    told: dict[str, Any] = {}
    has = enrolled_kinds(context.tenant.settings, factors)
    if FactorKind.SMS in has:
        told["otp_phone_no"] = AUTHENTICATORS[FactorKind.SMS].hint(factors)
    if FactorKind.QUESTIONS in has:
        told["security_questions"] = _questions(context, factors)
    return told


def enrolled_flags(context: Context, factors: AccountFactors) -> dict[str, Any]:
    """Return which kinds are enrolled, and no secret."""
    has = enrolled_kinds(context.tenant.settings, factors)
    return {member: True for kind in has for member in ENROLLED_MEMBERS.get(kind, ())}


def enrolment_members(context: Context, factors: AccountFactors, options: ChallengeOptions) -> dict[str, Any]:
    """Begin to enrol what is scanned, where the tenant has it and the account does not, and return what it takes; and the
    questions that may be chosen.
    """
    new = [
        kind
        for kind in available_kinds(context.tenant.settings, factors)
        if not AUTHENTICATORS[kind].is_enrolled(factors)
    ]
    told: dict[str, Any] = {}
    if FactorKind.TOTP in new:
        shown = AUTHENTICATORS[FactorKind.TOTP].begin_enrolment(context, factors, options)
        told |= {"qr_code": qr_code(shown.uri or ""), "manual_entry_code": shown.secret}
    if FactorKind.PUSH in new and context.tenant.settings.push is not None:
        uri = AUTHENTICATORS[FactorKind.PUSH].describe(context, factors).uri
        told["push_qr_code"] = push.qr_code_url(context, uri) if uri else None
    if FactorKind.DUO in new:
        told |= _duo_redirect(context, factors, options)
    if FactorKind.QUESTIONS in new:
        told["security_questions"] = _questions(context, factors)
    return told


def _duo_redirect(context: Context, factors: AccountFactors, options: ChallengeOptions) -> dict[str, Any]:
    """Return where Duo's prompt is, for a program that said where the browser comes back to; nothing where the tenant's
    settings lead nowhere. Raises MalformedDuoRedirect, DuoRedirectRefused.
    """
    if options.duo_redirect_uri is None:
        return {}
    try:
        return {"duo_auth_endpoint": AUTHENTICATORS[FactorKind.DUO].challenge(context, factors, options).address}
    except e.DuoMisconfigured:
        return {}


def _questions(context: Context, factors: AccountFactors) -> list[Question]:
    texts = context.tenant.settings.security_questions
    shown = AUTHENTICATORS[FactorKind.QUESTIONS].describe(context, factors)
    return [Question(question_id=one, question=texts.get(one, one)) for one in shown.questions]


def qr_code(uri: str) -> str:
    """Return the QR code of an address, as a data URI of an SVG."""
    return segno.make(uri, error="m", micro=False).svg_data_uri(scale=4, border=4)


__all__ = [
    "challenge_members",
    "enrolment_members",
    "enrolled_flags",
    "mask_email",
    "mask_phone",
    "qr_code",
    "settings_members",
]
