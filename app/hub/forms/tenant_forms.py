"""Caches form classes with a tenant's fields by configuration and language: creating a class is the most expensive part of a form."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final, TypeVar

from app.hub import locale
from app.hub.rendering.form import HubForm
from app.hub.web.visit import current_visit
from app.kit.caching.lru_cache import LruCache

_MAX_ENTRIES: Final = 200
Form = TypeVar("Form", bound=HubForm)

_kinds: Final[LruCache[Hashable, tuple[tuple[object, ...], Any]]] = LruCache(_MAX_ENTRIES)
"""Form classes with their fields; holding the fields keeps their `id()` from being reused."""


def tenant_form(
    base: type[Form], fields: tuple[object, ...], members: Callable[[], Mapping[str, Any]], *made_from: Hashable
) -> type[Form]:
    """Return the subclass of a form with these members, which may depend on the language.

    Args:
        fields: the fields, compared by identity: a tenant's fields are the same objects until its configuration changes.
        made_from: all other values that the members depend on.
    """
    tag, languages = locale.current_language().tag, current_visit().tenant.languages
    key = (base, tuple(map(id, fields)), made_from, tag, languages)
    found = _kinds.get(key)
    if found is None:
        found = (fields, type(f"Tenants{base.__name__}", (base,), dict(members())))
        _kinds.put(key, found)
    kind: type[Form] = found[1]
    return kind
