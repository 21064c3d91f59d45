"""A form's field for an uploaded image, and the messages of refused ones."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final

from wtforms import FileField
from wtforms.validators import ValidationError

from app.contract.images import errors
from app.hub.locale import lazy_gettext as _l
from app.hub.web.visit import current_visit
from app.kit.images.image_format import ACCEPTED_TYPES, MAX_UPLOAD_BYTES
from app.kit.operations.errors import ApiError

TOO_LARGE: Final = _l("This picture is larger than 2 MB.")
_TYPE: Final = _l("Choose a PNG, JPEG or WebP picture.")
IMAGE_MESSAGES: Final[dict[type[ApiError], Any]] = {
    errors.ImageTooLarge: TOO_LARGE,
    errors.ImageTypeRefused: _TYPE,
    errors.TooManyPixels: _l("This picture has more than 20 million pixels. Choose a smaller one."),
    errors.ImageAnimated: _l("Animated pictures don’t work here. Choose a still one."),
    errors.ImageMixed: _l("This file contains more than a picture. Export it again, or choose another one."),
    errors.ImageDamaged: _l("We couldn’t read this picture. Export it again, or choose another one."),
}


class ImageField(FileField):
    """An uploaded image. Its data is the file in base64; empty until one is chosen."""

    def __init__(self, label: Any = None, **options: Any) -> None:
        super().__init__(label, render_kw={"accept": ",".join(ACCEPTED_TYPES)}, **options)

    def process(self, formdata: Any, data: Any = "", extra_filters: Any = None) -> None:  # noqa: ARG002 - WTForms' signature
        """Take the file of the visit's form."""
        self.process_errors = []
        self.file = current_visit().files.get(self.name) if formdata is not None else None
        self.data = b64encode(self.file.content).decode() if self.file is not None else ""

    def pre_validate(self, form: Any) -> None:  # noqa: ARG002 - WTForms' signature
        """Refuse what the identity service would refuse by its size or its declared type, and a form without a file."""
        if current_visit().is_upload_too_large or (self.file and len(self.file.content) > MAX_UPLOAD_BYTES):
            raise ValidationError(TOO_LARGE)
        if self.file is None:
            raise ValidationError(_l("Choose a picture first."))
        if self.file.media_type not in ACCEPTED_TYPES:
            raise ValidationError(_TYPE)
