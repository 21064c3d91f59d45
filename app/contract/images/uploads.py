"""Bounds of requests that upload an image, and the class of their work."""

from typing import Annotated, Final

from pydantic import Field

from app.kit.images.image_format import MAX_UPLOAD_BYTES
from app.kit.operations.operation import HeavyWork

CONVERTS_IMAGE: Final = HeavyWork("image")
"""An operation that decodes an uploaded image declares it as `heavy_work=`."""
MAX_IMAGE_LENGTH: Final = 4 * -(-MAX_UPLOAD_BYTES // 3)
"""Of the largest image in base64."""
MAX_IMAGE_BODY_BYTES: Final = MAX_IMAGE_LENGTH + 20_000
"""Of the body of an operation that takes an image."""
MAX_IMAGE_FORM_BYTES: Final = MAX_UPLOAD_BYTES + 64_000
"""Of a page's form with an image."""
ImageContent = Annotated[str, Field(max_length=MAX_IMAGE_BODY_BYTES)]
"""A file in base64 (RFC 4648 section 4)."""

OWN_PICTURE: Final = "/identity/v2/auth/account/picture"
ORGANIZATION_LOGO: Final = "/hub/own/organizations/logo"
PICTURE_PAGE: Final = "/profile/picture"
LOGO_PAGE: Final = "/organizations/logo"
FORM_ADDRESSES: Final = frozenset({PICTURE_PAGE, LOGO_PAGE})
"""The pages whose forms upload an image."""
BODY_BYTES: Final = {
    OWN_PICTURE: MAX_IMAGE_BODY_BYTES,
    f"/hub{OWN_PICTURE}": MAX_IMAGE_BODY_BYTES,
    ORGANIZATION_LOGO: MAX_IMAGE_BODY_BYTES,
    **dict.fromkeys(FORM_ADDRESSES, MAX_IMAGE_FORM_BYTES),
}
"""The largest bodies that the server reads, by the beginning of the path; all others have the server's own bound."""
