"""Locations from a database in the MaxMind DB format 2.0, such as GeoLite2 City, GeoIP2 City and DB-IP City Lite."""

from __future__ import annotations

import os
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

from app.identity.platform.locations import UNKNOWN_PLACE, Locations, Place

_MARKER: Final = b"\xab\xcd\xefMaxMind.com"
_MAX_FROM_END: Final = 128 * 1024
_LANGUAGE: Final = "en"
"""The same for all visitors, because origins are compared by these names."""


class MaxmindFormat:
    """A file with the format's marker near its end."""

    def reads(self, file: Path) -> bool:
        with file.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - _MAX_FROM_END))
            return _MARKER in stream.read()

    def open(self, file: Path) -> Locations:
        return MaxmindLocations(file)


class MaxmindLocations:
    """A database mapped into memory and shared by all processes.

    Replace the file by renaming a newer one, never by writing into it.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is damaged.
    """

    def __init__(self, file: Path) -> None:
        import maxminddb

        try:
            self._reader = maxminddb.open_database(file)
            self._has_ipv6 = self._reader.metadata().ip_version == 6
        except (maxminddb.InvalidDatabaseError, TypeError):
            raise ValueError("it isn't a complete MaxMind DB file") from None

    def place_of(self, address: str) -> Place:
        try:
            parsed = ip_address(address)
        except ValueError:
            return UNKNOWN_PLACE
        if parsed.version == 6 and not self._has_ipv6:
            return UNKNOWN_PLACE
        record = self._reader.get(parsed)
        return (
            Place(_name(record.get("city")), _name(record.get("country")))
            if isinstance(record, dict)
            else UNKNOWN_PLACE
        )


def _name(stored: Any) -> str:
    """Return the name of a city or a country: databases store it in many languages, in one, or as a code alone."""
    if isinstance(stored, dict):
        names = stored.get("names")
        stored = (names.get(_LANGUAGE) if isinstance(names, dict) else None) or stored.get("iso_code")
    return stored if isinstance(stored, str) else ""
