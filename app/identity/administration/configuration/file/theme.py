"""Reads a theme folder: the design tokens in theme.yaml, the files of the logos, the texts of each language in `texts/`,
and the layouts in `templates/`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from app.contract.tenants import layout_templates
from app.contract.tenants.branding import Brand
from app.contract.tenants.layout_templates import LAYOUTS
from app.identity.administration.configuration.file import yaml_document
from app.identity.administration.configuration.file.validation_messages import COLORS, UNQUOTED_COLOR, sentence_of
from app.identity.administration.configuration.file.yaml_document import (
    ConfigurationError,
    ConfigurationProblem,
    KeyPath,
    YamlDocument,
)
from app.kit.templating import language
from app.kit.text import tenant_texts
from app.kit.text.languages import LANGUAGES

_KINDS = {
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webp": "image/webp",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
}
_TEXTS, _TEMPLATES = "texts", "templates"
MAX_LOGO_BYTES = 8_900
"""Of both logos together: as data URLs they fit their keys and the size budget of a page."""


def read(outer: YamlDocument, path: KeyPath, folder: Path, name: str) -> Brand | None:
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
        inner = yaml_document.read(file.read_bytes(), f"{Path(outer.file).parent / name / 'theme.yaml'}")
    except (ConfigurationError, OSError) as problem:
        outer.problems += problem.problems if isinstance(problem, ConfigurationError) else ()
        return None
    texts, templates = _texts(outer, root, name), _templates(outer, root, name)
    brand = _brand(inner, root, name, texts, templates)
    if brand is not None and templates:
        outer.problems += _in_templates(outer, name, brand)
    outer.problems += inner.problems
    return brand


def warnings(tenant: str, brand: Brand, theme_files: str) -> Iterator[str]:
    """Yield what a valid brand probably does not mean: colors that YAML reads as comments, and files that are not there.

    Files are looked for if `theme_files`, the folder of `GATEHOUSE_THEME_FILES`, is set.
    """
    for key in COLORS:
        if key in brand.model_fields_set and getattr(brand, key) is None:
            yield f"{tenant}: {key} is empty. If you wrote a color, {UNQUOTED_COLOR}."
    folder = Path(theme_files, tenant)
    for key in ("logo", "logo_dark", "favicon", "picture", "font_file"):
        address = getattr(brand, key) or ""
        name = urlsplit(address).path.removeprefix("/theme/")
        if theme_files and address.startswith("/theme/") and not (folder / name).is_file():
            yield f"{tenant}: {key} is {address}, but there's no file {folder / name}."


def value_problems(brand: Brand, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """Yield the path and the expected value of each text and template of a brand that cannot be used; the brand is at `path`."""
    for tag, key, expected in tenant_texts.problems(brand.texts):
        yield (*path, "texts", *filter(None, (tag, key))), f"expected {expected}"
    for name, line, sentence in layout_templates.problems(brand.templates, brand.texts):
        yield (*path, "templates", name), f"line {line}: {sentence}"


def _texts(outer: YamlDocument, root: Path, name: str) -> dict[str, Any]:
    """Return the texts in the files of `texts/`, by language; adds problems to the outer document."""
    texts: dict[str, Any] = {}
    for file in sorted((root / _TEXTS).glob("*")):
        place, tag = _place(outer, name, _TEXTS, file.name), file.stem
        if file.suffix != ".yaml" or tag not in LANGUAGES or not file.resolve().is_relative_to(root):
            sentence = f"expected a file for each language: {', '.join(f'{tag}.yaml' for tag in LANGUAGES)}"
            outer.problems.append(ConfigurationProblem(place, 1, "", sentence))
            continue
        try:
            document = yaml_document.read(file.read_bytes(), place)
        except (ConfigurationError, OSError) as problem:
            outer.problems += problem.problems if isinstance(problem, ConfigurationError) else ()
            continue
        texts[tag] = _texts_in(document, tag)
        outer.problems += document.problems
    return {tag: found for tag, found in texts.items() if found}


def _texts_in(document: YamlDocument, tag: str) -> dict[str, Any]:
    """Return the texts of a language's file; adds problems to the document, and leaves those texts out."""
    value = document.value if document.value is not None else {}
    try:
        texts = Brand.model_validate_json(json.dumps({"texts": {tag: value}}), strict=True).texts
    except ValidationError as problem:
        for error in problem.errors(include_url=False):
            path, sentence = sentence_of(dict(error))
            document.problem(path[2:], sentence)
        return {}
    for _, key, expected in tenant_texts.problems(texts):
        document.problem(tuple(filter(None, (key,))), f"expected {expected}")
    return dict(texts.get(tag, {}))


def _templates(outer: YamlDocument, root: Path, name: str) -> dict[str, str]:
    """Return the files of `templates/` by their names; adds problems to the outer document."""
    templates = {}
    for file in sorted(path for path in (root / _TEMPLATES).rglob("*") if not path.is_dir()):
        known = file.relative_to(root / _TEMPLATES).as_posix()
        sentence = ""
        if known not in LAYOUTS or not file.resolve().is_relative_to(root):
            sentence = f"expected a template that a theme can replace: {', '.join(LAYOUTS)}"
        elif file.stat().st_size > 2 * language.MAX_BYTES:
            sentence = f"expected at most {language.MAX_BYTES // 1024} kB"
        else:
            try:
                templates[known] = file.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                sentence = "expected UTF-8 text"
        if sentence:
            outer.problems.append(ConfigurationProblem(_place(outer, name, _TEMPLATES, known), 1, "", sentence))
    return templates


def _in_templates(outer: YamlDocument, name: str, brand: Brand) -> Iterator[ConfigurationProblem]:
    for known, line, sentence in layout_templates.problems(brand.templates, brand.texts):
        yield ConfigurationProblem(_place(outer, name, _TEMPLATES, known), line, "", sentence)


def _place(outer: YamlDocument, *parts: str) -> str:
    """Return the path of a file of the theme as problems name it."""
    return str(Path(outer.file).parent.joinpath(*parts))


def _brand(
    inner: YamlDocument, root: Path, name: str, texts: dict[str, Any], templates: dict[str, str]
) -> Brand | None:
    value: Any = inner.value if inner.value is not None else {}
    if isinstance(value, dict):
        _read_logos(inner, root, name, value)
        for key, files in (("texts", texts), ("templates", templates)):
            if files and value.setdefault(key, files) is not files:
                inner.problem((key,), f"expected no {key} here, because {name}/{key} has them")
    try:
        brand = Brand.model_validate_json(json.dumps(value), strict=True)
        for path, sentence in value_problems(brand, ()):
            is_of_file = (texts and path[0] == "texts" and len(path) > 1) or (templates and path[0] == "templates")
            if not is_of_file:  # those of files are at their lines
                inner.problem(path, sentence)
        return brand
    except ValidationError as problem:
        for error in problem.errors(include_url=False):
            path, sentence = sentence_of(dict(error))
            inner.problem(path, sentence)
        return None


def _read_logos(inner: YamlDocument, root: Path, folder: str, value: dict[str, Any]) -> None:
    """Replace names of files by their contents; addresses stay."""
    used = 0
    for key in ("logo", "logo_dark"):
        name = value.get(key)
        if not isinstance(name, str) or ":" in name or name.startswith("/"):
            continue
        file = (root / name).resolve()
        sentence = _refusal(root, folder, name)
        if sentence is None:
            used += file.stat().st_size
            sentence = _too_large(used, file) if used > MAX_LOGO_BYTES else None
        if sentence is not None:
            inner.problem((key,), sentence)
            value[key] = None
            continue
        content = base64.b64encode(file.read_bytes()).decode()
        value[key] = f"data:{_KINDS[file.suffix.lower()]};base64,{content}"


def _refusal(root: Path, folder: str, name: str) -> str | None:
    file = (root / name).resolve()
    if not file.is_relative_to(root) or file.suffix.lower() not in _KINDS:
        formats = "an svg, png, webp or jpg file in the theme folder, a path such as /theme/logo.svg, an https address or a data: URL"
        return f"expected {formats}; found {name!r}"
    return None if file.is_file() else f"there's no file {name} in {folder}"


def _too_large(size: int, file: Path) -> str:
    way_out = f"put {file.name} into the tenant's folder in GATEHOUSE_THEME_FILES, and write /theme/{file.name}"
    return f"expected at most {MAX_LOGO_BYTES} bytes for all logo files; found {size}: {way_out}"
