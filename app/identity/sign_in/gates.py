"""What a tenant still demands of an account whose sign-in is whole: its privacy policy, its consent forms, a PIN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from app.contract import errors as e
from app.identity.accounts import policies
from app.identity.accounts.account import Account
from app.identity.call import Call
from app.identity.consent_forms import asking
from app.identity.pins import asking as pin_asking
from app.identity.pins import service as pins
from app.identity.sign_in import service
from app.identity.sign_in.second_factor import Way, kept
from app.kit.clock import iso
from app.kit.errors import ApiError

BEFORE: Final = "before"
"""The fact of a token that was given to accept the policy alone: how its owner came in."""


@dataclass(frozen=True)
class Gate:
    """One demand: whether it stands, and the refusal that says so, with the token that goes on."""

    stands: Callable[[Call, Account], bool]
    refusal: Callable[[Call, Account, Way], ApiError]


def _must_accept(call: Call, account: Account) -> bool:
    return policies.must_accept(call.tenant.settings.privacy_policy, account, call.now)


def _policy_refusal(call: Call, account: Account, way: Way) -> ApiError:
    """Its token accepts the policy, and says who one is; what else it opens stands behind the policy (identity/callers.py)."""
    issued = service.issue(call, account, way.methods, **{BEFORE: kept(way)})
    data = {"access_token": issued.access_token, "expires_in": iso(issued.access_expires_at)}
    return e.PrivacyPolicyOutdated(data=data, commit_on_raise=True)


def _consent_refusal(call: Call, account: Account, way: Way) -> ApiError:
    return asking.refusal(call, account, kept(way))


def _pin_refusal(call: Call, account: Account, way: Way) -> ApiError:
    return pin_asking.refusal(call, account, kept(way))


POLICY: Final = Gate(_must_accept, _policy_refusal)
CONSENT: Final = Gate(asking.is_due, _consent_refusal)
PIN: Final = Gate(pins.is_due, _pin_refusal)
GATES: Final = (POLICY, CONSENT, PIN)
"""In the interface's order (mfa.md section 3: privacy, consent, PIN)."""


def are_clear(call: Call, account: Account, after: Gate | None = None) -> bool:
    """Return whether nothing stands before the session, or nothing beyond the gate that was just passed."""
    return not any(gate.stands(call, account) for gate in _beyond(after))


def refuse(call: Call, account: Account, way: Way, after: Gate | None = None) -> None:
    """Raise the first demand that stands; the sign-in until here is used up, and goes on by the token alone."""
    for gate in _beyond(after):
        if gate.stands(call, account):
            raise gate.refusal(call, account, way)


def _beyond(after: Gate | None) -> tuple[Gate, ...]:
    return GATES[GATES.index(after) + 1 :] if after else GATES
