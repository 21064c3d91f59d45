"""What a tenant still demands of an account whose sign-in is whole: its privacy policy, its consent forms, a PIN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from app.contract import errors as e
from app.identity.authentication.sign_in import service
from app.identity.authentication.sign_in.second_factor import Way, kept
from app.identity.credentials.pins import pin_required as pin_asking
from app.identity.credentials.pins import service as pins
from app.identity.directory.accounts import privacy_policy
from app.identity.directory.accounts.account import Account
from app.identity.directory.consents import consent_required
from app.identity.platform.context import Context
from app.kit.clock import iso
from app.kit.errors import ApiError

BEFORE: Final = "before"
"""The fact of a token that was given to accept the policy alone: how its owner came in."""


@dataclass(frozen=True)
class Gate:
    """One demand: whether it stands, and the refusal that says so, with the token that goes on."""

    stands: Callable[[Context, Account], bool]
    refusal: Callable[[Context, Account, Way], ApiError]


def _must_accept(context: Context, account: Account) -> bool:
    return privacy_policy.must_accept(context.tenant.settings.privacy_policy, account, context.now)


def _policy_refusal(context: Context, account: Account, way: Way) -> ApiError:
    """Its token accepts the policy, and says who one is; what else it opens stands behind the policy (identity/callers.py)."""
    issued = service.issue(context, account, way.methods, **{BEFORE: kept(way)})
    data = {"access_token": issued.access_token, "expires_in": iso(issued.access_expires_at)}
    return e.PrivacyPolicyOutdated(data=data, commit_on_raise=True)


def _consent_refusal(context: Context, account: Account, way: Way) -> ApiError:
    return consent_required.refusal(context, account, kept(way))


def _pin_refusal(context: Context, account: Account, way: Way) -> ApiError:
    return pin_asking.pin_required_error(context, account, kept(way))


POLICY: Final = Gate(_must_accept, _policy_refusal)
CONSENT: Final = Gate(consent_required.is_due, _consent_refusal)
PIN: Final = Gate(pins.must_set_pin, _pin_refusal)
GATES: Final = (POLICY, CONSENT, PIN)
"""In the interface's order (mfa.md section 3: privacy, consent, PIN)."""


def are_clear(context: Context, account: Account, after: Gate | None = None) -> bool:
    """Return whether nothing stands before the session, or nothing beyond the gate that was just passed."""
    return not any(gate.stands(context, account) for gate in _beyond(after))


def refuse(context: Context, account: Account, way: Way, after: Gate | None = None) -> None:
    """Raise the first demand that stands; the sign-in until here is used up, and goes on by the token alone."""
    for gate in _beyond(after):
        if gate.stands(context, account):
            raise gate.refusal(context, account, way)


def _beyond(after: Gate | None) -> tuple[Gate, ...]:
    return GATES[GATES.index(after) + 1 :] if after else GATES
