"""Why an uploaded image is refused."""

from collections.abc import Mapping
from typing import Final

from app.kit.images.image_format import Unusable
from app.kit.operations.errors import ApiError


class ImageTooLarge(ApiError):
    code, status, message = 8220, 400, "The image is too large"
    description = "The image has more than 2 MB. Send a smaller one."


class ImageTypeRefused(ApiError):
    code, status, message = 8221, 400, "The image is of another type"
    description = "The file is neither PNG nor JPEG nor WebP."


class TooManyPixels(ApiError):
    code, status, message = 8222, 400, "The image has too many pixels"
    description = "The image has more than 20 million pixels. Scale it down."


class ImageAnimated(ApiError):
    code, status, message = 8223, 400, "The image is animated"
    description = "The image has more than one frame. Send a still one."


class ImageMixed(ApiError):
    code, status, message = 8224, 400, "The image contains another file"
    description = "The file is also an archive, a web page or a document. Export the image again, and send that."


class ImageDamaged(ApiError):
    code, status, message = 8225, 400, "The image is damaged"
    description = "The image is incomplete or malformed. Export it again, and send that."


IMAGE_ERRORS: Final[Mapping[Unusable, type[ApiError]]] = {
    Unusable.TOO_LARGE: ImageTooLarge,
    Unusable.TYPE: ImageTypeRefused,
    Unusable.TOO_MANY_PIXELS: TooManyPixels,
    Unusable.ANIMATED: ImageAnimated,
    Unusable.MIXED: ImageMixed,
    Unusable.DAMAGED: ImageDamaged,
}
