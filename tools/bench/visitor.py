"""A person's browser, as far as the bench needs one: a kept connection, cookies, forms."""

import gzip
import http.client
import time
import zlib
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

FORM = "application/x-www-form-urlencoded"


class Unexpected(Exception):
    """The product did not do what the row is about; a row that raises it is not measured."""


IDLE_SECONDS = 2.0
"""A connection without requests for longer is not used again: the server closes it while others are measured."""


@dataclass(frozen=True)
class MeasuredResponse:
    """One response, its body as it came over the wire."""

    path: str
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        encoding = self.headers.get("Content-Encoding", "")
        body = self.body
        if encoding == "gzip":
            body = gzip.decompress(body)
        elif encoding == "deflate":
            body = zlib.decompress(body)
        elif encoding:
            raise Unexpected(f"{self.path} came back in an unrequested encoding: {encoding}")
        return body.decode()

    @property
    def location(self) -> str:
        """Where a redirect leads."""
        return self.headers.get("Location", "")

    def expect(self, *statuses: int) -> Self:
        """Return itself, if it has one of `statuses`."""
        if self.status not in statuses:
            raise Unexpected(f"{self.path} answered {self.status}, not {statuses}: {self.text[:300]!r}")
        return self


class BenchVisitor:
    """One browser at one host; the connection goes to 127.0.0.1, since `*.localhost` resolves in few places."""

    def __init__(self, port: int, host: str) -> None:
        self.cookies: dict[str, str] = {}
        self.costs: dict[str, int] = {}
        """The sum of the responses' X-Gatehouse-Cost."""
        self._port = port
        self._host = host
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._answered_at = 0.0

    def another(self) -> "BenchVisitor":
        """The same host, seen for the first time."""
        return BenchVisitor(self._port, self._host)

    def close(self) -> None:
        self._connection.close()

    def get(self, path: str, **fields: str) -> MeasuredResponse:
        return self.ask("GET", path, b"", fields)

    def post(self, path: str, form: dict[str, str], **fields: str) -> MeasuredResponse:
        fields.setdefault("Content-Type", FORM)
        fields.setdefault("Origin", f"http://{self._host}")
        return self.ask("POST", path, urlencode(form).encode(), fields)

    def follow(self, answer: MeasuredResponse) -> MeasuredResponse:
        """Go where redirects lead, as long as that is here."""
        for _ in range(10):
            if answer.status not in (302, 303, 307) or not self._is_here(answer.location):
                return answer
            answer = self.get(path_of(answer.location))
        raise Unexpected(f"{answer.path} redirects without end")

    def ask(self, method: str, path: str, body: bytes, fields: dict[str, str]) -> MeasuredResponse:
        headers = {"Host": self._host, "Accept": "text/html,*/*;q=0.8", "Accept-Language": "en", **fields}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if time.monotonic() - self._answered_at > IDLE_SECONDS:
            self._connection.close()  # http.client opens it anew
        self._connection.request(method, path, body or None, headers)
        response = self._connection.getresponse()
        answer = MeasuredResponse(path, response.status, response.headers, response.read())
        self._answered_at = time.monotonic()
        self.take(answer)
        return answer

    def take(self, answer: MeasuredResponse) -> None:
        """Keep what an answer leaves behind: cookies, and its reported cost."""
        self._take_cookies(answer)
        self._count(answer)

    def _is_here(self, location: str) -> bool:
        netloc = urlsplit(location).netloc
        return not netloc or netloc == self._host

    def _take_cookies(self, answer: MeasuredResponse) -> None:
        for line in answer.headers.get_all("Set-Cookie", []):
            pair, *attributes = line.split(";")
            name, _, value = pair.strip().partition("=")
            ends = {attribute.strip().lower() for attribute in attributes}
            if not value or "max-age=0" in ends:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value

    def _count(self, answer: MeasuredResponse) -> None:
        for part in answer.headers.get("X-Gatehouse-Cost", "").split(";"):
            name, equals, number = part.strip().partition("=")
            if equals:
                self.costs[name] = self.costs.get(name, 0) + int(number)


def path_of(address: str) -> str:
    """The part of an address that is asked for."""
    parts = urlsplit(address)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


@dataclass
class BenchForm:
    """A form of a page: its address, its hidden values, and the names of its fields by type and autocomplete."""

    action: str = ""
    carried: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def with_values(self, **values: str) -> dict[str, str]:
        """Return the fields to send; `values` go by the field's autocomplete or type, `current_password="..."`."""
        provided = {self._name(key): value for key, value in values.items()}
        return {**self.carried, **provided}

    def _name(self, key: str) -> str:
        requested = key.replace("_", "-")
        if requested not in self.names:
            raise Unexpected(f"the form has no {requested} field, only {sorted(self.names)}")
        return self.names[requested]


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[BenchForm] = []
        self.linked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        provided: dict[str, Any] = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append(
                BenchForm(provided.get("action", "") if provided.get("method", "").lower() == "post" else "GET")
            )
        elif tag in {"input", "button"} and self.found and provided.get("name"):
            self._field(self.found[-1], provided)
        linked = provided.get("src") if tag in {"script", "img"} else provided.get("href") if tag == "link" else None
        if linked and provided.get("rel") not in {"canonical", "alternate"}:
            self.linked.append(linked)

    def _field(self, form: BenchForm, provided: dict[str, Any]) -> None:
        if provided.get("type") == "hidden":
            form.carried[provided["name"]] = provided.get("value", "")
            return
        for token in [provided.get("type", "text"), *provided.get("autocomplete", "").split()]:
            form.names.setdefault(token, provided["name"])


def form_of(page: MeasuredResponse, with_field: str) -> BenchForm:
    """The form of `page` that has a field of this type or autocomplete."""
    for form in _parsed(page).found:
        if with_field in form.names and form.action != "GET":
            form.action = path_of(form.action) if form.action else page.path
            return form
    raise Unexpected(f"{page.path} has no form with a {with_field} field")


def linked_from(page: MeasuredResponse) -> list[str]:
    """What a browser fetches to draw `page`, inline data left out."""
    return list(dict.fromkeys(link for link in _parsed(page).linked if not link.startswith("data:")))


def _parsed(page: MeasuredResponse) -> _Forms:
    parser = _Forms()
    parser.feed(page.text)
    return parser
