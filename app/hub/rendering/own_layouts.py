"""Renders a tenant's own layout within our document: `own_layout` of templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from markupsafe import Markup  # noqa: TID251 - what a checked template wrote

from app.hub.locale import Language
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.fragments import template_view
from app.hub.tenants.branding import PageBranding
from app.hub.web.services import services
from app.hub.web.visit import current_visit

_LINKS: Final = {"privacy": _l("Privacy"), "terms": _l("Terms"), "help": _l("Help")}


def own_layout(name: str, language: Language, values: Mapping[str, Any], parts: Mapping[str, str]) -> Markup:
    """Return the body of the page by the brand's layout; empty if it has none that renders.

    Args:
        values: those of the layout alone; the brand's are added.
        parts: the markup of each part of the layout's contract.
    """
    brand: PageBranding = template_view.get().brand
    all_values = shared_values(brand, language) | dict(values)
    return brand.templates.render(name, text_of(brand, language), all_values, parts, reporting(brand))


def own_part(name: str, values: Mapping[str, Any], parts: Mapping[str, str]) -> Markup:
    """Return the inside of a part of the page by the brand's template; empty if it has none that renders."""
    rendering = template_view.get()
    brand: PageBranding = rendering.brand
    flags = {key: value if isinstance(value, str) else bool(value) for key, value in values.items()}
    text = text_of(brand, rendering.frame.language)
    return brand.templates.render(name, text, flags, parts, reporting(brand))


class _OwnParts:
    """Is true where the brand has templates of parts: `own_parts` of templates, which costs less than reading the brand."""

    def __bool__(self) -> bool:
        brand: PageBranding = template_view.get().brand
        return brand.templates.has_parts


OWN_PARTS: Final = _OwnParts()


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
    return partial(_text, brand, language.tag)


def _text(brand: PageBranding, tag: str, key: str, **values: str) -> str:
    return brand.texts.text_of(key, tag, values)


def reporting(brand: PageBranding) -> Callable[[str, str], None]:
    """Return the function that reports a failed template by its name and the reason."""
    return partial(_report_template, brand)


def _report_template(brand: PageBranding, name: str, reason: str) -> None:
    report_failure(brand, f"templates/{name}", reason)


def report_failure(brand: PageBranding, file: str, reason: str) -> None:
    """Report that pages have ours in the place of a file of the theme; not of a preview, which has no digest."""
    if brand.theme_digest:
        tenant = current_visit().tenant
        services().theme_failures.add(tenant.name, tenant.version, brand.theme_digest, file, reason)
