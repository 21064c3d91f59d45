"""Copies of the logos of applications that registered themselves (decision 0223)."""

import re
from typing import Annotated, Final

from pydantic import Field

from app.contract.catalogue import hub_operation
from app.contract.images.image_pages import FileNames
from app.contract.oauth.oauth_errors import UnknownApplication
from app.contract.page_models import NoParameters
from app.kit.operations.wire import From, Wire

LOGO_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class LogoUrl(Wire):
    digest: Annotated[str, From.PATH, Field(pattern=f"^{LOGO_DIGEST.pattern}$")]


class LogoView(Wire):
    """A picture; `content` is base64."""

    media_type: str
    content: str


read = hub_operation(
    "hub.read_application_logo", "GET /hub/application-logos/{digest}", LogoUrl, LogoView, errors=(UnknownApplication,),
    summary="Read the copy of an application's logo.",
)  # fmt: skip
list_logos = hub_operation(
    "hub.application_logos", "GET /hub/application-logos", NoParameters, FileNames,
    summary="List the copies of applications' logos, by the digests of their digests.",
)  # fmt: skip


COPIED_LOGOS: Final = "/application-logo/"
"""Where the hub serves copies of applications' logos, by their digests."""
