"""The classes of authentication contexts that sessions meet (saml-core-2.0 section 3.3.2.2.1, saml-authn-context-2.0)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from app.identity.authentication.sign_in.authentication import MFA

_CLASSES: Final = "urn:oasis:names:tc:SAML:2.0:ac:classes:"
UNSPECIFIED: Final = f"{_CLASSES}unspecified"
ONE_FACTOR: Final = f"{_CLASSES}PasswordProtectedTransport"
"""Stated of every sign-in with one factor: most service providers ask for it, whatever the factor is."""
TWO_FACTORS: Final = "https://refeds.org/profile/mfa"
_STRENGTHS: Final = {
    UNSPECIFIED: 0,
    f"{_CLASSES}Password": 1,
    ONE_FACTOR: 1,
    TWO_FACTORS: 2,
    "http://schemas.microsoft.com/claims/multipleauthn": 2,
    f"{_CLASSES}MobileTwoFactorUnregistered": 2,
    f"{_CLASSES}MobileTwoFactorContract": 2,
}
_BY_STRENGTH: Final = (ONE_FACTOR, ONE_FACTOR, TWO_FACTORS)


def met(methods: Collection[str], requested: Collection[str], comparison: str) -> str | None:
    """Return the class that a session with these methods states; None if it meets none of the requested ones.

    Args:
        methods: `amr` of the session.
        requested: the classes of the request, the preferred one first; none leaves it open.
        comparison: exact, minimum, maximum or better.
    """
    strength = _STRENGTHS[TWO_FACTORS] if MFA in methods else _STRENGTHS[ONE_FACTOR]
    if not requested:
        return _BY_STRENGTH[strength]
    known = [name for name in requested if name in _STRENGTHS]
    if comparison == "exact":
        return next((name for name in known if _STRENGTHS[name] <= strength), None)
    strengths = [_STRENGTHS[name] for name in known]
    if not strengths:
        return None
    if comparison == "maximum":
        return _BY_STRENGTH[min(strength, max(strengths))]
    is_met = strength > max(strengths) if comparison == "better" else strength >= min(strengths)
    return _BY_STRENGTH[strength] if is_met else None


def to_keep(requested: Sequence[str]) -> tuple[str, ...]:
    """Return the classes that decide what meets the request, each once: the known ones, or one unknown class, which nothing meets.

    Anyone can send an unsigned request with 50 long texts, so that the others are not stored.
    """
    known = tuple(dict.fromkeys(name for name in requested if name in _STRENGTHS))
    return known or tuple(requested[:1])


def needs_two(requested: Collection[str], comparison: str) -> bool:
    """Return whether one factor does not meet the request, and two do."""
    return met((), requested, comparison) is None and met((MFA,), requested, comparison) is not None
