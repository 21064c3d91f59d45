"""The development inbox: every mail and SMS of the outbox. Served on loopback addresses only."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from flask import Flask, Response, abort, jsonify, render_template

from app.demo import gallery
from app.identity.platform.encryption import DecryptionError, Encryption
from app.identity.platform.outbox import claims
from app.identity.platform.outbox.queue import decrypt_payload
from app.identity.platform.store.database import Database
from app.kit.clock import iso

_LINK = re.compile(r"https?://[^\s<>\"']+")
_CODE = re.compile(r"(?<![\w#])[0-9]{6}(?![\w])")
_POLICY = "default-src 'none'; style-src 'self'; img-src data:; frame-src 'self'; base-uri 'none'; frame-ancestors {ancestors}"
_STYLE = """\
:root { color-scheme: light dark; --line: light-dark(#dcdfe6, #363b47); --muted: light-dark(#5b6270, #a4abb8) }
* { box-sizing: border-box }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; background: light-dark(#fff, #171920); color: light-dark(#15171c, #eceef2) }
main, header { max-inline-size: 760px; margin-inline: auto; padding: 16px 20px }
h1 { font-size: 1.5rem; margin: 16px 0 }
h2 { font-size: 1.05rem; margin: 0; overflow-wrap: anywhere }
article { border: 1px solid var(--line); border-radius: 10px; padding: 16px 20px; margin-block-end: 16px }
p { color: var(--muted); font-size: .9rem; margin: 4px 0 12px }
pre { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 }
a { color: light-dark(#2f3db8, #a9b2ff) }
iframe { inline-size: 100%; block-size: 640px; border: 1px solid var(--line); border-radius: 6px }
details { margin-block: 0 12px }
main.wide { max-inline-size: 1240px }
.pair { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 20px }
.bubble { max-inline-size: 340px; padding: 12px 16px; border-radius: 16px; background: light-dark(#eef0f4, #2b303b) }
[aria-current] { font-weight: 700; color: inherit; text-decoration: none }
@media (max-width: 800px) { .pair { grid-template-columns: minmax(0, 1fr) } }
.code { font: 700 1.6rem/1.4 ui-monospace, monospace; letter-spacing: .15em; color: inherit }
"""


def create_inbox(database: Database, encryption: Encryption) -> Flask:
    """Return the inbox."""
    app = Flask("gatehouse.inbox", root_path=str(Path(__file__).parent), static_folder=None)

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
    app.get("/inbox.css")(stylesheet)
    app.after_request(protect)
    return app


def stylesheet() -> Response:
    """Return the style sheet of the demo's own pages."""
    return Response(_STYLE, mimetype="text/css")


def protect(response: Response) -> Response:
    """Add security headers to a response of the demo's own pages."""
    response.headers.setdefault("Content-Security-Policy", _POLICY.format(ancestors="'none'"))
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


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
