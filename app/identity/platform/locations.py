"""What every source of places does. One file each behind this protocol; a package of the operator's may bring another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol


@dataclass(frozen=True, slots=True)
class Place:
    """As people name it; empty where that is not known."""

    city: str = ""
    country: str = ""


UNKNOWN_PLACE: Final = Place()


class Locations(Protocol):
    """Tells places."""

    def place_of(self, address: str) -> Place:
        """Return where an address is, IPv4 or IPv6; NOWHERE where that is not known. It waits for nobody: a sign-in waits for it."""


class LocationFormat(Protocol):
    """A kind of file that tells places."""

    def reads(self, file: Path) -> bool:
        """Return whether the file is of this kind, by what stands in it. Raises OSError."""

    def open(self, file: Path) -> Locations:
        """Return what the file tells.

        Raises:
            OSError: the file cannot be read. ValueError: it is broken; the sentence says how.
        """


class NoLocations:
    """Knows no place."""

    def place_of(self, address: str) -> Place:  # noqa: ARG002 - the protocol's signature
        return UNKNOWN_PLACE
