"""The formats of the operator's location file; each format recognizes its own files."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from importlib.metadata import entry_points
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from app.identity.authentication.sign_in.locations.maxmind import MaxmindFormat
from app.identity.authentication.sign_in.locations.text_file import ListFormat
from app.identity.platform.locations import UNKNOWN_PLACE, LocationFormat, Locations, NoLocations, Place
from app.settings import SettingsError

log = logging.getLogger("gatehouse.locations")

GROUP: Final = "gatehouse.locations"
"""The entry points of location formats in installed packages; they take precedence over the built-in ones."""
_BUILT_IN: Final[tuple[LocationFormat, ...]] = (MaxmindFormat(), ListFormat())


class FailSafeLocations:
    """Locations whose failures never fail a sign-in: after an error the place is unknown."""

    def __init__(self, source: Locations) -> None:
        self._source = source
        self._is_logged = False

    def place_of(self, address: str) -> Place:
        try:
            parsed = ip_address(address)
        except ValueError:
            return UNKNOWN_PLACE
        mapped = parsed.ipv4_mapped if parsed.version == 6 else None
        try:
            return self._source.place_of(str(mapped or parsed))
        except Exception:
            if not self._is_logged:
                log.exception("the source of locations failed; this is told once")
            self._is_logged = True
            return UNKNOWN_PLACE


def locations(file: str) -> Locations:
    """Return the operator's locations; raises SettingsError, which stops the start, if the file is unreadable or damaged."""
    if not file:
        return NoLocations()
    path = Path(file)
    try:
        return FailSafeLocations(next(known for known in _formats() if known.reads(path)).open(path))
    except OSError as problem:
        raise SettingsError(f"Couldn't read GATEHOUSE_LOCATIONS_FILE: {problem.strerror}.") from None
    except ValueError as problem:
        raise SettingsError(f"GATEHOUSE_LOCATIONS_FILE has no locations: {problem}.") from None


def _formats() -> Iterator[LocationFormat]:
    for entry_point in entry_points(group=GROUP):
        yield entry_point.load()()
    yield from _BUILT_IN
