"""Mails and text messages in the outbox of a tenant."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sqlalchemy import select

from app.identity.platform.outbox.queue import decrypt_payload, outbox
from app.identity.platform.services import Services
from app.identity.platform.store.unit import UnitOfWork

_ADDRESS = re.compile(r"https?://[^\s\"'<>\\]+")
_CODE = re.compile(r"(?<![0-9A-Za-z])[0-9]{6}(?![0-9A-Za-z])")


def sent_messages(services: Services, tenant_id: str, kind: str = "mail") -> list[dict[str, Any]]:
    """Return the payloads, oldest first."""
    work = UnitOfWork(services.database, tenant_id)
    try:
        o = outbox.c
        asked = select(outbox).where(o.tenant_id == tenant_id, o.kind == kind).order_by(o.created_at)
        return [decrypt_payload(services.encryption, row) for row in work.all(asked)]
    finally:
        work.rollback()


def mails_to(services: Services, tenant_id: str, address: str) -> list[dict[str, Any]]:
    """Return the mails to one address, oldest first."""
    return [one for one in sent_messages(services, tenant_id) if address in json.dumps(one["to"], ensure_ascii=False)]


def link_in(payload: dict[str, Any], part: str = "vtoken=") -> str:
    """Return the link in a mail."""
    text = json.dumps(payload, ensure_ascii=False).replace("&amp;", "&")
    return next(str(found) for found in _ADDRESS.findall(text) if part in found)


def token_in(payload: dict[str, Any]) -> str:
    """Return the token of the link in a mail."""
    return parse_qs(urlsplit(link_in(payload)).query)["vtoken"][0]


def code_in(payload: dict[str, Any]) -> str:
    """Return the six digits in a mail or a message."""
    said = " ".join(str(payload.get(name, "")) for name in ("text", "body", "Body"))
    return str(_CODE.findall(re.sub(_ADDRESS, "", said))[0])


def other_code(code: str) -> str:
    """Return a different code."""
    return f"{(int(code) + 1) % 1_000_000:06}"
