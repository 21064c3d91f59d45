"""Records why the identity of a valid answer is refused, for the operator and the tenant's administrators."""

from __future__ import annotations

from typing import Final

from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.step_reasons import LoginReason
from app.identity.authentication.federation import connection_traces
from app.identity.directory.identity_provider import ProviderDenied, ProviderIdentity
from app.identity.platform.context import Context

_FINDINGS: Final = {
    LoginReason.DENIED: (ConnectionCheck.LINKING, "an identity that no other request links or removes"),
    LoginReason.NOT_REAUTHENTICATED: (ConnectionCheck.REAUTHENTICATION, "auth_time after the request"),
    LoginReason.UNKNOWN_IDENTITY: (ConnectionCheck.ACCOUNT, "an identity that is connected, or may sign up"),
    LoginReason.LINKING_OFF: (ConnectionCheck.ACCOUNT, "an identity of the account with this address: linking is off"),
    LoginReason.EMAIL_REFUSED: (ConnectionCheck.EMAIL, "an address that the tenant’s rules allow"),
    LoginReason.FOREIGN_EMAIL: (ConnectionCheck.EMAIL, "a verified address in a verified domain of the organization"),
    LoginReason.NOT_MEMBER: (
        ConnectionCheck.ACCOUNT,
        "a member, or an organization that takes new ones and has a seat",
    ),
}
"""The check behind each reason for which the identity of a valid answer is refused."""


def record(context: Context, identity: ProviderIdentity, reason: LoginReason) -> None:
    """Record why an identity is refused; of its address the domain alone."""
    check, expected = _FINDINGS[reason]
    domain = (identity.email or "").rpartition("@")[2]
    received = f"an address of {domain}" if domain else "an identity without an address"
    refusal = ProviderDenied(reason.value, check=check, expected=expected, received=received)
    connection_traces.record(context, identity.provider, refusal)
