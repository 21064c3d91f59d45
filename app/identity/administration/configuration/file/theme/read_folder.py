"""Reads a theme folder: the design tokens in theme.yaml, the files of the logos, and the tree beside them (`tree.py`)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import ValidationError

from app.contract.tenants.branding import LOGO_TYPES, MAX_LOGO_BYTES, Brand
from app.contract.themes import theme_problems
from app.identity.administration.configuration.file import yaml_document
from app.identity.administration.configuration.file.theme import folder_walk, static_files, tree
from app.identity.administration.configuration.file.validation_messages import COLORS, UNQUOTED_COLOR, sentence_of
from app.identity.administration.configuration.file.yaml_document import (
    ConfigurationError,
    ConfigurationProblem,
    KeyPath,
    YamlDocument,
)
from app.kit.design import theme_file_names

_MAX_NAME = 200
"""Of a path in the folder: a longer one is none."""


class ThemeFolder(NamedTuple):
    """What a theme folder has."""

    brand: Brand
    application_texts: dict[str, dict[str, Any]]
    """Texts by application, language and key."""
    files: dict[str, bytes]
    """The contents of pictures and fonts by their names."""

    @property
    def served_files(self) -> dict[str, bytes]:
        """The contents of pictures and fonts by the addresses where the tenant's host serves them."""
        addresses = theme_file_names.addresses(self.brand.files)
        return {addresses[name]: content for name, content in self.files.items() if name in addresses}


def read(outer: YamlDocument, path: KeyPath, folder: Path, name: str) -> ThemeFolder | None:
    """Return what a theme folder has; adds problems to the outer document and returns None."""
    root = (folder / name).resolve()
    if not root.is_dir():
        outer.problem(path, f"expected a folder next to this file; there's no {name}")
        return None
    if refused := folder_walk.problems(root):
        at = Path(outer.file).parent / name
        outer.problems += [ConfigurationProblem(str(at / place), 1, "", sentence) for place, sentence in refused]
        return None
    file = root / "theme.yaml"
    if not file.is_file():
        at = Path(outer.file).parent / name / file.name
        outer.problems.append(ConfigurationProblem(str(at), 1, "", "expected this file: every theme folder has it"))
        return None
    try:
        inner = yaml_document.read(file.read_bytes(), f"{Path(outer.file).parent / name / 'theme.yaml'}")
    except (ConfigurationError, OSError) as problem:
        outer.problems += problem.problems if isinstance(problem, ConfigurationError) else ()
        return None
    contents = static_files.read(outer, root, name)
    values, texts = tree.read(outer, root, name, contents), tree.application_texts(outer, root, name)
    brand = _brand(inner, root, name, values)
    if brand is not None:
        outer.problems += tree.problems(outer, name, brand, values)
    outer.problems += inner.problems
    return ThemeFolder(brand, texts, contents) if brand is not None else None


def folder_of(folder: Path) -> ThemeFolder:
    """Return what a theme folder has. Raises ConfigurationError with every problem, each with its file and line."""
    folder = folder.resolve()
    outer = YamlDocument(str(folder.parent / "theme"))
    found = read(outer, (), folder.parent, folder.name)
    if outer.problems or found is None:
        raise ConfigurationError(outer.problems)
    return found


def warnings(tenant: str, brand: Brand, theme_files: str) -> Iterator[str]:
    """Yield what a valid brand probably does not mean: colors that YAML reads as comments, unused files, and files that are not there.

    Files are looked for if `theme_files`, the folder of `GATEHOUSE_THEME_FILES`, is set.
    """
    for key in COLORS:
        if key in brand.model_fields_set and getattr(brand, key) is None:
            yield f"{tenant}: {key} is empty. If you wrote a color, {UNQUOTED_COLOR}."
    for file in theme_problems.unused_files(brand):
        yield f"{tenant}: {theme_problems.unused_sentence(f'static/{file}')}"
    folder = Path(theme_files, tenant)
    for key in ("logo", "logo_dark", "favicon", "picture", "font_file"):
        address = getattr(brand, key) or ""
        name = urlsplit(address).path.removeprefix("/theme/")
        if theme_files and address.startswith("/theme/") and not (folder / name).is_file():
            yield f"{tenant}: {key} is {address}, but there's no file {folder / name}."


def value_problems(brand: Brand, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """Yield the path and the expected value of what a brand's texts, templates and style sheet cannot have; the brand is at `path`."""
    for problem in theme_problems.problems(brand):
        yield (*path, *problem.path), problem.sentence_with_line


def _brand(inner: YamlDocument, root: Path, name: str, values: dict[str, Any]) -> Brand | None:
    value: Any = inner.value if inner.value is not None else {}
    if isinstance(value, dict):
        _read_logos(inner, root, name, value, values.get("files", {}))
        for key in values:
            if value.setdefault(key, values[key]) is not values[key]:
                inner.problem((key,), f"expected no {key} here, because {name}/{tree.PLACES[key]} has them")
    try:
        brand = Brand.model_validate_json(json.dumps(value), strict=True)
        for path, sentence in value_problems(brand, ()):
            if path[0] not in values or path == ("texts",):  # those of files are at their lines
                inner.problem(path, sentence)
        return brand
    except ValidationError as problem:
        for error in problem.errors(include_url=False):
            path, sentence = sentence_of(dict(error))
            inner.problem(path, sentence)
        return None


def _read_logos(inner: YamlDocument, root: Path, folder: str, value: dict[str, Any], files: Mapping[str, str]) -> None:
    """Replace names of files beside theme.yaml by their contents; names of `static/` and addresses stay."""
    used = 0
    for key in ("logo", "logo_dark"):
        name = value.get(key)
        if not isinstance(name, str) or ":" in name or name.startswith("/") or name in files:
            continue
        sentence, file = _refusal(root, folder, name), root / name
        if sentence is None:
            used += file.stat().st_size
            sentence = _too_large(used, file) if used > MAX_LOGO_BYTES else None
        if sentence is not None:
            inner.problem((key,), sentence)
            value[key] = None
            continue
        content = base64.b64encode(file.read_bytes()).decode()
        value[key] = f"data:{LOGO_TYPES[_ending(file)]};base64,{content}"


def _refusal(root: Path, folder: str, name: str) -> str | None:
    is_short = len(name) <= _MAX_NAME
    file = (root / name).resolve() if is_short else root
    if not is_short or not file.is_relative_to(root) or _ending(file) not in LOGO_TYPES:
        formats = (
            "an svg, png, webp or jpg file in the theme folder, a file of static/img such as img/logo.svg, a path such as "
            "/theme/logo.svg, an https address or a data: URL"
        )
        return f"expected {formats}; found {name!r}"
    return None if file.is_file() else f"there's no file {name} in {folder}"


def _ending(file: Path) -> str:
    return file.suffix.lower().removeprefix(".")


def _too_large(size: int, file: Path) -> str:
    way_out = f"put {file.name} into static/img, and write img/{file.name}"
    return f"expected at most {MAX_LOGO_BYTES} bytes for all logo files; found {size}: {way_out}"
