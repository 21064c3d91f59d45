"""The protocol of IP location sources: one module per file format; an operator's package may add another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol


@dataclass(frozen=True, slots=True)
class Place:
    """City and country names; empty if unknown."""

    city: str = ""
    country: str = ""

    @property
    def label(self) -> str:
        """City and country in one line; empty if both are unknown."""
        return ", ".join(part for part in (self.city, self.country) if part)


UNKNOWN_PLACE: Final = Place()


class Locations(Protocol):
    """Finds the place of an IP address."""

    def place_of(self, address: str) -> Place:
        """Return the place of an IPv4 or IPv6 address, or UNKNOWN_PLACE. Must not block, because sign-ins wait for it."""


class LocationFormat(Protocol):
    """A file format of location data."""

    def reads(self, file: Path) -> bool:
        """Return whether the file has this format, by its content. Raises OSError."""

    def open(self, file: Path) -> Locations:
        """Open the file.

        Raises:
            OSError: the file cannot be read.
            ValueError: the file is malformed; the message says how.
        """


class NoLocations:
    """Locations without a data file: every place is unknown."""

    def place_of(self, address: str) -> Place:  # noqa: ARG002 - the protocol's signature
        return UNKNOWN_PLACE
