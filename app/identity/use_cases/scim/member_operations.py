"""Members added to a group and removed from it by PATCH, of whom a group may have 10,000.

The library compares each value with every member, which takes minutes for a thousand of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_SELECTED: Final = re.compile(r'members\[\s*value\s+eq\s+"([^"\\]*)"\s*\]', re.IGNORECASE)


@dataclass(frozen=True)
class MemberChange:
    """Ids that one or several operations add, or remove.

    A member is named by its `value` alone: a display name or a `$ref` that is not ours must not keep it in the group.
    """

    adds: bool
    ids: list[str]

    def applied(self, members: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the members after the change."""
        named = dict.fromkeys(self.ids)
        if not self.adds:
            return [item for item in members if item.get("value") not in named]
        held = {item.get("value") for item in members}
        return [*members, *({"value": id_} for id_ in named if id_ not in held)]


def runs(operations: Sequence[Any]) -> list[MemberChange | list[Any]]:
    """Return the operations in their order: changes of members, those of the same kind as one, and between them lists of others."""
    found: list[MemberChange | list[Any]] = []
    for operation in operations:
        change, former = _change(operation), found[-1] if found else None
        if isinstance(change, MemberChange) and isinstance(former, MemberChange) and change.adds == former.adds:
            former.ids.extend(change.ids)
        elif change is None and isinstance(former, list):
            former.append(operation)
        else:
            found.append(change or [operation])
    return found


def _change(operation: Any) -> MemberChange | None:
    """Return a change of members; None for any other operation, and for a malformed one."""
    if not isinstance(operation, Mapping) or not isinstance(operation.get("path"), str):
        return None
    kind, path, value = str(operation.get("op")).lower(), operation["path"].strip(), operation.get("value")
    selected = _SELECTED.fullmatch(path)
    if kind == "remove" and selected and not value:
        return MemberChange(adds=False, ids=[selected[1]])
    if kind not in ("add", "remove") or path.lower() != "members" or not value:
        return None
    ids = [_id(item) for item in (value if isinstance(value, list) else [value])]
    named = [id_ for id_ in ids if id_ is not None]
    return MemberChange(kind == "add", named) if len(named) == len(ids) else None


def _id(item: Any) -> str | None:
    if not isinstance(item, Mapping):
        return None
    return next((text for name, text in item.items() if name.lower() == "value" and isinstance(text, str)), None)
