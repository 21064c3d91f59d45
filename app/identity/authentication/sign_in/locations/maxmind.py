"""Places by a database in the MaxMind DB format (version 2.0): GeoLite2 City, GeoIP2 City, DB-IP City Lite and their like."""

from __future__ import annotations

import os
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

import maxminddb

from app.identity.platform.locations import UNKNOWN_PLACE, Locations, Place

_MARKER: Final = b"\xab\xcd\xefMaxMind.com"
_MAX_FROM_END: Final = 128 * 1024
_LANGUAGE: Final = "en"
"""One for all: from where an account signed in is compared by its name."""


class MaxmindFormat:
    """A file that has the format's mark near its end."""

    def reads(self, file: Path) -> bool:
        with file.open("rb") as held:
            held.seek(max(0, held.seek(0, os.SEEK_END) - _MAX_FROM_END))
            return _MARKER in held.read()

    def open(self, file: Path) -> Locations:
        return MaxmindLocations(file)


class MaxmindLocations:
    """The file is mapped into memory, once for all processes: put a newer one in its place by renaming it, never by writing into it.

    Raises:
        OSError: the file cannot be read. ValueError: it is broken.
    """

    def __init__(self, file: Path) -> None:
        try:
            self._reader = maxminddb.open_database(file)
            self._has_ipv6 = self._reader.metadata().ip_version == 6
        except (maxminddb.InvalidDatabaseError, TypeError):
            raise ValueError("it is no whole database of the MaxMind DB format") from None

    def place_of(self, address: str) -> Place:
        try:
            asked = ip_address(address)
        except ValueError:
            return UNKNOWN_PLACE
        if asked.version == 6 and not self._has_ipv6:
            return UNKNOWN_PLACE
        record = self._reader.get(asked)
        return (
            Place(_name(record.get("city")), _name(record.get("country")))
            if isinstance(record, dict)
            else UNKNOWN_PLACE
        )


def _name(told: Any) -> str:
    """Return the name of a city or a country: some databases tell it in many languages, others in one, some by a code alone."""
    if isinstance(told, dict):
        names = told.get("names")
        told = (names.get(_LANGUAGE) if isinstance(names, dict) else None) or told.get("iso_code")
    return told if isinstance(told, str) else ""
