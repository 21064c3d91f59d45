"""Translates the interface's own members of a theme to members of its brand, and back: the brand alone is stored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ValidationError

from app.contract.errors import BadField
from app.contract.tenants.branding import SCRIPT_PLACES, Brand, line_in, line_with, set_members
from app.contract.themes import theme_members, theme_problems
from app.contract.themes.theme_members import LocaleInfo, ThemeBody, ThemeContent, ThemePage, ThemePages
from app.kit.near_names import near_name
from app.kit.operations.wire import pascal

Path = tuple[str, ...]
Flat = dict[Path, Any]
_FIELDS: Final = {"favicon": "favicon", "logo": "logo"}
_BODY: Final = {"background_color": "background", "font_family": "font", "background_image": "picture"}
_BY_NAME: Final = ("sentence", "templates", "scripts")
"""The members of a brand whose values have a language or a name."""
_HTML: Final = {"auth": "layouts/split.html", "profile": "layouts/console.html"}
_SECTION: Final = re.compile(r"^/\* (Variables|Pages\.Auth\.Css|Pages\.Profile\.Css) \*/\n", re.MULTILINE)
_VARIABLES, _SHEETS = "Variables", {"auth": "Pages.Auth.Css", "profile": "Pages.Profile.Css"}
_VARIABLE: Final = re.compile(r"^(--[A-Za-z0-9-]+): ([^;{}\n]+);$", re.MULTILINE)
_SCRIPTED: Final = "auth"
"""The one page of the interface whose scripts are the theme's."""
_NO_SCRIPTS: Final = {
    "profile": "none: the account pages never have scripts, because they show what only the account’s owner may see",
    "workflow": "none: a workflow’s pages have those of Pages.Auth",
}


class _Value(NamedTuple):
    """A value of the interface's members for a place of the brand."""

    member: str
    value: Any


class _Places(dict[Path, _Value]):
    """The values of the interface's members, by their place in the brand."""

    def put(self, path: Path, member: str, value: Any) -> None:
        """Add a value. Raises BadField where another member has another value for the same place."""
        known = self.setdefault(path, _Value(member, value))
        if known.value != value:
            raise BadField(
                f"{member}: expected the same as {known.member}, which is the same text; or send one of them."
            )


def members_of(brand: Brand, language: str) -> dict[str, Any]:
    """Return the interface's members of a brand by field name; `language` is the tenant's default."""
    sections = _sections(brand.css)
    templates = {str(name): source for name, source in brand.templates.items()}
    pages = {
        page: {"html": templates.get(name, ""), "css": sections.get(_SHEETS[page], [])} for page, name in _HTML.items()
    }
    pages[_SCRIPTED] |= {**brand.scripts, "js": [*filter(None, brand.scripts.get("js", "").split("\n"))]}
    texts = brand.texts.get(language, {})
    content = {name: _plain(texts.get(key)) for name, key in theme_members.CONTENT.items()}
    locales = {tag: _locale(wordings) for tag, wordings in brand.texts.items()}
    return {
        "favicon": brand.favicon,
        "logo": brand.logo,
        "body": ThemeBody(**{name: getattr(brand, member) for name, member in _BODY.items()}).model_dump(),
        "content": {
            "heading": brand.sentence.get(language),
            "paragraph": line_in(brand.signature, language) or None,
            **content,
        },
        "variables": dict(_VARIABLE.findall("".join(sections.get(_VARIABLES, [])))),
        "pages": ThemePages.model_validate(pages).model_dump(),
        "locales": {tag: locale.model_dump() for tag, locale in locales.items() if locale != LocaleInfo()},
    }


def merged_brand(
    sent: Mapping[str, Any], given: frozenset[str], stored: Brand, members: Mapping[str, Any], language: str
) -> dict[str, Any]:
    """Return the brand of a request that may have both spellings: of a value in both, the changed one is stored.

    Args:
        sent: the brand of the request with defaults.
        given: the members of the brand that the request has.
        stored: the brand before the request.
        members: the interface's members by field name; None for one that the request does not have.

    Raises:
        BadField: both spellings change a value, and differ; or a member has a value that the brand cannot have.
    """
    shown = members_of(stored, language)
    changed = {name: value for name, value in members.items() if _as_shown(value) != shown.get(name)}
    places = _places(changed, stored, language)
    before, flat = _flat(stored.model_dump(mode="json")), _flat(sent)
    for path, (member, value) in places.items():
        sent_value = flat.get(path)
        if path[0] in given and not _is_same(sent_value, value) and not _is_same(sent_value, before.get(path)):
            if not _is_same(value, before.get(path)):
                raise BadField(
                    f"{member}: expected the same as Brand.{'.'.join((pascal(path[0]), *path[1:]))}, or only one of them."
                )
            continue
        flat[path] = value
    brand = _brand(sent, flat, {path: place.member for path, place in places.items()})
    if ("picture",) in places and brand.get("scene") in (None, stored.scene):
        brand["scene"] = "picture" if brand.get("picture") else None
    _refuse_unusable(brand, {path: place.member for path, place in places.items()})
    return brand


def _as_shown(value: Any) -> Any:
    """Return a member of a request as `members_of` returns one: an answer that is sent back changes nothing."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    return {key: _as_shown(each) for key, each in value.items()} if isinstance(value, dict) else value


def _is_same(one: Any, other: Any) -> bool:
    return (one or None) == (other or None)


def _places(members: Mapping[str, Any], stored: Brand, language: str) -> _Places:
    places = _Places()
    for field, member in _FIELDS.items():
        if members.get(field) is not None:
            places.put((member,), field.title(), members[field])
    if (body := members.get("body")) is not None:
        _put_body(places, body)
    if (content := members.get("content")) is not None:
        _put_content(places, content, stored, language)
    if (variables := members.get("variables")) is not None:
        places.put(("css", _VARIABLES), _VARIABLES, _root_rule(variables))
    if (pages := members.get("pages")) is not None:
        for page in ThemePages.model_fields:
            if page in pages.model_fields_set:
                _put_page(places, page, getattr(pages, page))
    for tag, locale in (members.get("locales") or {}).items():
        _put_locale(places, tag, locale)
    return places


def _put_body(places: _Places, body: ThemeBody) -> None:
    if body.text_color:
        raise BadField(
            "Body.TextColor: expected none: pages compute it from the background, so that text stays readable."
        )
    for name, member in _BODY.items():
        if name in body.model_fields_set:
            places.put((member,), f"Body.{pascal(name)}", getattr(body, name))


def _put_content(places: _Places, content: ThemeContent, stored: Brand, language: str) -> None:
    for name in content.model_fields_set:
        member, value = f"Content.{pascal(name)}", getattr(content, name)
        if name in theme_members.CONTENT:
            places.put(("texts", language, theme_members.CONTENT[name]), member, value)
        elif name == "heading":
            places.put(("sentence", language), member, value)
        elif name == "paragraph":
            places.put(("signature",), member, line_with(stored.signature, language, value) if value else value)


def _put_page(places: _Places, page: str, files: ThemePage) -> None:
    name = f"Pages.{page.title()}"
    for field in SCRIPT_PLACES:
        value = getattr(files, field)
        if page != _SCRIPTED and value:
            raise BadField(f"{name}.{pascal(field)}: expected {_NO_SCRIPTS[page]}.")
        if page == _SCRIPTED and field in files.model_fields_set:
            text = value if isinstance(value, str) else "\n".join(value)
            places.put(("scripts", field), f"{name}.{pascal(field)}", text)
    if page not in _HTML:
        if files.html or files.css:
            raise BadField(f"{name}: expected neither Html nor Css: a workflow's pages have those of Pages.Auth.")
        return
    if "html" in files.model_fields_set:
        places.put(("templates", _HTML[page]), f"{name}.Html", files.html)
    if "css" in files.model_fields_set:
        if any(_SECTION.search(sheet) or not sheet.strip() for sheet in files.css):
            raise BadField(
                f"{name}.Css: expected style sheets that aren't empty, without comments such as /* Variables */."
            )
        places.put(("css", _SHEETS[page]), f"{name}.Css", list(files.css))


def _put_locale(places: _Places, tag: str, locale: LocaleInfo) -> None:
    name = f"Locales.{tag}"
    if locale.password_meter_configuration:
        raise BadField(f"{name}.passwordMeterConfiguration: expected none: pages show rules in place of a meter.")
    rows: list[tuple[str, Mapping[Any, str], Any, str]] = [
        *(("labels", theme_members.LABELS, key, text) for key, text in locale.labels.items()),
        *(("placeholders", theme_members.PLACEHOLDERS, key, text) for key, text in locale.placeholders.items()),
        *(("buttonsName", theme_members.BUTTONS, key, text) for key, text in locale.buttons_name.items()),
        *(("validationMessages", theme_members.RULES, row.rule, row.message) for row in locale.validation_messages),
        *(("errorMessages", theme_members.ERRORS, row.code, row.message) for row in locale.error_messages),
    ]
    if any(row.description for row in locale.error_messages):
        raise BadField(f"{name}.errorMessages: expected no description: pages show the message alone.")
    for list_name, keys, key, text in rows:
        member = f"{name}.{list_name}.{key}"
        if key not in keys:
            near = near_name(str(key), map(str, keys))
            raise BadField(
                f"{member}: expected one of {', '.join(map(str, keys))}{f'; did you mean {near}?' if near else ''}."
            )
        if "%s" in text:
            raise BadField(f"{member}: expected a text without %s: the label stands above it.")
        places.put(("texts", tag, keys[key]), member, text)


def _root_rule(variables: Mapping[str, str]) -> list[str]:
    """Return custom properties as a rule. Raises BadField for one that could end it."""
    lines = [f"{name}: {value.strip()};" for name, value in variables.items()]
    for (name, _), line in zip(variables.items(), lines, strict=True):
        if not _VARIABLE.fullmatch(line) or "/*" in line:
            raise BadField(
                f"Variables.{name}: expected a custom property such as --radius, and a value without ; and braces."
            )
    return [":root {\n" + "\n".join(lines) + "\n}"] if lines else []


def _sections(css: str) -> dict[str, list[str]]:
    """Return the style sheets of a stored one by their member; one without our comments is that of `Pages.Auth`."""
    pieces = _SECTION.split(css)
    found: dict[str, list[str]] = {_SHEETS["auth"]: [pieces[0]]} if pieces[0].strip() else {}
    for name, sheet in zip(pieces[1::2], pieces[2::2], strict=True):
        found.setdefault(name, []).append(sheet.removesuffix("\n"))
    return found


def _stylesheet(sections: Mapping[str, list[str]]) -> str:
    """Return the stored style sheet: a single one of `Pages.Auth` stays as it was sent."""
    rows = [(name, sheet) for name in (_VARIABLES, *_SHEETS.values()) for sheet in sections.get(name, [])]
    if [name for name, _ in rows] == [_SHEETS["auth"]]:
        return rows[0][1]
    return "".join(f"/* {name} */\n{sheet}\n" for name, sheet in rows)


def _flat(brand: Mapping[str, Any]) -> Flat:
    """Return the values of a brand by path: texts, sentences, templates, scripts and style sheets each by itself."""
    flat: Flat = {(name,): value for name, value in brand.items() if name not in ("texts", "css", *_BY_NAME)}
    for tag, wordings in (brand.get("texts") or {}).items():
        flat |= {("texts", tag, key): wording for key, wording in wordings.items()}
    for name in _BY_NAME:
        flat |= {(name, key): value for key, value in (brand.get(name) or {}).items()}
    return flat | {("css", name): sheets for name, sheets in _sections(brand.get("css") or "").items()}


def _brand(sent: Mapping[str, Any], flat: Flat, origins: Mapping[Path, str]) -> dict[str, Any]:
    """Return the values of a brand from those by path; the style sheet stays as it was sent unless a member changed it."""
    brand: dict[str, Any] = {name: {} for name in ("texts", *_BY_NAME)}
    sections: dict[str, list[str]] = {}
    for path, value in flat.items():
        if path[0] == "css":
            sections[path[1]] = value
        elif len(path) == 1:
            brand[path[0]] = value
        elif value:
            inner = brand[path[0]]
            for part in path[1:-1]:
                inner = inner.setdefault(part, {})
            inner[path[-1]] = deepcopy(value)
    is_changed = any(path[0] == "css" for path in origins)
    return brand | {"css": _stylesheet(sections) if is_changed else sent.get("css") or ""}


def _plain(wording: Any) -> str | None:
    return wording if isinstance(wording, str) else None


def _locale(wordings: Mapping[str, Any]) -> LocaleInfo:
    def named(keys: Mapping[Any, str]) -> Iterator[tuple[Any, str]]:
        return ((name, text) for name, key in keys.items() if (text := _plain(wordings.get(key))) is not None)

    return LocaleInfo(
        labels=dict(named(theme_members.LABELS)),
        placeholders=dict(named(theme_members.PLACEHOLDERS)),
        buttons_name=dict(named(theme_members.BUTTONS)),
        validation_messages=[
            theme_members.ValidationMessage(rule=rule, message=text) for rule, text in named(theme_members.RULES)
        ],
        error_messages=[
            theme_members.ErrorMessage(code=code, message=text) for code, text in named(theme_members.ERRORS)
        ],
    )


def _refuse_unusable(brand: Mapping[str, Any], origins: Mapping[Path, str]) -> None:
    """Raise BadField for a value that the brand cannot have, by the name of the member that gave it; others are refused later."""
    try:
        model = Brand.model_validate(set_members(brand))
    except ValidationError as problem:
        for error in problem.errors(include_url=False):
            at = tuple(str(part) for part in error["loc"])
            if member := next((origins[at[:size]] for size in (3, 2, 1) if at[:size] in origins), ""):
                raise BadField(f"{member}: {str(error['msg']).removeprefix('Value error, ')}.") from None
        return
    for found in theme_problems.problems(model):
        if found.path == ("css",) and (place := _place_of_line(model.css, found.line, origins)):
            raise BadField(f"{place}: {found.sentence}.")
        if found.path in origins:
            raise BadField(f"{origins[found.path]}: {found.sentence_with_line}.")


def _place_of_line(css: str, line: int, origins: Mapping[Path, str]) -> str:
    """Return the member that gave a line of the stored style sheet, and the line there; empty if no member gave it."""
    lines = css.split("\n")[:line]
    heads = [(at, found[1]) for at, text in enumerate(lines, 1) if (found := _SECTION.match(f"{text}\n"))]
    start, name = heads[-1] if heads else (0, _SHEETS["auth"])
    member = origins.get(("css", name), "")
    if not member:
        return ""
    if name == _VARIABLES:
        variable = _VARIABLE.match(lines[-1])
        return f"{member}.{variable[1]}" if variable else member
    number = [head for _, head in heads].count(name)
    return f"{member}: " + (f"style sheet {number}, " if number > 1 else "") + f"line {line - start}"
