"""Powers: the rights that a program gains by writing an item, beyond the item itself (decision 0315).

A program that puts its own key into a client with the scope `all` gains that scope. So a program
changes an item only if it has every power of the item before and after the change. A power is the scope of the management
operations that allow the same; ALL, if it lets the program sign in as a person.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from app.contract.errors import MachineRefused
from app.identity.platform.context import Context

ALL: Final = "all"
"""The scope that includes every other one."""
GIVES_ROLES: Final = "role:update"
"""The scope that gives roles to accounts: a program with it can give any account the permissions of a role."""


class Power(NamedTuple):
    """A scope, and the part of the item that needs it."""

    scope: str
    needed_for: str


def has_all(context: Context) -> bool:
    """Return whether the program has every power: the API secret and the scope `all` give it."""
    return ALL in context.program_scopes


def require_powers(context: Context, powers: Iterable[Power]) -> None:
    """Refuse a write of an item with these powers. Raises MachineRefused, which names the first that the program lacks."""
    if has_all(context):
        return
    lacking = sorted(power for power in powers if power.scope not in context.program_scopes)
    if lacking:
        scope, what = lacking[0]
        context.audit.record("powers.refused", scope=scope, needed_for=what)
        raise MachineRefused(f"The program lacks the scope {scope}, which is needed for {what}.")
