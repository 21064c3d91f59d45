"""The levels of a look, from the tenant's own to an organization's, and how their values merge."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple

from app.contract.tenants.branding import set_members


class Level(StrEnum):
    """Where a value of a look comes from, the widest first."""

    TENANT = "tenant"
    BRAND = "brand"
    """The theme that `brand` in the address, or the host, chooses."""
    WORKFLOW = "workflow"
    APPLICATION = "application"
    ORGANIZATION = "organization"


class ThemeNames(NamedTuple):
    """The names of the themes over the tenant's look, by level; empty where a level has none."""

    brand: str = ""
    workflow: str = ""
    application: str = ""
    organization: str = ""

    def levels(self) -> Iterable[tuple[Level, str]]:
        """Return the levels that have a theme, the widest first."""
        return ((level, name) for level, name in zip(tuple(Level)[1:], self, strict=True) if name)


_BY_KEY: Final = {"sentence": 1, "links": 1, "templates": 1, "files": 1, "scripts": 1, "texts": 2, "colors": 2}
"""The members that merge by language, name or key, and how deep these are."""
_LED_BY: Final = {"logo_dark": "logo", "picture": "scene", "font_file": "font"}
"""The members that belong to another one: a level that sets the other one does not inherit them."""


@dataclass
class MergedBrand:
    """The members of a look, and the level that each came from: `color`, `links.privacy`, `texts.de.continue`."""

    values: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, Level] = field(default_factory=dict)

    def put(self, level: Level, given: Mapping[str, Any]) -> None:
        """Put the members that a level sets over those of the wider levels."""
        found = set_members(given)
        for led, leader in _LED_BY.items():
            if leader in found and led not in found:
                self.values.pop(led, None)
                self.sources.pop(led, None)
        for name, value in found.items():
            if name in _BY_KEY:
                self._put_by_key(level, self.values, name, value, name, _BY_KEY[name])
            else:
                self.values[name], self.sources[name] = value, level

    def _put_by_key(
        self, level: Level, into: dict[str, Any], key: str, value: Mapping[str, Any], path: str, depth: int
    ) -> None:
        into[key] = within = dict(into.get(key, {}))  # a copy: the values of a level stay as they are
        for inner, found in value.items():
            if depth > 1:
                self._put_by_key(level, within, inner, found, f"{path}.{inner}", depth - 1)
            else:
                within[inner], self.sources[f"{path}.{inner}"] = found, level


def merged_brand(levels: Iterable[tuple[Level, Mapping[str, Any]]]) -> MergedBrand:
    """Return the look of several levels, given the widest first, each with the members of its `Brand` that are set.

    The narrower level wins member by member, and what it does not set is inherited (decision 0413).
    """
    brand = MergedBrand()
    for level, given in levels:
        brand.put(level, given)
    return brand
