"""Reads the parameters of a request from the WSGI environment: query parameters, form fields and files. Bytes that are not UTF-8 stay
percent-encoded. An unreadable form is empty: it has no CSRF token, so its page refuses it.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final
from wsgiref.types import WSGIEnvironment

from werkzeug.datastructures import ImmutableMultiDict
from werkzeug.formparser import FormDataParser
from werkzeug.http import parse_options_header
from werkzeug.wsgi import get_input_stream

from app.kit.web import form_fields


class Parameters(ImmutableMultiDict[str, str]):
    """Names and values in order; a name may be repeated."""

    if not TYPE_CHECKING:  # the signature is werkzeug's

        def get(self, name: str, default: Any = None, type: Any = None) -> Any:  # noqa: A002
            """Return the first value of a name. werkzeug's own `get` raises and catches an error for each absent name."""
            return super().get(name, default, type) if name in self else default


MAX_FORM_BYTES: Final = 64_000
MAX_SAML_FORM_BYTES: Final = 400_000
"""Of a form with a SAML message: 256 KiB of base64, whose signs and line breaks are encoded."""
MAX_FORM_PARTS: Final = 200
"""Maximum number of parts of a `multipart/form-data` form."""
_MAX_BUFFERED_BYTES: Final = 256_000
"""Of one field, and of what werkzeug reads of a file at once."""
NO_PARAMETERS: Final = Parameters()
_BAD_BYTES: Final = "werkzeug.url_quote"
"""The codec error handler that percent-encodes bytes that are no UTF-8."""
_URL_ENCODED: Final = "application/x-www-form-urlencoded"


def read_query(query_text: str) -> Parameters:
    """Return the parameters of an address (URL Standard, section 5.1).

    Args:
        query_text: as WSGI has it, one character for each byte.
    """
    if not query_text:
        return NO_PARAMETERS
    text = query_text if query_text.isascii() else query_text.encode("latin-1").decode(errors=_BAD_BYTES)
    return Parameters(form_fields.read(text, errors=_BAD_BYTES))


@dataclass(frozen=True)
class UploadedFile:
    """A file of a form. The type is what the browser made of the file's name."""

    media_type: str
    content: bytes


Files = Mapping[str, UploadedFile]
"""The first file of each name; a field where nothing was chosen has none."""


def read_form(environ: WSGIEnvironment, max_bytes: int = MAX_FORM_BYTES) -> tuple[Parameters, Files]:
    """Read the body of a request, once; return its fields and files. Bodies of other kinds than forms are left out.

    Raises:
        RequestEntityTooLarge: the body is longer than `max_bytes`, or has more than `MAX_FORM_PARTS` parts.
        ClientDisconnected: the body ends before its `Content-Length`.
    """
    stream = get_input_stream(environ, max_content_length=max_bytes)
    kind, options = parse_options_header(environ.get("CONTENT_TYPE"))
    kind = kind.lower()
    return (_url_encoded(stream.read()), {}) if kind == _URL_ENCODED else _multipart(stream, kind, options)


def _url_encoded(body: bytes) -> Parameters:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return NO_PARAMETERS
    return Parameters(form_fields.read(text, errors=_BAD_BYTES))


def _multipart(stream: IO[bytes], kind: str, options: dict[str, str]) -> tuple[Parameters, Files]:
    """Return the fields and files of `multipart/form-data`; none of other kinds."""
    parser = FormDataParser(
        stream_factory=_file,
        max_form_memory_size=_MAX_BUFFERED_BYTES,
        max_form_parts=MAX_FORM_PARTS,
    )
    _, fields, files = parser.parse(stream, kind, None, options)
    chosen = {name: UploadedFile(file.mimetype, file.stream.read()) for name, file in files.items() if file.filename}
    return Parameters(fields), chosen


def _file(*_: Any, **__: Any) -> io.BytesIO:
    """Return the stream for an uploaded file: in memory, because a body is short."""
    return io.BytesIO()
