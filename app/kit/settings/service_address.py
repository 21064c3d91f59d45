"""Addresses of other programs in the settings."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from app.kit.settings.parsers import SettingsError

PORTS = range(1, 65_536)


@dataclass(frozen=True)
class ServiceAddress:
    """The address of another program: allowed schemes, and whether a host is required."""

    name: str
    url: str
    schemes: tuple[str, ...]
    like: str
    hostless: tuple[str, ...] = ("inbox", "unix")

    def check(self) -> None:
        """Raise SettingsError if the address is malformed."""
        scheme = self.url.partition(":")[0].lower()
        if self.url and (
            scheme not in self.schemes
            or not has_port(self.url)
            or not (scheme in self.hostless or urlsplit(self.url).hostname)
        ):
            raise SettingsError(f"{self.name} must be {self.like}.")


def has_port(url: str) -> bool:
    """Return whether the port is absent or valid."""
    try:
        port = urlsplit(url).port
    except ValueError:
        return False
    return port is None or port in PORTS
