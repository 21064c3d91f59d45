"""Where in the world an address is: asked of nobody, looked up in the operator's own file, or not known at all."""

from __future__ import annotations

import csv
import logging
from bisect import bisect_right
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Protocol

log = logging.getLogger("gatehouse.locations")


@dataclass(frozen=True, slots=True)
class Place:
    """As people name it; empty where that is not known."""

    city: str = ""
    country: str = ""


NOWHERE = Place()


class Locations(Protocol):
    """Tells places."""

    def place_of(self, address: str) -> Place:
        """Return where an address is; never raises, and waits for nobody."""


class Nowhere:
    """Knows no place."""

    def place_of(self, address: str) -> Place:  # noqa: ARG002 - the protocol's signature
        return NOWHERE


class ListedLocations:
    """A file of `network,country,city` lines, such as `203.0.113.0/24,Austria,Linz`; networks do not overlap. It is read once and
    kept in memory: some 100 bytes a line.

    Raises:
        OSError: the file cannot be read.
    """

    def __init__(self, file: Path) -> None:
        found = []
        with file.open(newline="", encoding="utf-8") as lines:
            for number, line in enumerate(csv.reader(lines), 1):
                try:
                    network = ip_network(line[0].strip(), strict=False)
                except (ValueError, IndexError):
                    log.warning("line %d of the file of locations names no network", number)
                    continue
                named = [one.strip() for one in (*line[1:3], "", "")]
                key = (network.version, int(network.network_address))
                found.append((key, int(network.broadcast_address), Place(named[1], named[0])))
        found.sort(key=lambda one: one[0])
        self._begins = [one[0] for one in found]
        self._rest = [one[1:] for one in found]

    def place_of(self, address: str) -> Place:
        try:
            asked = ip_address(address)
        except ValueError:
            return NOWHERE
        at = bisect_right(self._begins, (asked.version, int(asked))) - 1
        if at < 0 or self._begins[at][0] != asked.version:
            return NOWHERE
        end, place = self._rest[at]
        return place if int(asked) <= end else NOWHERE


def locations(file: str) -> Locations:
    """Return what the operator has; a file that cannot be read stops the start."""
    return ListedLocations(Path(file)) if file else Nowhere()
