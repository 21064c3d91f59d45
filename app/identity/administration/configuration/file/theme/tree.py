"""Reads the tree of a theme folder: `texts/`, `templates/` and `static/css/theme.css`, which are keys of the brand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from app.contract.tenants.branding import Brand
from app.contract.themes import theme_problems
from app.contract.themes.layout_templates import LAYOUTS
from app.identity.administration.configuration.file import yaml_document
from app.identity.administration.configuration.file.theme import folder_walk, static_files
from app.identity.administration.configuration.file.validation_messages import sentence_of
from app.identity.administration.configuration.file.yaml_document import (
    ConfigurationError,
    ConfigurationProblem,
    YamlDocument,
)
from app.kit.design import theme_file_names
from app.kit.design.theme_css.bounds import MAX_BYTES
from app.kit.near_names import near_name
from app.kit.templating import language
from app.kit.text import tenant_texts
from app.kit.text.languages import LANGUAGES

PLACES: Final = {
    "texts": "texts",
    "templates": "templates",
    "css": f"static/{static_files.STYLE_SHEET}",
    "files": "static",
}
"""The files or folder of each key of the brand."""


def read(outer: YamlDocument, root: Path, name: str, contents: dict[str, bytes]) -> dict[str, Any]:
    """Return the keys of the brand that the folder has files for; adds problems to the outer document.

    `contents`: the pictures and fonts by their names.
    """
    found = {
        "texts": _texts(outer, root, name),
        "templates": _templates(outer, root, name),
        "css": _style_sheet(outer, root, name),
        "files": {file: theme_file_names.digest_of(content) for file, content in contents.items()},
    }
    return {key: value for key, value in found.items() if value}


def problems(outer: YamlDocument, name: str, brand: Brand, values: dict[str, Any]) -> Iterator[ConfigurationProblem]:
    """Yield what is wrong in the templates and the style sheet, each with its file and line; `values` are those of files."""
    for problem in theme_problems.problems(brand):
        key, *within = problem.path
        if key in values and problem.line:
            yield _problem(outer, problem.line, problem.sentence, name, PLACES[key], *within)


def _problem(outer: YamlDocument, line: int, sentence: str, *parts: str) -> ConfigurationProblem:
    return ConfigurationProblem(str(Path(outer.file).parent.joinpath(*parts)), line, "", sentence)


def application_texts(outer: YamlDocument, root: Path, name: str) -> dict[str, dict[str, Any]]:
    """Return the texts in the folders of `texts/`, by the application that each is named after; adds problems to the outer document."""
    folders = [path.name for path in folder_walk.entries(root / PLACES["texts"]) if path.is_dir()]
    found = {folder: _texts(outer, root, name, f"{PLACES['texts']}/{folder}") for folder in folders}
    return {folder: texts for folder, texts in found.items() if texts}


def _texts(outer: YamlDocument, root: Path, name: str, folder: str = PLACES["texts"]) -> dict[str, Any]:
    """Return the texts in the files of a folder, by language; adds problems to the outer document."""
    texts: dict[str, Any] = {}
    for file in folder_walk.entries(root / folder):
        if file.is_dir() and folder == PLACES["texts"]:
            continue  # of an application
        place, tag = str(Path(outer.file).parent / name / folder / file.name), file.stem
        if file.suffix != ".yaml" or tag not in LANGUAGES or file.is_dir():
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
    from app.contract.themes.page_templates import names

    templates, folder, replaceable = {}, root / PLACES["templates"], names()
    for file in folder_walk.files(folder):
        known = file.relative_to(folder).as_posix()
        if known not in replaceable:
            near = near_name(known, replaceable)
            sentence = f"expected a template that a theme can replace, such as {near or next(iter(LAYOUTS))}"
            outer.problems.append(_problem(outer, 1, sentence, name, PLACES["templates"], known))
        elif (text := _text(outer, file, language.MAX_BYTES, name, PLACES["templates"], known)) is not None:
            templates[known] = text
    return templates


def _style_sheet(outer: YamlDocument, root: Path, name: str) -> str:
    """Return the style sheet; adds problems to the outer document."""
    file = root / PLACES["css"]
    if not file.is_file():
        return ""
    return _text(outer, file, MAX_BYTES, name, PLACES["css"]) or ""


def _text(outer: YamlDocument, file: Path, most: int, *parts: str) -> str | None:
    """Return the text of a file; adds a problem and returns None for one that is too large or no text."""
    if file.stat().st_size > 2 * most:
        outer.problems.append(_problem(outer, 1, f"expected at most {most // 1024} kB", *parts))
        return None
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        line = problem.object.count(b"\n", 0, problem.start) + 1
        outer.problems.append(_problem(outer, line, "expected UTF-8 text", *parts))
        return None
