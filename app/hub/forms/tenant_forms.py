"""Form classes with the fields of a tenant, made once per configuration and language: making one takes longer than all else."""

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
"""With the fields of each class, so that no other field gets the identity of one of them."""


def tenant_form(
    base: type[Form], fields: tuple[object, ...], members: Callable[[], Mapping[str, Any]], *made_from: Hashable
) -> type[Form]:
    """Return the subclass of a form with these members, which may depend on the language.

    Args:
        fields: what the members are made of, told apart by identity: a tenant's are the same until its configuration changes.
        made_from: all else that they are made of.
    """
    tag, languages = locale.current_language().tag, current_visit().tenant.languages
    key = (base, tuple(map(id, fields)), made_from, tag, languages)
    found = _kinds.get(key)
    if found is None:
        found = (fields, type(f"Tenants{base.__name__}", (base,), dict(members())))
        _kinds.put(key, found)
    kind: type[Form] = found[1]
    return kind
