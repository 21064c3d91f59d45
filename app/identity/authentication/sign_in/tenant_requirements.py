"""The requirements of a tenant after a complete sign-in: its privacy policy, its consent forms, a PIN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from app.contract import errors
from app.identity.authentication.sign_in import password_sign_in
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.credentials.pins import pin_tokens, pins
from app.identity.directory.accounts import privacy_policy
from app.identity.directory.accounts.account import Account
from app.identity.directory.consents import consent_required
from app.identity.platform.context import Context
from app.kit.clock import iso
from app.kit.operations.errors import ApiError


@dataclass(frozen=True)
class Requirement:
    """One requirement: whether it is unmet, and the refusal with the token that continues the sign-in."""

    is_unmet: Callable[[Context, Account], bool]
    refusal: Callable[[Context, Account, Authentication], ApiError]


def _must_accept(context: Context, account: Account) -> bool:
    return privacy_policy.must_accept(context.tenant.settings.privacy_policy, account, context.now)


def _policy_refusal(context: Context, account: Account, authentication: Authentication) -> ApiError:
    """Return the refusal. Its token can only accept the policy and read the account (`assembly/admission/caller_authentication.py`)."""
    issued = password_sign_in.issue_tokens(
        context, account, authentication.methods, unfinished=authentication.to_stored()
    )
    data = {"access_token": issued.access_token, "expires_in": iso(issued.access_expires_at)}
    return errors.PrivacyPolicyOutdated(data=data, commit_on_raise=True)


def _consent_refusal(context: Context, account: Account, authentication: Authentication) -> ApiError:
    return consent_required.refusal(context, account, authentication.to_stored())


def _pin_refusal(context: Context, account: Account, authentication: Authentication) -> ApiError:
    return pin_tokens.pin_required_error(context, account, authentication.to_stored())


POLICY: Final = Requirement(_must_accept, _policy_refusal)
CONSENT: Final = Requirement(consent_required.is_due, _consent_refusal)
PIN: Final = Requirement(pins.must_set_pin, _pin_refusal)
REQUIREMENTS: Final = (POLICY, CONSENT, PIN)
"""In the order in which the interface names the first one that is unmet."""


def are_met(context: Context, account: Account, after: Requirement | None = None) -> bool:
    """Return whether the account meets every requirement, or every one after `after`."""
    return not any(requirement.is_unmet(context, account) for requirement in _remaining(after))


def refuse_unmet(
    context: Context, account: Account, authentication: Authentication, after: Requirement | None = None
) -> None:
    """Raise the first unmet requirement; the sign-in continues only with the token of that refusal."""
    for requirement in _remaining(after):
        if requirement.is_unmet(context, account):
            raise requirement.refusal(context, account, authentication)


def _remaining(after: Requirement | None) -> tuple[Requirement, ...]:
    return REQUIREMENTS[REQUIREMENTS.index(after) + 1 :] if after else REQUIREMENTS
