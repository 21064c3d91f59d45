"""The development inbox: every mail and SMS of the outbox. Served to this machine alone, never through a proxy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from babel.dates import format_datetime
from flask import Flask, Response, abort, jsonify, redirect, render_template, request, send_from_directory  # noqa: TID251 - an application without visits
from werkzeug.wrappers import Response as BaseResponse

from app.demo import gallery, page_style
from app.demo.hosts import Hosts, Links
from app.identity.platform.encryption import DecryptionError, Encryption
from app.identity.platform.outbox import claims
from app.identity.platform.outbox.outbox import decrypt_payload
from app.identity.platform.store.database import Database
from app.kit.clock import SystemClock, iso
from app.settings import Settings

_TEMPLATES: Final = Path(page_style.FOLDER) / "templates"
_LINK = re.compile(r"https?://[^\s<>\"']+")
_OF_PROXIES: Final = ("HTTP_FORWARDED", "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_HOST", "HTTP_X_REAL_IP", "HTTP_VIA")
SANDBOX: Final = "allow-popups allow-popups-to-escape-sandbox"
"""The frame of a mail: no scripts and no forms, but links open a tab like any other."""
_OF_MAILS: Final = (
    f"default-src 'none'; style-src 'unsafe-inline'; {page_style.PICTURES_OF_MAILS}; sandbox {SANDBOX}; "
    "frame-ancestors 'self'"
)
_HEAD: Final = re.compile(r"<head(\s[^>]*)?>", re.IGNORECASE)
_CODE = re.compile(r"(?<![\w#])[0-9]{6}(?![\w])")
_SENTENCE = re.compile(r"[.!?؟。]$")


def is_of_this_machine(environ: WSGIEnvironment) -> bool:
    """Return whether the request comes from this machine, and through no proxy."""
    try:
        is_here = ip_address(environ.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        is_here = False
    return is_here and not any(name in environ for name in _OF_PROXIES)


class OnThisMachine:
    """Refuses requests of other machines, and those that came through a proxy: the inbox shows links that sign in."""

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if is_of_this_machine(environ):
            return self._app(environ, start_response)
        start_response("403 Forbidden", [("Content-Type", "text/plain; charset=utf-8")])
        return [b"The development inbox is only for this machine. Open it in a browser here, without a proxy."]


def inbox_of(settings: Settings, place: str, around: Links, acts: Links = ()) -> WSGIApplication:
    """Return the inbox of an installation; `place` is the tag beside the mark."""
    database, encryption = Database(settings.database, pool_size=2), Encryption(settings.secrets)
    return OnThisMachine(create_inbox(database, encryption, place, around, acts))


def with_inbox(app: WSGIApplication, settings: Settings) -> Hosts:
    """Return the application with the inbox at its host, `inbox.<hub domain>`."""
    inbox = inbox_of(settings, "Development", around_development(settings))
    return Hosts(app, {urlsplit(settings.hub_url("inbox")).netloc: inbox})


def around_development(settings: Settings) -> Links:
    """Return the navigation of the pages that `gatehouse serve` has on a developer's machine."""
    inbox = settings.hub_url("inbox")
    return (
        ("Start", f"{settings.public_scheme}://{settings.hub_domain}"),
        ("Inbox", inbox),
        ("All messages", f"{inbox}/gallery"),
        ("API", f"{settings.base_url}/docs"),
    )


def create_inbox(
    database: Database, encryption: Encryption, place: str = "Demo", around: Links = (), acts: Links = ()
) -> Flask:
    """Return the inbox. `around`: its navigation. `acts`: what sends a message, offered while there is none."""
    app = Flask("gatehouse.inbox", root_path=page_style.FOLDER, static_folder=None)

    def everything() -> list[dict[str, Any]]:
        return [_as_dict(encryption, row) for row in claims.list_mails_and_sms(database)]

    @app.get("/")
    def messages() -> str:
        found = _found(everything())
        return _page(found, found[0] if found else None, is_chosen=False)

    @app.get("/messages/<message_id>")
    def message(message_id: str) -> str:
        listed = everything()
        chosen = _with_id(listed, message_id) or abort(404)
        return _page(_found(listed), chosen, is_chosen=True)

    @app.get("/messages.json")
    def as_json() -> Response:
        return jsonify(everything())

    @app.get("/messages/<message_id>.html")
    def html(message_id: str) -> Response:
        found = _with_id(everything(), message_id)
        if found is None or not found["html"]:
            abort(404)
        return Response(_in_new_tabs(found["html"]), headers={"Content-Security-Policy": _OF_MAILS})

    @app.get("/inbox.js")
    def refreshing() -> Response:
        return send_from_directory(_TEMPLATES, "inbox.js", mimetype="text/javascript")

    _install_deletion(app, database)
    gallery.install(app, database)
    app.jinja_env.globals.update(place=place, around=around, acts=acts, sandbox=SANDBOX)
    app.jinja_env.filters.update(preview=_preview, short_time=_short_time, long_time=_long_time)
    page_style.install(app)
    return app


def _install_deletion(app: Flask, database: Database) -> None:
    """Add what clears the list, for the inbox's own page alone."""

    @app.post("/delete")
    def delete() -> BaseResponse:
        if request.headers.get("Sec-Fetch-Site") != "same-origin":  # other sites, and browsers too old to tell
            abort(403)
        claims.delete_mails_and_sms(database)
        return redirect("/", 303)


def _page(listed: list[dict[str, Any]], message: dict[str, Any] | None, *, is_chosen: bool) -> str:
    """Return the page with one message open. On phones it shows the list, or the message that was chosen."""
    return render_template(
        "inbox.html",
        messages=listed,
        message=message,
        is_chosen=is_chosen,
        searched=request.args.get("q", ""),
        format=request.args.get("format", "message" if message and message["html"] else "text"),
    )


def _found(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages that contain the words of the request's search."""
    words = request.args.get("q", "").casefold().split()
    return [message for message in messages if all(word in _searched(message) for word in words)]


def _searched(message: Mapping[str, Any]) -> str:
    return " ".join(str(message[name] or "") for name in ("to", "subject", "text", "spoken")).casefold()


def _with_id(messages: list[dict[str, Any]], message_id: str) -> dict[str, Any] | None:
    return next((message for message in messages if message["id"] == message_id), None)


def _preview(message: Mapping[str, Any]) -> str:
    """Return the first sentence below the title of a mail, without its code; empty if it has none, and for text messages."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in message["text"].split("\n\n"))
    sentences = (text for text in paragraphs if _SENTENCE.search(text) and not _CODE.search(text))
    return next(sentences, "") if message["subject"] else ""


def _short_time(instant: str) -> str:
    """Return an instant as the list shows it: 13:30; Yesterday 13:30; Nov 26, 13:30. The zone is this machine's, as the reader's."""
    at, day = _local(instant)
    form = {"": "HH:mm", "Yesterday": "'Yesterday' HH:mm"}.get(day, "MMM d, HH:mm")
    return format_datetime(at, form, locale="en")


def _long_time(instant: str) -> str:
    """Return an instant as the head of a message shows it, in the form of the mails' own times: Today at 13:30 CET."""
    at, day = _local(instant)
    return f"{day or 'Today'} at {at:%H:%M %Z}"


def _local(instant: str) -> tuple[datetime, str]:
    """Return an instant in this machine's time zone with its day, which is empty for today."""
    at = datetime.fromisoformat(instant).astimezone()
    today = SystemClock().now().astimezone().date()
    day = "Yesterday" if at.date() == today - timedelta(days=1) else format_datetime(at, "MMMM d", locale="en")
    return at, "" if at.date() == today else day


def _in_new_tabs(html: str) -> str:
    """Let the links of a mail open new tabs, as in mail programs: our pages can't be shown in the mail's frame."""
    head = _HEAD.search(html)
    at = head.end() if head else 0
    return f'{html[:at]}<base target="_blank">{html[at:]}'


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
