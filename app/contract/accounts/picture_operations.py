"""The picture of the signed-in account."""

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, WRITE
from app.contract.catalogue import operation
from app.contract.images.errors import IMAGE_ERRORS
from app.contract.images.uploads import CONVERTS_IMAGE, MAX_IMAGE_BODY_BYTES, OWN_PICTURE, ImageContent
from app.contract.shared_parameters import AccessTokenQuery, WebhookSuppression
from app.contract.shared_responses import Deleted
from app.kit.operations.operation import Accept
from app.kit.operations.wire import Wire


class OwnPicture(AccessTokenQuery, WebhookSuppression):
    picture: ImageContent


class RemovePicture(AccessTokenQuery, WebhookSuppression):
    pass


class PictureSet(Wire):
    """The picture after the change."""

    is_posted: bool = True
    image_url: str


_CHANGE_ERRORS = (errors.PrivacyPolicyOutdated, errors.FieldsRefused)

set_picture = operation(
    "self_service.set_picture", f"PUT {OWN_PICTURE}", OwnPicture, PictureSet, auth=API_KEY & ACCESS_TOKEN,
    access=WRITE, accepts=Accept.JSON, max_body_bytes=MAX_IMAGE_BODY_BYTES, heavy_work=CONVERTS_IMAGE, visits=True,
    errors=(*_CHANGE_ERRORS, *IMAGE_ERRORS.values(), errors.TooManyRequests),
    summary="Set the profile picture",
    description="Replaces the picture of the signed-in account. Send a PNG, JPEG or WebP file of up to 2 MB and 20 million pixels in "
    "base64. It’s cropped to a square, and everything but its pixels is removed. `ImageUrl` of the profile and the claim `picture` become "
    "its new address.",
)  # fmt: skip
remove_picture = operation(
    "self_service.remove_picture", f"DELETE {OWN_PICTURE}", RemovePicture, Deleted, auth=API_KEY & ACCESS_TOKEN,
    access=WRITE, visits=True, errors=_CHANGE_ERRORS,
    summary="Remove the profile picture",
    description="Removes the picture of the signed-in account, and deletes it if it was uploaded.",
)  # fmt: skip
