"""Reads a configuration file into validated models, or raises every problem in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from app.contract.registration.form import TERMS
from app.contract.resources import file_resources
from app.contract.tenants.branding import Brand
from app.contract.tenants.file import (
    LATER_OF_ACCOUNTS,
    ConfigurationFile,
    TenantFile,
    configuration_file,
)
from app.identity.administration.configuration.file import declared_resources, yaml_document
from app.identity.administration.configuration.file.theme import read_folder
from app.identity.administration.configuration.file.theme.read_folder import ThemeFolder
from app.identity.administration.configuration.file.validation_messages import USERNAME, sentence_of
from app.identity.administration.configuration.file.yaml_document import (
    ConfigurationError,
    ConfigurationProblem,
    KeyPath,
    YamlDocument,
)
from app.identity.directory.accounts import identifiers
from app.kit.resources.resource import Resource

NamedFile = tuple[str, bytes]
"""The name and the content of a picture or font."""
_IDENTIFIERS = {
    identifiers.EMAIL: (identifiers.normalize_email, "an email address"),
    identifiers.USERNAME: (identifiers.normalize_username, USERNAME),
    identifiers.PHONE: (identifiers.normalize_phone, "an E.164 number such as +4930123456"),
}


@dataclass(frozen=True)
class Configuration:
    """A valid file."""

    tenants: tuple[TenantFile, ...]
    brands: dict[str, Brand] = field(default_factory=dict)  # by tenant, for those with a brand or theme
    theme_files: dict[str, list[NamedFile]] = field(
        default_factory=dict
    )  # of all theme folders of a tenant, by its name
    document: YamlDocument = field(default_factory=lambda: YamlDocument(""))
    resources: tuple[Resource, ...] = ()  # that a file may contain


def read_file(path: Path) -> Configuration:
    """Return the configuration of a file; raises ConfigurationError with every problem in it."""
    try:
        if path.stat().st_size > yaml_document.MAX_BYTES:
            raise ConfigurationError(
                [
                    ConfigurationProblem(
                        str(path), 1, "", f"expected at most {yaml_document.MAX_BYTES // 1024 // 1024} MiB"
                    )
                ]
            )
        text = path.read_bytes()
    except OSError as problem:
        raise ConfigurationError(
            [ConfigurationProblem(str(path), 1, "", f"couldn't be read: {problem.strerror}")]
        ) from None
    return read(text, str(path), path.parent)


def read(text: bytes, file: str, folder: Path, resources: tuple[Resource, ...] | None = None) -> Configuration:
    """Return the configuration in a text; themes are below `folder`. It may contain `resources`, by default all of the contract's."""
    resources = file_resources() if resources is None else resources
    document = yaml_document.read(text, file)
    value = _without_later(document)
    theme_files: dict[str, list[NamedFile]] = {}
    brands = _brands(document, folder, theme_files)
    _refuse_duplicates(document)
    declared = None
    try:
        declared = configuration_file(resources).model_validate_json(json.dumps(value), strict=True)
    except ValidationError as problem:
        for error in problem.errors(include_url=False):
            path, sentence = sentence_of(dict(error))
            document.problem(path, sentence)
    if declared is None:
        raise ConfigurationError(document.problems)
    found = declared_resources.problems(resources, declared.tenants, document)
    for path, sentence in (*_malformed(declared), *found):
        document.problem(path, sentence)
    brands |= {tenant.name: tenant.brand for tenant in declared.tenants if tenant.brand is not None}
    for path, sentence in (*_texts_without_a_link(declared, brands), *_unusable_values(declared)):
        document.problem(path, sentence)
    if document.problems:
        raise ConfigurationError(document.problems)
    return Configuration(declared.tenants, brands, theme_files, document, resources)


def _without_later(document: YamlDocument) -> Any:
    """Refuse keys of the format that this version does not support yet, with their own message."""
    for path, tenant in _parts(document.value, "tenants", ()):
        for inner, account in _parts(tenant, "accounts", path):
            _drop_later(document, account, LATER_OF_ACCOUNTS, inner)
    return {} if document.value is None else document.value


def _drop_later(document: YamlDocument, part: dict[str, Any], later: Set[str], path: KeyPath) -> None:
    for key in sorted(later & set(part)):
        document.problem((*path, key), "isn't supported by this version yet; remove it")
        del part[key]


def _brands(document: YamlDocument, folder: Path, theme_files: dict[str, list[NamedFile]]) -> dict[str, Brand]:
    """Return the brands in theme folders, by tenant, and put those of named themes where the file could have written them."""
    brands = {}
    for path, tenant in _parts(document.value, "tenants", ()):
        name = str(tenant.get("name"))
        files = theme_files.setdefault(name, [])
        if isinstance(tenant.get("theme"), str):
            found = read_folder.read(document, (*path, "theme"), folder, tenant["theme"])
            if found is not None:
                brands[name] = found.brand
                files += found.files.items()
                _add_application_texts(document, path, tenant, found)
        for inner, listed in _parts(tenant, "themes", path):
            files += _read_named_theme(document, inner, folder, listed)
    return brands


def _read_named_theme(document: YamlDocument, path: KeyPath, folder: Path, listed: dict[str, Any]) -> list[NamedFile]:
    """Replace the folder of a named theme by its brand; return the folder's files."""
    at = (*path, "theme")
    if not isinstance(listed.get("theme"), str):
        return []
    if "brand" in listed:
        document.problem(at, "expected theme or brand, not both")
        return []
    found = read_folder.read(document, at, folder, listed.pop("theme"))
    if found is None:
        return []
    if found.application_texts:
        document.problem(
            at, "expected no texts of applications in this folder; the folder of the tenant's theme has them"
        )
    listed["brand"] = found.brand.model_dump(mode="json", exclude_unset=True)
    return list(found.files.items())


def _add_application_texts(document: YamlDocument, path: KeyPath, tenant: dict[str, Any], found: ThemeFolder) -> None:
    """Add a theme for each application that has texts of its own in the theme folder, as if the file listed and named it."""
    for name, texts in found.application_texts.items():
        named = [
            part
            for part in _parts(tenant, "applications", path)
            if name in (part[1].get("client_id"), part[1].get("name"))
        ]
        if not named:
            sentence = (
                f"expected a client_id or name of this tenant's applications as the folder in texts/; found {name!r}"
            )
            document.problem((*path, "theme"), sentence)
            continue
        inner, application = named[0]
        if any(listed.get("name") == name for _, listed in _parts(tenant, "themes", path)):
            document.problem(
                (*path, "themes"), f"expected no theme {name}, because texts/{name} of the theme folder is one"
            )
        elif "theme_name" in application:
            document.problem(
                (*inner, "theme_name"), f"expected none, because texts/{name} of the theme folder has its texts"
            )
        elif isinstance(listed := tenant.setdefault("themes", []), list):
            listed.append({"name": name, "brand": {"texts": texts}})
            application["theme_name"] = name


def _refuse_duplicates(document: YamlDocument) -> None:
    seen: dict[tuple[str, ...], KeyPath] = {}
    for path, *mark in _marks(document.value):
        first = seen.setdefault(tuple(mark), path)
        if first != path:
            document.problem(path, f"is listed twice; see line {document.line_of(first)}")


def _marks(value: Any) -> Iterator[tuple[Any, ...]]:
    """Yield (path, kind, owner, value) of each value that must be unique."""
    for path, tenant in _parts(value, "tenants", ()):
        owner = str(tenant.get("name"))
        yield from _named(path, tenant, "", "name", "api_key")
        for inner, application in _parts(tenant, "applications", path):
            yield from _named(inner, application, owner, "name", "client_id")
        for inner, role in _parts(tenant, "roles", path):
            yield from _named(inner, role, owner, "name")
        for inner, account in _parts(tenant, "accounts", path):
            yield from _named(inner, account, owner, "email", "username", "phone")
        for inner, token in _parts(tenant, "initial_access_tokens", path):
            yield from _named(inner, token, owner, "name", "token_sha256")
        for key in ("organization_roles", "organizations"):
            for inner, item in _parts(tenant, key, path):
                yield from _named(inner, item, owner, "name")


def _named(path: KeyPath, part: dict[str, Any], owner: str, *keys: str) -> Iterator[tuple[Any, ...]]:
    for key in keys:
        text = part.get(key)
        if isinstance(text, str):
            yield (*path, key), str(path[-2]), key, owner, text if key == "client_id" else text.casefold()


def _texts_without_a_link(declared: ConfigurationFile, brands: Mapping[str, Brand]) -> Iterator[tuple[KeyPath, str]]:
    """Yield tenants whose pages ask to accept a text that they could not link. A brand that is absent keeps its links."""
    for at, tenant in enumerate(declared.tenants):
        brand, key = brands.get(tenant.name), "theme" if tenant.theme is not None else "brand"
        asks = any(field.name == TERMS for field in tenant.registration_form or ())
        if brand is not None and asks and "terms" not in brand.links:
            yield ("tenants", at, key), "expected links.terms, the address of the terms that registration_form asks for"
        has_policy = tenant.settings is not None and bool(tenant.settings.privacy_policy.versions)
        if brand is not None and has_policy and "privacy" not in brand.links:
            yield ("tenants", at, key), "expected links.privacy, the address of the policy that privacy_policy asks for"


def _unusable_values(declared: ConfigurationFile) -> Iterator[tuple[KeyPath, str]]:
    """Yield the texts and templates of brands in this file that cannot be used; those of a theme folder are checked with the folder."""
    for at, tenant in enumerate(declared.tenants):
        if tenant.brand is not None:
            yield from read_folder.value_problems(tenant.brand, ("tenants", at, "brand"))


def _malformed(declared: ConfigurationFile) -> Iterator[tuple[KeyPath, str]]:
    """Yield identifiers that no account can have."""
    for at, tenant in enumerate(declared.tenants):
        for number, account in enumerate(tenant.accounts or ()):
            for kind, (normal, expected) in _IDENTIFIERS.items():
                value = getattr(account, kind)
                if value and normal(value) is None:
                    yield ("tenants", at, "accounts", number, kind), f"expected {expected}; found {value!r}"


def _parts(value: Any, key: str, path: KeyPath) -> Iterator[tuple[KeyPath, dict[str, Any]]]:
    """Yield the maps in a list, with their paths; an invalid file may have anything there."""
    listed = value.get(key) if isinstance(value, dict) else None
    for number, part in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(part, dict):
            yield (*path, key, number), part
