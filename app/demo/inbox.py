"""The development inbox: every mail and SMS of the outbox. Served on loopback addresses only."""

from __future__ import annotations

import re
from typing import Any

from flask import Flask, Response, abort, jsonify, render_template

from app.demo import gallery, look
from app.identity.platform.encryption import DecryptionError, Encryption
from app.identity.platform.outbox import claims
from app.identity.platform.outbox.queue import decrypt_payload
from app.identity.platform.store.database import Database
from app.kit.clock import iso

_LINK = re.compile(r"https?://[^\s<>\"']+")
_CODE = re.compile(r"(?<![\w#])[0-9]{6}(?![\w])")


def create_inbox(database: Database, encryption: Encryption) -> Flask:
    """Return the inbox."""
    app = Flask("gatehouse.inbox", root_path=look.FOLDER, static_folder=None)

    @app.get("/")
    def messages() -> str:
        return render_template(
            "inbox.html", messages=[_as_dict(encryption, row) for row in claims.list_mails_and_sms(database)]
        )

    @app.get("/messages.json")
    def as_json() -> Response:
        return jsonify([_as_dict(encryption, row) for row in claims.list_mails_and_sms(database)])

    @app.get("/messages/<message_id>.html")
    def html(message_id: str) -> Response:
        found = next((row for row in claims.list_mails_and_sms(database) if row.message_id == message_id), None)
        content = _content(encryption, found) if found is not None else {}
        if not content.get("html"):
            abort(404)
        response = Response(content["html"], mimetype="text/html")
        response.headers["Content-Security-Policy"] = (
            "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-popups; frame-ancestors 'self'"
        )
        return response

    gallery.install(app, database)
    look.install(app)
    return app


def _content(encryption: Encryption, row: Any) -> dict[str, Any]:
    """Return the content of a message; empty if its secret is gone."""
    try:
        return decrypt_payload(encryption, row)
    except DecryptionError:
        return {}


def _as_dict(encryption: Encryption, row: Any) -> dict[str, Any]:
    payload = _content(encryption, row)
    text = str(payload.get("text") or "")
    details = {key: payload.get(key) for key in ("to", "subject", "sender_name", "html", "spoken")}
    return {
        "id": row.message_id,
        "kind": row.kind,
        "state": row.state,
        "at": iso(row.created_at),
        "text": text,
        "links": _LINK.findall(text),
        "codes": _CODE.findall(_LINK.sub(" ", text)),
        "problem": row.last_problem,
        **details,
    }
