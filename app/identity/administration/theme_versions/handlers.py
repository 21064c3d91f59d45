"""The operations on versions of themes."""

from __future__ import annotations

from typing import Any

from app.contract.configuration_model import instant
from app.contract.tenants import tenant_pages
from app.contract.themes import theme_version_operations
from app.contract.themes.theme_operations import ThemeBrand
from app.contract.themes.theme_version_operations import (
    ThemeDraft,
    ThemeEditorAddress,
    ThemeOf,
    ThemePreview,
    ThemePublication,
    ThemeRollBack,
    ThemeVersion,
    ThemeVersionEntry,
    ThemeVersionOf,
    ThemeVersions,
)
from app.identity.administration.theme_versions import editor, history, preview, publication
from app.identity.administration.theme_versions.version_store import StoredThemeVersion
from app.identity.platform.context import Context
from app.kit.clock import iso


@theme_version_operations.list_versions.implements
def list_versions(context: Context, req: ThemeOf) -> ThemeVersions:
    look = publication.look_of(context, req.theme_id)
    listed, problem = publication.list_versions(context, look), publication.problem(context, look.values) or None
    return ThemeVersions(data=[_entry(item, problem if item.is_published else None) for item in listed])


@theme_version_operations.read_version.implements
def read_version(context: Context, req: ThemeVersionOf) -> ThemeVersion:
    found = publication.version(context, publication.look_of(context, req.theme_id), req.version)
    problem = publication.problem(context, found.brand) or None
    return ThemeVersion(**_values(found), problem=problem, brand=ThemeBrand.model_validate(history.usable(found.brand)))


@theme_version_operations.save_draft.implements
def save_draft(context: Context, req: ThemeDraft) -> ThemeVersionEntry:
    brand = req.brand.model_dump(mode="json", by_alias=False)
    return _entry(publication.save_draft(context, req.theme_id, brand, req.note, req.base_version))


@theme_version_operations.publish_version.implements
def publish_version(context: Context, req: ThemePublication) -> ThemeVersionEntry:
    if req.publish_at is None:
        return _entry(publication.publish(context, req.theme_id, req.version, req.base_version))
    at = instant(req.publish_at)
    return _entry(publication.schedule(context, req.theme_id, req.version, at, req.base_version))


@theme_version_operations.cancel_publication.implements
def cancel_publication(context: Context, req: ThemeVersionOf) -> ThemeVersionEntry:
    return _entry(publication.cancel(context, req.theme_id, req.version))


@theme_version_operations.roll_back.implements
def roll_back(context: Context, req: ThemeRollBack) -> ThemeVersionEntry:
    return _entry(publication.roll_back(context, req.theme_id, req.base_version))


@theme_version_operations.preview_version.implements
def preview_version(context: Context, req: ThemeVersionOf) -> ThemePreview:
    address, expires_at = preview.create_address(context, req.theme_id, req.version)
    return ThemePreview(url=address, expires_date=iso(expires_at) or "")


@tenant_pages.theme_preview.implements
def theme_preview(context: Context, req: tenant_pages.ThemePreviewRequest) -> tenant_pages.ThemePreviewView:
    return preview.read(context, req.token)


@tenant_pages.theme_message_previews.implements
def theme_message_previews(context: Context, req: tenant_pages.MessagePreviewsRequest) -> tenant_pages.MessagePreviews:
    return preview.messages(context, req.token, req.language)


@tenant_pages.theme_mail_preview.implements
def theme_mail_preview(context: Context, req: tenant_pages.MailPreviewRequest) -> tenant_pages.MailDocument:
    return preview.mail(context, req)


@theme_version_operations.open_editor.implements
def open_editor(context: Context, req: ThemeOf) -> ThemeEditorAddress:
    address, expires_at = editor.create_address(context, req.theme_id)
    return ThemeEditorAddress(url=address, expires_date=iso(expires_at) or "")


@tenant_pages.theme_editor.implements
def theme_editor(context: Context, req: tenant_pages.ThemePreviewRequest) -> tenant_pages.ThemeEditorView:
    return editor.read(context, req.token)


@tenant_pages.edit_theme.implements
def edit_theme(context: Context, req: tenant_pages.ThemeEdit) -> tenant_pages.ThemeEdited:
    return tenant_pages.ThemeEdited(version=editor.save(context, req).version)


def _entry(found: StoredThemeVersion, problem: str | None = None) -> ThemeVersionEntry:
    return ThemeVersionEntry(**_values(found), problem=problem)


def _values(found: StoredThemeVersion) -> dict[str, Any]:
    return {
        "version": found.version,
        "created_date": iso(found.created_at) or "",
        "created_by": found.created_by,
        "note": found.note,
        "is_published": found.is_published,
        "published_date": iso(found.published_at),
        "publish_at": iso(found.publish_at),
    }
