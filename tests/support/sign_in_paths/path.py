"""A sign-in path: what it needs, how it is gone, and which functions of the identity service make its session or tokens."""

from __future__ import annotations

import dis
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from flask import Flask

from tests.support.fakes.identity_provider import FakeProvider
from tests.support.sign_in_paths.account import SigningAccount, signing_account
from tests.support.sign_in_paths.results import Credential, Outcome, of_page, of_program
from tests.support.tenants.tenant_server import NewTenantServer, RefusedRequest
from tests.support.visitors.visitor import ButtonMissing

Steps = Generator[None, None, Outcome]
"""A way to sign in. The first `yield` says that the account has what it needs; each later one stands between two requests of the
sign-in, where something may change meanwhile. Returns the outcome."""


@dataclass(frozen=True)
class SignInPath:
    """One way in which a person or a program comes to a session or to tokens of an account."""

    name: str
    steps: Callable[[SigningAccount], Steps]
    callers: tuple[str, ...]
    """The functions of `app/identity` on this way that `tests/support/sign_in_paths/callers.py` finds: `module:function`."""
    by: Credential = Credential.ACCESS_TOKEN
    blocked: str | None = "991"
    """How the path refuses a blocked account; None where it makes the account."""
    meanwhile: tuple[str, ...] = ()
    """How it refuses an account that is blocked at the second `yield`, the third, and so on; as `blocked` where it is empty."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    logins: int = 1
    """How many events `Login` it emits; none where an earlier sign-in goes on."""
    signed_in_at: int | None = None
    """From which moment the account has a session or token; from the first where an earlier sign-in goes on."""
    asks_lock: bool = False
    """Whether a lock stops it all the same: it signs the account in elsewhere."""

    def __str__(self) -> str:
        return self.name

    def goes_on(self, moment: int) -> bool:
        """Return whether the account has its session or token already."""
        since = self.signed_in_at if self.signed_in_at is not None or self.logins else 0
        return since is not None and moment >= since

    def prepare(self, make: NewTenantServer, hub: Flask, provider: FakeProvider, **settings: Any) -> Prepared:
        """Make a tenant with these settings beside the path's, and an account that is about to sign in."""
        who = signing_account(make, hub, provider, **{**self.settings, **settings})
        steps = self.steps(who)
        next(steps)
        return Prepared(self, who, steps)

    @property
    def moments(self) -> int:
        """At how many moments something may happen to the account: one for each `yield`."""
        return sum(step.opname == "YIELD_VALUE" for step in dis.get_instructions(self.steps))

    @property
    def refusals(self) -> tuple[str, ...]:
        """How the path refuses an account that is blocked at each moment; empty where it makes the account."""
        if self.blocked is None:
            return ()
        return (self.blocked, *(self.meanwhile or (self.blocked,) * (self.moments - 1)))


@dataclass(frozen=True)
class Prepared:
    """An account that is about to sign in."""

    path: SignInPath
    who: SigningAccount
    steps: Steps

    def perform(self, meanwhile: Callable[[SigningAccount], object] | None = None, at: int = 0) -> Outcome:
        """Sign in; a request that is refused, and a page without the next button, end it.

        Args:
            meanwhile: what happens to the account at moment `at`: 0 is before the sign-in begins.
        """
        moment = 0
        while True:
            if meanwhile is not None and moment == at:
                meanwhile(self.who)
            try:
                next(self.steps)
            except StopIteration as end:
                assert meanwhile is None or at <= moment, "the sign-in ended before"
                outcome: Outcome = end.value
                return outcome
            except RefusedRequest as refusal:
                return of_program(refusal.response)
            except ButtonMissing as dead_end:
                return of_page(dead_end.page)
            moment += 1
