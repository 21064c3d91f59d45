"""Copies of the logos of applications that registered themselves, for the pages (decision 0223)."""

from __future__ import annotations

from base64 import b64encode

from app.contract.applications import pages as contract
from app.contract.oauth.errors import UnknownApplication
from app.identity.directory.tenants import registered_applications
from app.identity.platform.context import Context


@contract.read.implements
def read_logo(context: Context, req: contract.LogoAddress) -> contract.LogoView:
    logo = registered_applications.logo(context.work, req.digest)
    if logo is None:
        raise UnknownApplication
    return contract.LogoView(media_type=logo.media_type, content=b64encode(logo.content).decode())
