"""Everything that is kept of a person, as one document for them (docs/own-data.md). It has no secret, and nothing of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.contract import hub_security as contract
from app.contract.hub_account import WithPassword
from app.contract.second_factors.challenge import FactorKind
from app.identity.authentication.sign_in import sessions
from app.identity.authentication.sign_in.sessions import BrowserSession
from app.identity.credentials import store as credentials
from app.identity.credentials.second_factors import trusted_browsers
from app.identity.credentials.store import Credential
from app.identity.credentials.tokens import service as tokens
from app.identity.directory.accounts import privacy_policy
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.consents import service as consent_forms
from app.identity.directory.custom_objects import store as custom_objects
from app.identity.hosted import account_settings, views
from app.identity.platform import audit
from app.identity.platform.context import Context
from app.identity.protocols.oauth import authorized_applications
from app.kit.clock import iso
from app.kit.limits import Rate

FORMAT: Final = "gatehouse-own-data/1"
MOST_EVENTS: Final = 10_000
_RATE: Final = Rate(5, 3600)
_TOLD: Final = frozenset(
    {"kind", "by", "reason", "source", "action", "attempts", "scope", "grant", "version", "count", "lock"}
)
"""What of an event's facts says something to the person; the others are ids of ours, or of other people."""


@contract.export_data.implements
def own_data(context: Context, req: WithPassword) -> contract.DataView:
    """Raises TooManyRequests: it was read five times within the hour."""
    known = account_settings.reauthenticate(context, req)
    context.spend("own_data", _RATE, known.account.uid)
    context.audit.record("account.data_read", uid=known.account.uid)
    data = document(context, known.session, known.account)
    return contract.DataView(data=data, session=account_settings.renew_session(context, known).session)


def document(context: Context, session: BrowserSession, account: Account) -> dict[str, Any]:
    """Return what is kept of an account."""
    uid = account.uid
    live = sessions.of_account(context, uid)
    events = audit.of_account(context.work, uid, MOST_EVENTS + 1)
    return {
        "format": FORMAT,
        "made_at": iso(context.now),
        "tenant": context.tenant.display_name,
        "profile": accounts.profile_of(account),
        "addresses": [_address(account, entry) for entry in account.emails],
        "security_questions": [_question(context, one) for one in account.security_answers],
        "second_factors": [_factor(one) for one in credentials.by_account(context, uid)],
        "sessions": [views.session(context, one, session).model_dump(mode="json") for one in live],
        "trusted_browsers": [
            {"agent": one.agent, "address": one.address, "since": iso(one.trusted_at), "until": iso(one.ends_at)}
            for one in trusted_browsers.by_account(context, account)
        ],
        "applications": [
            {"client_id": one.client_id, "name": _name(context, one.client_id), "scopes": list(one.scopes), "since": iso(one.since)}
            for one in authorized_applications.of_account(context, uid)
        ],
        "tokens": [
            {"client_id": one.client_id, "scope": one.scope, "issued_at": iso(one.issued_at), "expires_at": iso(one.expires_at)}
            for one in tokens.by_account(context, uid)
        ],
        "privacy_policy": privacy_policy.history_of(account),
        "consents": consent_forms.history(context, account),
        "custom_objects": [_record(row._asdict()) for row in custom_objects.all_of_account(context, uid)],
        "events": [_event(one) for one in events[:MOST_EVENTS]],
        "has_older_events": len(events) > MOST_EVENTS,
    }  # fmt: skip


def _address(account: Account, entry: Mapping[str, Any]) -> dict[str, Any]:
    is_asked = bool(entry.get("pending"))
    return {
        "type": entry["Type"],
        "value": entry["Value"],
        "is_confirmed": is_verified(account, str(entry["Value"])),
        "is_asked_for": is_asked,
    }


def _question(context: Context, question: str) -> dict[str, Any]:
    return {"id": question, "question": context.tenant.settings.security_questions.get(question)}


def _factor(one: Credential) -> dict[str, Any]:
    """A number and a name are the person's own; seeds, keys, answers and codes are not told to anybody."""
    told: dict[str, Any] = {"kind": one.kind, "is_set_up": one.is_enrolled, "since": iso(one.created_at)}
    if one.used_at is not None and one.kind != FactorKind.BACKUP_CODE:
        told["last_used_at"] = iso(one.used_at)
    return told | {name: one.facts[name] for name in ("phone", "name") if isinstance(one.facts.get(name), str)}


def _name(context: Context, client_id: str) -> str | None:
    client = context.application(client_id=client_id)
    return client.display_name if client is not None else None


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "object": row["object_name"],
        "id": row["record_id"],
        "content": row["content"],
        "created_at": iso(row["created_at"]),
        "modified_at": iso(row["modified_at"]),
    }


def _event(one: audit.Entry) -> dict[str, Any]:
    told = {name: value for name, value in one.facts.items() if name in _TOLD}
    return {"at": iso(one.at), "event": one.event, "client_id": one.client_id, "address": one.address, **told}
