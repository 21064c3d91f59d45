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
    """Reads any file as text."""

    def reads(self, file: Path) -> bool:  # noqa: ARG002 - the protocol's signature
        return True

    def open(self, file: Path) -> Locations:
        return ListedLocations(file)


class ListedLocations:
    """Locations of networks that do not overlap, read once and kept in memory: about 100 bytes a line.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is not text, or no line names a network.
    """

    def __init__(self, file: Path) -> None:
        entries = []
        try:
            lines = list(csv.reader(file.read_text(encoding="utf-8").splitlines()))
        except (UnicodeDecodeError, csv.Error):
            raise ValueError("it's neither a MaxMind DB nor a text file") from None
        for number, line in enumerate(lines, 1):
            try:
                network = ip_network(line[0].strip(), strict=False)
            except (ValueError, IndexError):
                log.warning("line %d of the file of locations names no network", number)
                continue
            fields = [text.strip() for text in (*line[1:3], "", "")]
            key = (network.version, int(network.network_address))
            entries.append((key, int(network.broadcast_address), Place(fields[1], fields[0])))
        if lines and not entries:
            raise ValueError("none of its lines looks like 203.0.113.0/24,Austria,Linz")
        entries.sort(key=lambda entry: entry[0])
        self._starts = [entry[0] for entry in entries]
        self._ends = [entry[1:] for entry in entries]

    def place_of(self, address: str) -> Place:
        try:
            parsed = ip_address(address)
        except ValueError:
            return UNKNOWN_PLACE
        at = bisect_right(self._starts, (parsed.version, int(parsed))) - 1
        if at < 0 or self._starts[at][0] != parsed.version:
            return UNKNOWN_PLACE
        end, place = self._ends[at]
        return place if int(parsed) <= end else UNKNOWN_PLACE
