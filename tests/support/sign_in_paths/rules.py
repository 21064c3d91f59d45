"""Rules of a sign-in that every path asks: what happens to the account, and where the path need not ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.operation_cases.sign_in_methods import EVERY
from tests.support.organizations.management import PATH, Business
from tests.support.sign_in_paths.account import SigningAccount
from tests.support.sign_in_paths.path import SignInPath
from tests.support.tenants.tenant_server import answered

Happening = Callable[[SigningAccount], object]


def disable(who: SigningAccount) -> None:
    """Let the account not sign in, and leave its sessions and tokens."""
    who.set_columns(login_disabled=True)


def lock(who: SigningAccount) -> None:
    who.set_columns(is_locked=True, lock_type="Block")


def allowing(method: str) -> Happening:
    """Make the account, which can use this method, a member of an organization that allows no other."""

    def join(who: SigningAccount) -> None:
        business = Business(who.tenant)
        org = business.create()
        answered(business.assign(who.uid, org, business.role(org=org)))
        policy = {"MethodPolicy": {"AllowedMethods": [method]}}
        answered(business.send("PUT", f"{PATH}/{org}/policy", policy))

    return join


def is_always_asked(path: SignInPath, moment: int) -> bool:
    return True


def is_lock_asked(path: SignInPath, moment: int) -> bool:
    """A lock stops attempts, which anyone can make; the account's own sessions and tokens go on."""
    return path.asks_lock or not path.goes_on(moment)


def is_method_asked(path: SignInPath, moment: int) -> bool:
    """A policy of an organization waits for the next sign-in, and sessions and tokens go on (decision 0195)."""
    return not path.goes_on(moment)


@dataclass(frozen=True)
class Rule:
    """A rule for which every path refuses an account, or some of the paths after each of several happenings."""

    name: str
    happenings: tuple[Happening, ...]
    """One of them stops each path: a sign-in by a password goes on where an organization allows passwords alone."""
    is_asked: Callable[[SignInPath, int], bool]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


RULES = (
    Rule("disabled", (disable,), is_always_asked),
    Rule("locked", (lock,), is_lock_asked),
    Rule("method", (allowing("password"), allowing("email")), is_method_asked, EVERY),
)
