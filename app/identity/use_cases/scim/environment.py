"""One SCIM request: its connection, its scope, the address of its resources, and what it has changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from app.contract.scim import scim_errors
from app.contract.scim.scim_operations import BASE
from app.identity.directory.provisioning.connection_store import ScimConnectionRecord
from app.identity.platform.context import Context
from app.identity.use_cases.scim.scope import ProvisioningScope

_MAX_SHOWN: Final = 200
_MAX_ATTRIBUTES: Final = 20
_MAX_CHANGES: Final = 200
_MAX_LOGGED: Final = 40_000
"""Characters of values in the log of one request, so that administrators can read the last hundred at once."""


@dataclass
class ScimCall:
    """The request, for the rules of people and groups."""

    context: Context
    connection: ScimConnectionRecord
    scope: ProvisioningScope
    scopes: frozenset[str]
    changes: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was left out, for the log."""
    changed_members: int = 0
    """Members whom the request added to groups and removed from them; a bulk request is one."""
    logged: int = 0
    """Characters of the values in `changes`."""

    @property
    def org_id(self) -> str:
        return self.scope.org_id

    def require(self, scope: str) -> None:
        """Raise ScimForbidden unless the token has the scope, or that to write the same."""
        if self.scopes.isdisjoint({scope, scope.replace(":read", ":write")}):
            raise scim_errors.ScimForbidden(f"The SCIM token lacks the scope {scope}.")

    def location(self, kind: str, id_: str) -> str:
        return f"{self.context.pages_url}{BASE}/{kind}/{id_}"

    def record(
        self,
        action: str,
        kind: str,
        id_: str,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
    ) -> None:
        """Add what changed to the log of the connection."""
        if len(self.changes) >= _MAX_CHANGES:
            return
        old, new = before or {}, after or {}
        names = [name for name in {**old, **new} if name not in ("meta", "schemas") and old.get(name) != new.get(name)]
        values = {
            name: {"from": _shown(old.get(name)), "to": _shown(new.get(name))} for name in names[:_MAX_ATTRIBUTES]
        }
        self.logged += len(str(values))
        if self.logged > _MAX_LOGGED:
            values = {}
        self.changes.append({"action": action, "resource": kind, "id": id_, "attributes": values})


def _shown(value: Any) -> Any:
    """Return a value for the log; a long one is cut."""
    if isinstance(value, bool | int | None):
        return value
    text = str(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
