"""Every way in which a person or a program comes to a session or to tokens of an account: one entry each."""

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
