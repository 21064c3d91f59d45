"""Copies of the logos of applications that registered themselves (decisions/0223)."""

from typing import Annotated

from pydantic import Field

from app.contract.errors_oauth import UnknownApplication
from app.contract.operations import hub_operation
from app.kit.wire import From, Wire


class LogoAddress(Wire):
    digest: Annotated[str, From.PATH, Field(pattern=r"^[0-9a-f]{64}$")]


class LogoView(Wire):
    """A picture; `content` is base64."""

    media_type: str
    content: str


read = hub_operation(
    "hub.application_logo", "GET /hub/application-logos/{digest}", LogoAddress, LogoView, errors=(UnknownApplication,),
    summary="Read the copy of an application's logo.",
)  # fmt: skip
