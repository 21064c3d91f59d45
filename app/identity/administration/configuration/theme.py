"""Reads a theme folder: the design tokens in theme.yaml, and the logo file."""

from __future__ import annotations

import base64
import json
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from app.contract.branding import Brand
from app.identity.administration.configuration import document as documents
from app.identity.administration.configuration.document import ConfigurationError, Document, Path
from app.identity.administration.configuration.validation_messages import sentence_of

_KINDS = {
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webp": "image/webp",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
}
MOST_LOGO_BYTES = 8_900  # as a data URL it fits `brand.logo` and the size budget of a page


def read(outer: Document, path: Path, folder: FilePath, name: str) -> Brand | None:
    """Return the brand of a theme folder; adds problems to the outer document and returns None."""
    root = (folder / name).resolve()
    if not root.is_dir():
        outer.problem(path, f"expected a folder next to this file; there's no {name}")
        return None
    file = root / "theme.yaml"
    if not file.is_file():
        outer.problem(path, f"expected the file theme.yaml in {name}")
        return None
    try:
        inner = documents.read(file.read_bytes(), f"{FilePath(outer.file).parent / name / 'theme.yaml'}")
    except (ConfigurationError, OSError) as problem:
        outer.problems += problem.problems if isinstance(problem, ConfigurationError) else ()
        return None
    brand = _brand(inner, root)
    outer.problems += inner.problems
    return brand


def _brand(inner: Document, root: FilePath) -> Brand | None:
    value: Any = inner.value if inner.value is not None else {}
    if isinstance(value, dict) and isinstance(value.get("logo"), str) and ":" not in value["logo"]:
        value["logo"] = _logo(inner, root, value["logo"])
    try:
        return Brand.model_validate_json(json.dumps(value), strict=True)
    except ValidationError as problem:
        for error in problem.errors(include_url=False):
            path, sentence = sentence_of(dict(error))
            inner.problem(path, sentence)
        return None


def _logo(inner: Document, root: FilePath, name: str) -> str | None:
    file = (root / name).resolve()
    kind = _KINDS.get(file.suffix.lower())
    if not file.is_relative_to(root) or not file.is_file() or kind is None:
        inner.problem(("logo",), f"expected an svg, png, webp or jpg file in the theme folder; found {name!r}")
        return None
    if file.stat().st_size > MOST_LOGO_BYTES:
        inner.problem(("logo",), f"expected an image of at most {MOST_LOGO_BYTES} bytes; found {file.stat().st_size}")
        return None
    return f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"
