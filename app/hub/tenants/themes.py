"""The themes over a tenant's look, merged and compiled on first use; imported only for tenants that have themes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from app.contract.tenants.brand_levels import Level, MergedBrand, ThemeNames, merged_brand
from app.contract.tenants.tenant_pages import BrandView, TenantView
from app.hub.tenants.branding import PageBranding, css_asset
from app.hub.tenants.read_branding import page_branding, style_sheet
from app.kit.caching.lru_cache import LruCache

_MAX_MERGED: Final = 128
"""Merged looks of one tenant in memory. Names are of known themes only, so that no address fills it with others."""
_NAME: Final = "display_name"


class Themes:
    """The themes of one version of a tenant, at one of its hosts."""

    def __init__(self, view: TenantView) -> None:
        self._view = view
        self._by_key = {theme.key: name for name, theme in view.themes.items() if theme.key}
        self._looks: LruCache[ThemeNames, PageBranding] = LruCache(_MAX_MERGED)

    def known_key(self, text: str) -> str:
        """Return the key of a brand; empty for a text that is none of this tenant's."""
        return text if text in self._by_key else ""

    def names(self, key: str, workflow: str, application: str, organization: str) -> ThemeNames | None:
        """Return the themes of a page, without unknown ones; None if it has the tenant's look."""
        brand = self._by_key.get(key) or self._view.host_theme
        names = self.known(ThemeNames(brand, workflow, application, organization))
        return names if any(names) else None

    def known(self, names: ThemeNames) -> ThemeNames:
        """Return the names without unknown ones."""
        return ThemeNames(*(name if name in self._view.themes else "" for name in names))

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the themes."""
        return iter(self._view.themes)

    def look(self, names: ThemeNames) -> PageBranding:
        """Return the merged branding."""
        found = self._looks.get(names)
        if found is None:
            merged = self.merged(names)
            values: dict[str, Any] = dict(merged.values)
            name = values.pop(_NAME, "") or self._view.name
            view = BrandView.model_validate(values)
            css_files = self._files(getattr(names, merged.sources.get("css", Level.TENANT), ""))
            origins = self._view.script_origins
            found = page_branding(view, self._view.name, name, self._view.default_locale, css_files, origins)
            self._looks.put(names, found)
        return found

    def merged(self, names: ThemeNames) -> MergedBrand:
        """Return the members of a merged look, and where each came from."""
        own = {_NAME: self._view.display_name, **self._view.brand.model_dump()}
        levels = ((level, self._members_of(name)) for level, name in names.levels())
        return merged_brand([(Level.TENANT, own), *levels])

    def style_sheet(self, name: str) -> str:
        """Return the style sheet of a theme by the name of its file; empty for an unknown one."""
        return self._style_sheets.get(name, "")

    @cached_property
    def _style_sheets(self) -> Mapping[str, str]:
        themes, tenant = self._view.themes, self._view.name
        sheets = (style_sheet(themes[name].brand.get("css") or "", self._files(name), tenant).css for name in themes)
        return {css_asset(css).name: css for css in sheets if css}

    def _files(self, name: str) -> Mapping[str, str]:
        """Return the files of a theme; those of the tenant's own look for an empty name."""
        files: Mapping[str, str] = (
            (self._view.themes[name].brand.get("files") or {}) if name else self._view.brand.files
        )
        return files

    def _members_of(self, name: str) -> Mapping[str, Any]:
        """Return the members that a theme sets; those of another version are left out."""
        stated = self._view.themes[name].brand
        return {key: value for key, value in stated.items() if key == _NAME or key in BrandView.model_fields}
