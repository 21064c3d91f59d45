"""Reads DNS records (RFC 1035), each look-up with a deadline."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from app.kit.settings.parsers import server_address

SECONDS: Final = 3.0
"""Deadline of one look-up, over all servers and retries."""
_MAX_ALIASES: Final = 8


class DnsUnavailable(Exception):
    """No DNS server answered, or each failed."""


class DnsRecords:
    """Looks names up at the given servers, without search domains.

    Args:
        servers: `address`, `address:port` or `[IPv6]:port`; none: the servers of this machine.
    """

    def __init__(self, servers: Iterable[str] = (), seconds: float = SECONDS) -> None:
        self._servers = [server_address(server) for server in servers]
        self._seconds = seconds

    def aliases(self, name: str) -> list[str]:
        """Return the names that the name is an alias of (CNAME), one after the other, in lower case. Raises DnsUnavailable."""
        aliases_seen: list[str] = []
        while len(aliases_seen) < _MAX_ALIASES and (
            targets := self._read(aliases_seen[-1] if aliases_seen else name, "CNAME")
        ):
            target = targets[0].rstrip(".").lower()
            if target in aliases_seen:
                break
            aliases_seen.append(target)
        return aliases_seen

    def texts(self, name: str) -> list[str]:
        """Return the texts (TXT) of a name. Raises DnsUnavailable."""
        return self._read(name, "TXT")

    def mail_servers(self, name: str) -> list[str]:
        """Return the mail servers (MX) of a name; none if it states that it takes no mail (RFC 7505). Raises DnsUnavailable."""
        return [target for target in self._read(name, "MX") if target != "."]

    def _read(self, name: str, kind: str) -> list[str]:
        import dns.exception
        import dns.nameserver
        import dns.rdatatype
        import dns.resolver

        try:
            resolver = dns.resolver.Resolver(configure=not self._servers)
            if self._servers:
                resolver.nameservers = [dns.nameserver.Do53Nameserver(*server) for server in self._servers]
            answer = resolver.resolve(f"{name}.", kind, lifetime=self._seconds, raise_on_no_answer=False, search=False)
        except dns.resolver.NXDOMAIN:
            return []
        except (dns.exception.DNSException, OSError) as problem:
            raise DnsUnavailable(f"{type(problem).__name__}: {problem}") from problem
        if answer.rrset is None:
            return []
        if kind == "TXT":
            return [b"".join(item.strings).decode("utf-8", "replace") for item in answer.rrset]
        if kind == "MX":
            return [item.exchange.to_text() for item in answer.rrset if item.rdtype == dns.rdatatype.MX]
        return [item.target.to_text() for item in answer.rrset if item.rdtype == dns.rdatatype.CNAME]
