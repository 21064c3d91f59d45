"""Renders a tenant's own layout within our document: `own_layout` of templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from markupsafe import Markup  # noqa: TID251 - what a checked template wrote

from app.hub.locale import Language
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.fragments import template_view
from app.hub.tenants.branding import PageBranding

_LINKS: Final = {"privacy": _l("Privacy"), "terms": _l("Terms"), "help": _l("Help")}


def own_layout(name: str, language: Language, values: Mapping[str, Any], parts: Mapping[str, str]) -> Markup:
    """Return the body of the page by the brand's layout; empty if it has none that renders.

    Args:
        values: those of the layout alone; the brand's are added.
        parts: the markup of each part of the layout's contract.
    """
    brand: PageBranding = template_view.get().brand
    return brand.layouts.render(name, text_of(brand, language), shared_values(brand, language) | dict(values), parts)


def shared_values(brand: PageBranding, language: Language) -> dict[str, Any]:
    """Return the values that every template of a theme has."""
    return {
        "name": brand.name,
        "organization": brand.organization,
        "language": language.tag,
        "direction": language.direction,
        "links": [{"kind": kind, "text": str(_LINKS[kind]), "address": address} for kind, address in brand.links],
    }


def text_of(brand: PageBranding, language: Language) -> Callable[..., str]:
    """Return the function `text` of a theme's templates."""
    return lambda key, **values: brand.texts.text_of(key, language.tag, values)
