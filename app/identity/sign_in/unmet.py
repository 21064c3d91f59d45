"""What a tenant wants of an account before it goes on: the present privacy policy, and the fields that its form requires."""

from __future__ import annotations

from typing import Any

from app.contract.hub import Next, Step
from app.identity.accounts import policies
from app.identity.accounts import service as accounts
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.tenants import registration_form


def step(call: Call, uid: str, account: Account | None = None) -> Next | None:
    """Return the step that stands before everything else; None where nothing does. Reads nothing where nothing is wanted."""
    settings = call.tenant.settings
    wants_policy = settings.privacy_policy.mode == "strict" and settings.privacy_policy.versions
    if not (wants_policy or settings.ask_required_fields):
        return None
    held = account or accounts.by_uid(call, uid)
    if held is None:
        return None
    if policies.must_accept(settings.privacy_policy, held, call.now):
        return Next(step=Step.PRIVACY_POLICY)
    lacking = missing(call, held) if settings.ask_required_fields else []
    return Next(step=Step.MISSING_FIELDS, missing=lacking) if lacking else None


def missing(call: Call, account: Account) -> list[str]:
    """Return the names of the form's fields that are required and that the account's profile lacks."""
    custom: dict[str, Any] = account.profile.get("CustomFields") or {}
    lacking = []
    for field in registration_form.of(call.tenant.settings):
        held = account.profile.get(field.member) if field.member else custom.get(field.name.removeprefix("cf_"))
        if field.required and (field.member or field.is_custom) and held in (None, ""):
            lacking.append(field.name)
    return lacking
