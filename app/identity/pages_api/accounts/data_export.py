"""Exports the stored data of an account as one document for its owner, without secrets (docs/own-data.md)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy.engine import Row

from app.contract.accounts.pages import security_pages
from app.contract.page_models import NoParameters
from app.contract.second_factors.challenge import FactorKind
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.credentials import credential_store
from app.identity.credentials.credential_store import Credential
from app.identity.credentials.second_factors import trusted_browsers
from app.identity.credentials.tokens import tokens
from app.identity.directory import pictures
from app.identity.directory.accounts import privacy_policy
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.email_list import EmailAddress
from app.identity.directory.accounts.profile import profile_document
from app.identity.directory.consents import consent_forms
from app.identity.directory.custom_objects import custom_object_store
from app.identity.directory.roles import tenant_role_store
from app.identity.pages_api import signed_in_account, views
from app.identity.platform import audit
from app.identity.platform.context import Context
from app.identity.protocols.oauth.consents import authorized_applications
from app.kit.clock import iso
from app.kit.images.image_converter import ConvertedImage
from app.kit.limits.rate_limits import Rate

FORMAT: Final = "gatehouse-own-data/1"
MAX_EVENTS: Final = 10_000
_RATE: Final = Rate(5, 3600)
_READABLE_FACTS: Final = frozenset(
    (
        *("kind", "by", "reason", "source", "action", "attempts", "scope", "grant", "version", "count", "lock"),
        *("methods", "provider", "application", "language"),
    )
)
"""The facts of an event that the owner may read; the others are internal ids, or of other people."""


@security_pages.export_data.implements
def export_data(context: Context, req: NoParameters) -> security_pages.DataView:
    """Return the document; raises TooManyRequests after five reads in an hour."""
    session, account = signed_in_account.require_account(context)
    context.count_against("own_data", _RATE, account.uid)
    context.audit.record("account.data_read", uid=account.uid)
    return security_pages.DataView(data=document(context, session, account))


def document(context: Context, session: BrowserSession, account: Account) -> dict[str, Any]:
    """Return the stored data of an account."""
    uid = account.uid
    live_sessions = sessions.of_account(context, uid)
    events = audit.of_account(context.work, uid, MAX_EVENTS + 1)
    return {
        "format": FORMAT,
        "made_at": iso(context.now),
        "tenant": context.tenant.display_name,
        "picture": _picture(pictures.of_account(context.work, uid)),
        "profile": profile_document.profile_of(account),
        "addresses": [_address(item) for item in account.email_list],
        "security_questions": [_question(context, item) for item in account.security_answers],
        "second_factors": [_factor(item) for item in credential_store.by_account(context, uid)],
        "sessions": [views.session(context, item, session).model_dump(mode="json") for item in live_sessions],
        "trusted_browsers": [
            {"agent": item.agent, "address": item.address, "since": iso(item.trusted_at), "until": iso(item.ends_at)}
            for item in trusted_browsers.by_account(context, account)
        ],
        "applications": [
            {"client_id": item.client_id, "name": _name(context, item.client_id), "scopes": list(item.scopes), "since": iso(item.since)}
            for item in authorized_applications.of_account(context, uid)
        ],
        "tokens": [
            {"client_id": item.client_id, "scope": item.scope, "issued_at": iso(item.issued_at), "expires_at": iso(item.expires_at)}
            for item in tokens.by_account(context, uid)
        ],
        "privacy_policy": privacy_policy.history_of(account),
        "consents": consent_forms.history(context, account),
        "role_contexts": [_role_context(row) for row in tenant_role_store.contexts_of(context.work, uid)],
        "custom_objects": [_record(row._asdict()) for row in custom_object_store.all_of_account(context, uid)],
        "events": [_event(item) for item in events[:MAX_EVENTS]],
        "has_older_events": len(events) > MAX_EVENTS,
    }  # fmt: skip


def _picture(image: ConvertedImage | None) -> dict[str, str] | None:
    """Return the uploaded picture, its content in base64."""
    return {"type": image.media_type, "content": b64encode(image.content).decode()} if image is not None else None


def _address(item: EmailAddress) -> dict[str, Any]:
    is_confirmed = item.is_verified and not item.is_pending
    return {"type": item.type, "value": item.value, "is_confirmed": is_confirmed, "is_asked_for": item.is_pending}


def _question(context: Context, question: str) -> dict[str, Any]:
    return {"id": question, "question": context.tenant.settings.security_questions.get(question)}


def _factor(item: Credential) -> dict[str, Any]:
    """Return a factor with its number or name, without seeds, keys, answers and codes."""
    document_entry: dict[str, Any] = {"kind": item.kind, "is_set_up": item.is_enrolled, "since": iso(item.created_at)}
    if item.used_at is not None and item.kind != FactorKind.BACKUP_CODE:
        document_entry["last_used_at"] = iso(item.used_at)
    return document_entry | {
        name: item.facts[name] for name in ("phone", "name") if isinstance(item.facts.get(name), str)
    }


def _name(context: Context, client_id: str) -> str | None:
    client = context.application(client_id=client_id)
    return client.display_name if client is not None else None


def _role_context(row: Row[Any]) -> dict[str, Any]:
    return {
        "context": row.context,
        "roles": row.roles,
        "additional_permissions": row.additional_permissions,
        "expires_at": iso(row.ends_at),
    }


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "object": row["object_name"],
        "id": row["record_id"],
        "content": row["content"],
        "created_at": iso(row["created_at"]),
        "modified_at": iso(row["modified_at"]),
    }


def _event(item: audit.AuditEntry) -> dict[str, Any]:
    document_entry = {name: value for name, value in item.facts.items() if name in _READABLE_FACTS}
    return {
        "at": iso(item.at),
        "event": item.event,
        "client_id": item.client_id,
        "address": item.address,
        **document_entry,
    }
