"""Mails and text messages in the outbox of a tenant."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import select

from app.contract.messages.short_link_paths import SHORT_PATHS
from app.identity.platform.outbox.outbox import decrypt_payload, outbox
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork

_ADDRESS = re.compile(r"https?://[^\s\"'<>\\]+")
_TOKEN = re.compile(r"(?://[^/]+/[a-z]/([\w-]{20,})|[?&]vtoken=([\w.-]+))")
_CODE = re.compile(r"(?<![0-9A-Za-z])[0-9]{6}(?![0-9A-Za-z])")


def sent_messages(services: IdentityServices, tenant_id: str, kind: str = "mail") -> list[dict[str, Any]]:
    """Return the payloads, oldest first."""
    work = UnitOfWork(services.database, tenant_id)
    try:
        o = outbox.c
        requested = select(outbox).where(o.tenant_id == tenant_id, o.kind == kind).order_by(o.created_at)
        return [decrypt_payload(services.encryption, row) for row in work.all(requested)]
    finally:
        work.rollback()


def mails_to(services: IdentityServices, tenant_id: str, address: str) -> list[dict[str, Any]]:
    """Return the mails to one address, oldest first."""
    return [
        message
        for message in sent_messages(services, tenant_id)
        if address in json.dumps(message["to"], ensure_ascii=False)
    ]


def links_in(message: Any) -> list[str]:
    """Return the links with a token in a mail or text: short links to our pages, and those to an application's own page."""
    text = json.dumps(message, ensure_ascii=False).replace("&amp;", "&")
    return [found for found in map(str, _ADDRESS.findall(text)) if _TOKEN.search(found)]


def link_in(message: Any) -> str:
    """Return the first link with a token in a mail or text."""
    return links_in(message)[0]


def links_to(message: Any, page: str) -> list[str]:
    """Return the short links to a page of ours in a mail or text."""
    return [link for link in links_in(message) if urlsplit(link).path.startswith(f"{SHORT_PATHS[page]}/")]


def path_of(link: str) -> str:
    """Return path and query of a link."""
    parts = urlsplit(link)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def token_of(link: str) -> str:
    """Return the token of a link."""
    found = _TOKEN.search(link)
    assert found, link
    return str(found[1] or found[2])


def token_in(message: Any) -> str:
    """Return the token of the link in a mail or text."""
    return token_of(link_in(message))


def older_form(link: str) -> str:
    """Return a short link as mails of earlier versions have it: the page's path, the token in `vtoken`."""
    parts = urlsplit(link)
    page = next(page for page, short in SHORT_PATHS.items() if parts.path.startswith(f"{short}/"))
    return f"{page}?vtoken={token_of(link)}" + (f"&{parts.query}" if parts.query else "")


def code_in(payload: dict[str, Any]) -> str:
    """Return the six digits in a mail or a message."""
    said = " ".join(str(payload.get(name, "")) for name in ("text", "body", "Body"))
    return str(_CODE.findall(re.sub(_ADDRESS, "", said))[0])


def other_code(code: str) -> str:
    """Return a different code."""
    return f"{(int(code) + 1) % 1_000_000:06}"
