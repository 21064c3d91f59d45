"""Endpoint × failure: what can happen to each call of a provider, and what the traces of it must have."""

from __future__ import annotations

import gzip
import re
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from app.contract.federation.connection_checks import CallFailure, ConnectionCheck
from app.identity.authentication.federation.connection_traces import ConnectionTrace
from tests.support.fakes.https_receiver import HttpsReceiver, foreign_certificate, server_context, trusted_certificate
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.refused_answers.misdeeds import HTML, METADATA_SERVICE
from tests.support.refused_answers.table import REDIRECTING, is_openid
from tests.support.refused_answers.visits import ORGANIZATION, ProviderVisit

DISCOVERY, KEYS, TOKEN, USERINFO = "discovery", "keys", "token", "userinfo"
EMAILS, INTROSPECTION = "emails", "introspection"
CHECKS: Mapping[str, ConnectionCheck] = MappingProxyType({
    DISCOVERY: ConnectionCheck.DISCOVERY, KEYS: ConnectionCheck.KEYS, TOKEN: ConnectionCheck.TOKEN_ENDPOINT,
    USERINFO: ConnectionCheck.USERINFO, EMAILS: ConnectionCheck.EMAILS, INTROSPECTION: ConnectionCheck.INTROSPECTION,
})  # fmt: skip
UNKNOWN_HOST, INWARD_HOST = "nowhere.invalid", "inward.example"
_F = CallFailure


@dataclass(frozen=True)
class HttpFailure:
    """One thing that an answer can be, and the words of its trace.

    Attributes:
        status, headers, body: of the answer.
    """

    failure: CallFailure
    expected: str
    received: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b"{}"


BOMB = gzip.compress(b" " * 10_000_000)
HTTP_FAILURES: Mapping[str, HttpFailure] = MappingProxyType({
    "HTML": HttpFailure(_F.HTML, "a JSON", "an HTML page", *HTML),
    "10 MB": HttpFailure(_F.TOO_LONG, "at most 256 kB", "an answer of more than 256 kB", body=b"{}" + b" " * 10_000_000),
    "packed": HttpFailure(
        _F.PACKED, "an answer that isn’t compressed", "an answer compressed by gzip", 200, {"Content-Encoding": "gzip"}, BOMB
    ),
    "redirect": HttpFailure(
        _F.REDIRECTED, "without a redirect", "HTTP 302, a redirect to http://169.254.169.254/latest/meta-data/", 302,
        {"Location": METADATA_SERVICE},
    ),
    "redirect with secrets": HttpFailure(
        _F.REDIRECTED, "without a redirect", "HTTP 307, a redirect to https://login.example/start?…", 307,
        {"Location": "https://user:pass@login.example/start?code=the-secret#token"},
    ),
    "closed early": HttpFailure(
        _F.CLOSED, "a complete answer", "the connection was closed before the answer was complete", headers={"Content-Length": "9"}
    ),
    "500": HttpFailure(_F.SERVER_ERROR, "the status 200", "HTTP 500", 500),
    "503 with HTML": HttpFailure(_F.SERVER_ERROR, "the status 200", "HTTP 503", 503, *HTML[1:]),
    "404": HttpFailure(_F.NOT_FOUND, "the status 200", "HTTP 404", 404),
    "429": HttpFailure(_F.TOO_MANY, "the status 200", "HTTP 429", 429),
    "403": HttpFailure(_F.REFUSED_STATUS, "the status 200", "HTTP 403", 403),
    "list": HttpFailure(_F.WRONG_TYPE, "a JSON object", "JSON that is a list", body=b"[]"),
    "null": HttpFailure(_F.WRONG_TYPE, "a JSON object", "JSON that is null", body=b"null"),
    "empty": HttpFailure(_F.EMPTY, "a JSON", "an empty answer", body=b" "),
    "text": HttpFailure(_F.NOT_JSON, "a JSON", "11 bytes that aren’t JSON", body=b"Hello world"),
    "deep": HttpFailure(_F.NOT_JSON, "a JSON", "100000 bytes that aren’t JSON", body=b"[" * 100_000),
})  # fmt: skip
OF_ANY_JSON = ("list", "null")
"""What is no failure where JSON of any type is read: the list of addresses, of which anything else has none."""
SLOW = ("an answer within 1 second", "no complete answer within 1 second")
SLOW_KINDS = ("google", "github", "wechat", "qq", ORGANIZATION)
"""One for each way in which calls are made: each waits for a deadline."""
MOVED: Mapping[CallFailure, tuple[str, str]] = MappingProxyType({
    _F.CONNECTION_REFUSED: ("a connection", "the connection was refused"),
    _F.UNKNOWN_HOST: ("a host name with an address", "the host name has no address"),
    _F.INWARD_ADDRESS: ("a public address", "an address that is not public"),
    _F.CERTIFICATE: ("a certificate of a trusted authority", "a certificate that isn’t trusted: "),
    _F.TLS: ("TLS 1.2", "no encrypted connection: TLS failed"),
    _F.NOT_HTTP: ("an HTTP answer", "an answer that isn’t HTTP"),
})  # fmt: skip
"""What happens where the address of an endpoint leads elsewhere."""


def address_of(failure: CallFailure, fake: FakeProvider, portal: HttpsReceiver) -> str:
    """Return an address at which a call fails so."""
    is_trusted = failure is not _F.CERTIFICATE
    portal.context = server_context(trusted_certificate() if is_trusted else foreign_certificate())
    if failure is _F.NOT_HTTP:
        portal.sends(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
    return {
        _F.CONNECTION_REFUSED: f"http://provider.localhost:{closed_port()}/x",
        _F.UNKNOWN_HOST: f"https://{UNKNOWN_HOST}/x",
        _F.INWARD_ADDRESS: f"https://{INWARD_HOST}/x",
        _F.CERTIFICATE: portal.url("/x"),
        _F.NOT_HTTP: portal.url("/x"),
        _F.TLS: f"{fake.url}/x".replace("http://", "https://"),
    }[failure]


def resolve(host: str, port: int, **_: Any) -> Sequence[tuple[Any, ...]]:
    """Look one of these names up."""
    if host == UNKNOWN_HOST:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")
    assert host == INWARD_HOST
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", port))]


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def endpoints_of(kind: str) -> tuple[str, ...]:
    """Return what is called for a sign-in at a kind of provider."""
    if is_openid(kind):
        return DISCOVERY, TOKEN, KEYS, USERINFO
    return TOKEN, USERINFO, *{"github": (EMAILS,), "qq": (INTROSPECTION,)}.get(kind, ())


def table() -> list[tuple[str, str]]:
    return [(kind, endpoint) for kind in REDIRECTING for endpoint in endpoints_of(kind)]


def movable() -> list[tuple[str, str]]:
    """Return the kinds and endpoints whose address the tenant or the discovery document names."""
    return [(kind, endpoint) for kind, endpoint in table() if kind != ORGANIZATION]


def path_of(visit: ProviderVisit, endpoint: str) -> str:
    upstream: Any = visit.provider.upstream
    if is_openid(visit.provider.name):
        paths = {DISCOVERY: "/.well-known/openid-configuration", TOKEN: "/token", KEYS: "/keys", USERINFO: "/userinfo"}
        return paths[endpoint]
    paths = {TOKEN: upstream.token_path, USERINFO: upstream.profile_path, EMAILS: "/user/emails"}
    return str({**paths, INTROSPECTION: upstream.subject_path}[endpoint])


_MEMBERS = {
    TOKEN: "token_endpoint", KEYS: "jwks_uri", USERINFO: "userinfo_endpoint", EMAILS: "emails_endpoint",
    INTROSPECTION: "introspection_endpoint", DISCOVERY: "issuer",
}  # fmt: skip


def move(visit: ProviderVisit, endpoint: str, address: str) -> None:
    """Let the endpoint be at another address."""
    member = _MEMBERS[endpoint]
    if is_openid(visit.provider.name) and endpoint != DISCOVERY:
        visit.fake.metadata = {**visit.fake.metadata, member: address}
        return
    changed = {**visit.provider.connection, member: address}
    visit.world.change_settings(connections={visit.name: changed})


def class_names() -> frozenset[str]:
    """Return the names of all exception classes that are loaded, except those that are a word, such as `error` of zlib."""
    return frozenset(found.__name__ for found in _below(BaseException) if not found.__name__.islower())


def classes_in(texts: Iterable[str]) -> list[str]:
    """Return the names of exception classes that texts have."""
    return sorted({word for text in texts for word in re.findall(r"\w+", text)} & class_names())


def _below(of: type[BaseException]) -> Iterator[type[BaseException]]:
    for found in of.__subclasses__():
        yield found
        yield from _below(found)


def faults(
    trace: ConnectionTrace, check: ConnectionCheck, failure: CallFailure, expected: str, received: str
) -> list[str]:
    """Return what is wrong with a trace; empty if all its texts are plain words about this failure of this check."""
    texts = {
        "problem": trace.diagnosis.problem, "expected": trace.expected, "received": trace.received,
        "advice": trace.diagnosis.advice,
    }  # fmt: skip
    wrong = [f"no {name}" for name, text in texts.items() if not text.strip()]
    wrong += [f"the class {word}" for word in classes_in(texts.values())]
    found = (trace.failed_check, trace.cause)
    wrong += [f"{found}"] if found != (check, failure) else []
    wrong += [f"expected: {trace.expected}"] if expected not in trace.expected else []
    wrong += [f"received: {trace.received}"] if received not in trace.received else []
    return wrong
