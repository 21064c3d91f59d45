"""The gallery of messages: every mail and text message, HTML and text side by side, in a tenant's branding and templates."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, Flask, Response, abort, render_template, request  # noqa: TID251 - an application without visits

from app.contract.messages.models import MailTemplate, TextMessageTemplate
from app.contract.tenants.branding import stored_brand
from app.contract.tenants.settings import TenantSettings
from app.demo.page_style import PICTURES_OF_MAILS
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.messaging import gallery
from app.identity.messaging.message import Branding
from app.identity.messaging.tenant_templates import template_store
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.text.languages import LANGUAGES, Language

POLICY = f"default-src 'none'; style-src 'unsafe-inline'; {PICTURES_OF_MAILS}; sandbox; frame-ancestors 'self'"


@dataclass(frozen=True)
class _TenantMessages:
    """Branding and templates of one tenant."""

    tenants: list[str]
    tenant: str
    branding: Branding
    mails: list[MailTemplate]
    messages: list[TextMessageTemplate]
    default_language: str


def install(app: Flask, database: Database) -> None:
    """Add the gallery to the inbox's application."""
    views = Blueprint("gallery", __name__, url_prefix="/gallery")

    @views.get("")
    def index() -> str:
        view, language = _tenant_messages(database), _language()
        mails = [*gallery.emails(view.branding, language, view.mails, view.default_language)]
        texts = [*gallery.text_messages(view.branding, language, view.messages, view.default_language)]
        return render_template(
            "gallery.html", view=view, language=language, languages=LANGUAGES, mails=mails, messages=texts
        )

    @views.get("/mail.html")
    def mail() -> Response:
        view, requested = _tenant_messages(database), (request.args.get("name"), request.args.get("state"))
        samples = gallery.emails(view.branding, _language(), view.mails, view.default_language)
        message = next((sample.message for sample in samples if (sample.name, sample.state) == requested), None)
        if message is None:
            abort(404)
        return Response(message.html, mimetype="text/html", headers={"Content-Security-Policy": POLICY})

    app.register_blueprint(views)


def _language() -> Language:
    return LANGUAGES.get(request.args.get("language", "en")) or abort(404)


def _tenant_messages(database: Database) -> _TenantMessages:
    work = UnitOfWork(database, LOOKUP_TENANT)
    try:
        tenants = {record.name: record for record in tenant_writes.all_tenants(work)}
        name = request.args.get("tenant") or next(iter(tenants), "")
        if name not in tenants:
            abort(404)
        record = tenants[name]
        work.switch_tenant(record.tenant_id)
        templates = [
            template_store.template_of(channel, *content)
            for channel in (template_store.MAIL, template_store.SMS)
            for content in template_store.contents(work, channel)
        ]
    finally:
        work.rollback()
    brand = stored_brand(record.brand)
    mails = [template for template in templates if isinstance(template, MailTemplate)]
    messages = [template for template in templates if isinstance(template, TextMessageTemplate)]
    origin = f"{request.scheme}://{name}{request.host.removeprefix('inbox')}"  # beside the inbox
    default_language = TenantSettings.model_validate(record.settings).default_locale
    branding = Branding(brand.display_name or name.title(), brand, origin, default_language)
    return _TenantMessages(sorted(tenants), name, branding, mails, messages, default_language)
