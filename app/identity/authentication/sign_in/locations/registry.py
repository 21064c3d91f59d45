"""Which source reads the operator's file: the file itself says it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from importlib.metadata import entry_points
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from app.identity.authentication.sign_in.locations.listed import ListFormat
from app.identity.authentication.sign_in.locations.maxmind import MaxmindFormat
from app.identity.platform.locations import UNKNOWN_PLACE, LocationFormat, Locations, NoLocations, Place
from app.settings import SettingsError

log = logging.getLogger("gatehouse.locations")

GROUP: Final = "gatehouse.locations"
"""The entry points by which an installed package brings a source of its own; they are asked before ours."""
_BUILT_IN: Final[tuple[LocationFormat, ...]] = (MaxmindFormat(), ListFormat())


class FailSafeLocations:
    """A source whose failures cost nobody a sign-in: what it cannot tell is not known."""

    def __init__(self, source: Locations) -> None:
        self._source = source
        self._is_told = False

    def place_of(self, address: str) -> Place:
        try:
            asked = ip_address(address)
        except ValueError:
            return UNKNOWN_PLACE
        mapped = asked.ipv4_mapped if asked.version == 6 else None
        try:
            return self._source.place_of(str(mapped or asked))
        except Exception:
            if not self._is_told:
                log.exception("the source of locations failed; this is told once")
            self._is_told = True
            return UNKNOWN_PLACE


def locations(file: str) -> Locations:
    """Return what the operator has. Raises SettingsError, which stops the start: the file cannot be read, or is broken."""
    if not file:
        return NoLocations()
    path = Path(file)
    try:
        return FailSafeLocations(next(one for one in _formats() if one.reads(path)).open(path))
    except OSError as problem:
        raise SettingsError(f"GATEHOUSE_LOCATIONS_FILE cannot be read: {problem.strerror}.") from None
    except ValueError as problem:
        raise SettingsError(f"GATEHOUSE_LOCATIONS_FILE tells no places: {problem}.") from None


def _formats() -> Iterator[LocationFormat]:
    for point in entry_points(group=GROUP):
        yield point.load()()
    yield from _BUILT_IN


__all__ = ["GROUP", "FailSafeLocations", "locations"]
