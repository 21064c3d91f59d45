"""Copies of the logos of applications that registered themselves, for the pages (decision 0223)."""

from __future__ import annotations

from base64 import b64encode

from app.contract.applications import application_logo_pages
from app.contract.images.image_pages import MAX_LISTED, FileNames
from app.contract.oauth.oauth_errors import UnknownApplication
from app.contract.page_models import NoParameters
from app.identity.directory.tenants import registered_applications
from app.identity.pages_api.images import listed
from app.identity.platform.context import Context


@application_logo_pages.read.implements
def read_logo(context: Context, req: application_logo_pages.LogoUrl) -> application_logo_pages.LogoView:
    logo = registered_applications.logo(context.work, req.digest)
    if logo is None:
        raise UnknownApplication
    return application_logo_pages.LogoView(media_type=logo.media_type, content=b64encode(logo.content).decode())


@application_logo_pages.list_logos.implements
def list_logos(context: Context, req: NoParameters) -> FileNames:
    return listed(registered_applications.logo_digests(context.work, MAX_LISTED + 1))
