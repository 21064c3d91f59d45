"""Everything that is kept of a person, as one document for them (docs/own-data.md). It has no secret, and nothing of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.contract import hub_security as contract
from app.contract.hub_self_service import Proved
from app.contract.second_factors.challenge import FactorKind
from app.identity import ledger
from app.identity.accounts import policies
from app.identity.accounts import service as accounts
from app.identity.accounts.account import Account, is_verified
from app.identity.call import Call
from app.identity.consent_forms import service as consent_forms
from app.identity.credentials import store as credentials
from app.identity.credentials.store import Credential
from app.identity.custom_objects import store as custom_objects
from app.identity.journeys import own_account, views
from app.identity.oauth import access
from app.identity.second_factors import trusted
from app.identity.sign_in import sessions
from app.identity.sign_in.sessions import BrowserSession
from app.identity.tokens import service as tokens
from app.kit.clock import iso
from app.kit.limits import Rate
from app.kit.server import Server

FORMAT: Final = "gatehouse-own-data/1"
MOST_EVENTS: Final = 10_000
_RATE: Final = Rate(5, 3600)
_TOLD: Final = frozenset(
    {"kind", "by", "reason", "source", "action", "attempts", "scope", "grant", "version", "count", "lock"}
)
"""What of an event's facts says something to the person; the others are ids of ours, or of other people."""


def register(server: Server) -> None:
    """Implement the operation."""
    server.implements(contract.own_data)(own_data)


def own_data(call: Call, req: Proved) -> contract.DataView:
    """Raises TooManyRequests: it was read five times within the hour."""
    known = own_account.proved(call, req)
    call.spend("own_data", _RATE, known.account.uid)
    call.ledger.record("account.data_read", uid=known.account.uid)
    data = document(call, known.session, known.account)
    return contract.DataView(data=data, session=own_account.done(call, known).session)


def document(call: Call, session: BrowserSession, account: Account) -> dict[str, Any]:
    """Return what is kept of an account."""
    uid = account.uid
    live = sessions.of_account(call, uid)
    events = ledger.of_account(call.work, uid, MOST_EVENTS + 1)
    return {
        "format": FORMAT,
        "made_at": iso(call.now),
        "tenant": call.tenant.display_name,
        "profile": accounts.profile_of(account),
        "addresses": [_address(account, entry) for entry in account.emails],
        "security_questions": [_question(call, one) for one in account.security_answers],
        "second_factors": [_factor(one) for one in credentials.of_account(call, uid)],
        "sessions": [views.session(call, one, session).model_dump(mode="json") for one in live],
        "trusted_browsers": [
            {"agent": one.agent, "address": one.address, "since": iso(one.trusted_at), "until": iso(one.ends_at)}
            for one in trusted.of_account(call, account)
        ],
        "applications": [
            {"client_id": one.client_id, "name": _name(call, one.client_id), "scopes": list(one.scopes), "since": iso(one.since)}
            for one in access.of_account(call, uid)
        ],
        "tokens": [
            {"client_id": one.client_id, "scope": one.scope, "issued_at": iso(one.issued_at), "expires_at": iso(one.expires_at)}
            for one in tokens.of_account(call, uid)
        ],
        "privacy_policy": policies.history_of(account),
        "consents": consent_forms.history(call, account),
        "custom_objects": [_record(row._asdict()) for row in custom_objects.all_of_account(call, uid)],
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


def _question(call: Call, question: str) -> dict[str, Any]:
    return {"id": question, "question": call.tenant.settings.security_questions.get(question)}


def _factor(one: Credential) -> dict[str, Any]:
    """A number and a name are the person's own; seeds, keys, answers and codes are not told to anybody."""
    told: dict[str, Any] = {"kind": one.kind, "is_set_up": one.is_enrolled, "since": iso(one.created_at)}
    if one.used_at is not None and one.kind != FactorKind.BACKUP_CODE:
        told["last_used_at"] = iso(one.used_at)
    return told | {name: one.facts[name] for name in ("phone", "name") if isinstance(one.facts.get(name), str)}


def _name(call: Call, client_id: str) -> str | None:
    client = call.application(client_id=client_id)
    return client.display_name if client is not None else None


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "object": row["object_name"],
        "id": row["record_id"],
        "content": row["content"],
        "created_at": iso(row["created_at"]),
        "modified_at": iso(row["modified_at"]),
    }


def _event(one: ledger.Entry) -> dict[str, Any]:
    told = {name: value for name, value in one.facts.items() if name in _TOLD}
    return {"at": iso(one.at), "event": one.event, "client_id": one.client_id, "address": one.address, **told}
