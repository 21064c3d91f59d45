"""Writes the fields of a profile that the answer to a workflow's call sets, by the rules of every change of a profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.contract import errors
from app.contract.applications.claims_mapping import CUSTOM
from app.contract.profile import Write
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.changes import checked_update
from app.identity.directory.accounts.changes.checked_update import CheckedUpdate
from app.identity.directory.accounts.profile import profile_edits
from app.identity.directory.accounts.profile.profile_edits import Edits
from app.identity.platform import events
from app.identity.platform.context import Context
from app.kit.text import input_filter

_WRITERS: Final = frozenset({Write.ANYONE})
_CUSTOM_FIELDS: Final = CUSTOM.rstrip(".")


def check(context: Context, fields: Mapping[str, str | None]) -> None:
    """Refuse values that a profile can't have. Raises Dangerous, and the errors of `profile_edits.read`."""
    if input_filter.is_dangerous(dict(fields), with_markup=True):
        raise errors.Dangerous
    _edits(context, fields)


def write(context: Context, account: Account, fields: Mapping[str, str | None]) -> Account:
    """Set the fields, or clear those that are null, and return the changed account; nothing is written where all have their value.

    Raises the errors of `profile_edits.read`, and UnknownUid for an account that was deleted meanwhile.
    """
    edits = _edits(context, fields)
    if not edits or edits.apply(account.profile) == account.profile:
        return account
    changed = checked_update.write(context, account.uid, CheckedUpdate(edits))
    if changed.before.profile != changed.after.profile:
        events.emit(context, "UpdateProfile", changed.after)
    return changed.after


def _edits(context: Context, fields: Mapping[str, str | None]) -> Edits:
    custom = {name.removeprefix(CUSTOM): value for name, value in fields.items() if name.startswith(CUSTOM)}
    members: dict[str, Any] = {name: value for name, value in fields.items() if not name.startswith(CUSTOM)}
    if custom:
        members[_CUSTOM_FIELDS] = custom
    custom_fields = context.tenant.settings.custom_fields
    return profile_edits.read(members, _WRITERS, clears=True, custom_fields=custom_fields, today=context.now.date())
