"""The gallery of messages: every mail and text message, HTML and text side by side, in a tenant's branding and templates."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, Flask, Response, abort, render_template, request

from app.contract.configuration import Brand, TenantSettings
from app.contract.messages import MailTemplate, SmsTemplate
from app.identity.directory.tenants import changes
from app.identity.directory.tenants.store import LOOKUP_TENANT
from app.identity.messaging import gallery, store
from app.identity.messaging.message import Branding
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit import UnitOfWork
from app.kit.languages import LANGUAGES, Language

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src https: data:; sandbox; frame-ancestors 'self'"


@dataclass(frozen=True)
class _TenantMessages:
    """Branding and templates of one tenant."""

    tenants: list[str]
    tenant: str
    look: Branding
    mails: list[MailTemplate]
    messages: list[SmsTemplate]
    default: str  # the tenant's language


def install(app: Flask, database: Database) -> None:
    """Add the gallery to the inbox's application."""
    views = Blueprint("letters", __name__, url_prefix="/gallery")

    @views.get("")
    def index() -> str:
        dress, language = _tenant_messages(database), _language()
        shown = [*gallery.emails(dress.look, language, dress.mails, dress.default)]
        texts = [*gallery.text_messages(dress.look, language, dress.messages, dress.default)]
        return render_template(
            "gallery.html", dress=dress, language=language, languages=LANGUAGES, mails=shown, messages=texts
        )

    @views.get("/mail.html")
    def mail() -> Response:
        dress, asked = _tenant_messages(database), (request.args.get("name"), request.args.get("state"))
        shown = gallery.emails(dress.look, _language(), dress.mails, dress.default)
        letter = next((one.message for one in shown if (one.name, one.state) == asked), None)
        if letter is None:
            abort(404)
        return Response(letter.html, mimetype="text/html", headers={"Content-Security-Policy": POLICY})

    app.register_blueprint(views)


def _language() -> Language:
    return LANGUAGES.get(request.args.get("language", "en")) or abort(404)


def _tenant_messages(database: Database) -> _TenantMessages:
    work = UnitOfWork(database, LOOKUP_TENANT)
    try:
        tenants = {held.name: held for held in changes.all_tenants(work)}
        name = request.args.get("tenant") or next(iter(tenants), "")
        if name not in tenants:
            abort(404)
        held = tenants[name]
        work.switch_tenant(held.tenant_id)
        own = [
            store.template_of(channel, *row)
            for channel in (store.MAIL, store.SMS)
            for row in store.contents(work, channel)
        ]
    finally:
        work.rollback()
    brand = Brand.model_validate(held.brand)
    mails = [one for one in own if isinstance(one, MailTemplate)]
    messages = [one for one in own if isinstance(one, SmsTemplate)]
    look = Branding(brand.display_name or name.title(), brand)
    default = TenantSettings.model_validate(held.settings).default_locale
    return _TenantMessages(sorted(tenants), name, look, mails, messages, default)
