"""Every way in which a person or a program comes to a session or to tokens of an account: one entry each.

A test of a rule takes the table, prepares each path with the tenant's settings that it is about, lets something happen to the account
at any moment, and reads the outcome in common terms:

    prepared = path.prepare(new_tenant_server, hub_app, fake_provider, two_factor="required")
    assert prepared.perform(SigningAccount.block, at=0) == Refused(path.refusals[0])

A path with `logins=0` makes its session or tokens from an earlier sign-in.
"""

from __future__ import annotations

from tests.support.sign_in_paths import (
    browsers,
    factors,
    grants,
    messages,
    passkeys,
    passwords,
    programs,
    providers,
    reauthentication,
    recovery,
    registrations,
    required_actions,
    risks,
)
from tests.support.sign_in_paths.path import SignInPath

SIGN_IN_PATHS: tuple[SignInPath, ...] = (
    *passwords.PATHS,
    *passkeys.PATHS,
    *messages.PATHS,
    *factors.PATHS,
    *risks.PATHS,
    *required_actions.PATHS,
    *providers.PATHS,
    *grants.PATHS,
    *programs.PATHS,
    *browsers.PATHS,
    *reauthentication.PATHS,
    *registrations.PATHS,
    *recovery.PATHS,
)

__all__ = ["SIGN_IN_PATHS", "SignInPath"]
