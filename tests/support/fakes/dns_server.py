"""A DNS server of the test: answers CNAME, MX and TXT questions over UDP from a dictionary. pytest loads it as a plugin."""

from __future__ import annotations

import re
import socketserver
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from app.identity.platform.services import IdentityServices


@dataclass
class FakeDns:
    """The records of a server: texts in zone file form by name and type."""

    records: dict[tuple[str, str], str] = field(default_factory=dict)
    is_silent: bool = False
    questions: int = 0
    port: int = 0

    def answer(self, wire: bytes) -> bytes:
        question = dns.message.from_wire(wire)
        self.questions += 1
        response = dns.message.make_response(question)
        response.flags |= dns.flags.RA
        requested = question.question[0]
        name, kind = requested.name.to_text(omit_final_dot=True).lower(), dns.rdatatype.to_text(requested.rdtype)
        if (text := self.records.get((name, kind))) is not None:
            response.answer.append(dns.rrset.from_text(requested.name, 60, "IN", kind, *_records(kind, text)))
        elif not any(known == name for known, _ in self.records):
            response.set_rcode(dns.rcode.NXDOMAIN)
        return response.to_wire()

    def alias(self, name: str, target: str) -> None:
        """Make the name an alias."""
        self.records[name, "CNAME"] = f"{target}."

    def text(self, name: str, text: str) -> None:
        self.records[name, "TXT"] = f'"{text}"'

    def several_texts(self, name: str, texts: str) -> None:
        """State several TXT records, each in quotes."""
        self.records[name, "TXT"] = texts

    def mail_server(self, name: str, server: str = "mx.example") -> None:
        self.records[name, "MX"] = f"10 {server}."


def _records(kind: str, text: str) -> list[str]:
    return re.findall(r'"[^"]*"', text) if kind == "TXT" else [text]


@pytest.fixture
def fake_dns(services: IdentityServices) -> Iterator[FakeDns]:
    """The DNS server that the identity service asks."""
    made = FakeDns()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            wire, socket = self.request
            if not made.is_silent:
                socket.sendto(made.answer(wire), self.client_address)

    with socketserver.ThreadingUDPServer(("127.0.0.1", 0), Handler) as server:
        made.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        services.settings = replace(services.settings, dns_servers=(f"127.0.0.1:{made.port}",))
        yield made
        server.shutdown()
