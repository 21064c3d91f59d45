"""Locations from a text file with lines `network,country,city`, such as `203.0.113.0/24,Austria,Linz`."""

from __future__ import annotations

import csv
import logging
from bisect import bisect_right
from ipaddress import ip_address, ip_network
from pathlib import Path

from app.identity.platform.locations import UNKNOWN_PLACE, Locations, Place

log = logging.getLogger("gatehouse.locations")


class ListFormat:
    """Any text file."""

    def reads(self, file: Path) -> bool:  # noqa: ARG002 - the protocol's signature
        return True

    def open(self, file: Path) -> Locations:
        return ListedLocations(file)


class ListedLocations:
    """Locations of networks that do not overlap, read once and kept in memory: about 100 bytes a line.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no text, or none of its lines names a network.
    """

    def __init__(self, file: Path) -> None:
        found = []
        try:
            lines = list(csv.reader(file.read_text(encoding="utf-8").splitlines()))
        except (UnicodeDecodeError, csv.Error):
            raise ValueError("it is neither a database nor text") from None
        for number, line in enumerate(lines, 1):
            try:
                network = ip_network(line[0].strip(), strict=False)
            except (ValueError, IndexError):
                log.warning("line %d of the file of locations names no network", number)
                continue
            named = [one.strip() for one in (*line[1:3], "", "")]
            key = (network.version, int(network.network_address))
            found.append((key, int(network.broadcast_address), Place(named[1], named[0])))
        if lines and not found:
            raise ValueError("no line of it names a network, as 203.0.113.0/24,Austria,Linz does")
        found.sort(key=lambda one: one[0])
        self._begins = [one[0] for one in found]
        self._rest = [one[1:] for one in found]

    def place_of(self, address: str) -> Place:
        try:
            asked = ip_address(address)
        except ValueError:
            return UNKNOWN_PLACE
        at = bisect_right(self._begins, (asked.version, int(asked))) - 1
        if at < 0 or self._begins[at][0] != asked.version:
            return UNKNOWN_PLACE
        end, place = self._rest[at]
        return place if int(asked) <= end else UNKNOWN_PLACE
