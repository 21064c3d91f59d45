"""A directory server as a tenant configures it: its address, how TLS begins, and whose certificates are trusted."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

DEFAULT_PORTS: Final = {"ldaps": 636, "ldap": 389}


@dataclass(frozen=True)
class LdapServer:
    """The address of a directory server. Connections always have TLS: with `ldap` by StartTLS (RFC 4511 section 4.14)."""

    scheme: str  # ldaps or ldap
    host: str
    port: int
    ca_certificates: str = ""  # PEM; empty: the authorities that this machine trusts

    @classmethod
    def of(cls, url: str, ca_certificates: str = "") -> LdapServer:
        """Return the server of an `ldaps://` or `ldap://` URL. Raises ValueError."""
        parts = urlsplit(url)
        if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
            raise ValueError("no LDAP URL")
        return cls(parts.scheme, parts.hostname, parts.port or DEFAULT_PORTS[parts.scheme], ca_certificates)

    @property
    def starts_tls(self) -> bool:
        """Whether TLS begins by an LDAP operation, on the port without TLS."""
        return self.scheme == "ldap"

    def ssl_context(self) -> ssl.SSLContext:
        """Return a context that demands a valid certificate for the host's name. Raises ssl.SSLError, ValueError for wrong PEM."""
        if not self.ca_certificates.isascii():
            raise ValueError("PEM is ASCII")
        return ssl.create_default_context(cadata=self.ca_certificates or None)
