"""A test client for the hub's pages: open addresses, read, fill in forms, press buttons. pytest loads it as a plugin."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import pytest
from flask import Flask
from werkzeug.test import Client, Cookie, TestResponse

from app.identity.platform.services import IdentityServices
from app.kit.operations.server import OperationServer
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import World
from tests.support.plugins.over_http import is_over_http, make_hub
from tests.support.visitors.plain_client import PlainClient

MAX_HOPS = 8


@dataclass
class Form:
    """A form of a page: action, fields, and buttons (label -> name and value)."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    buttons: dict[str, tuple[str, str]] = field(default_factory=dict)
    id: str = ""
    actions: dict[str, str] = field(default_factory=dict)
    """The own address (`formaction`) of buttons that have one, by label."""


class Forms:
    """The forms of a page. Reading their tags alone takes a tenth of the time of a parser that reads the page."""

    def __init__(self, html: str) -> None:
        self.found: list[Form] = []
        other: list[tuple[str, str, tuple[str, str], str]] = []
        for tag in _TAGS.finditer(html):
            values = {name.lower(): unescape(value) for name, value in _ATTRIBUTES.findall(tag["attributes"])}
            if tag["name"] == "form":
                method = values.get("method", "get").lower()
                self.found.append(Form(values.get("action", ""), method, id=values.get("id", "")))
            elif tag["name"] == "input":
                self._add_field(values)
            elif values.get("type") == "submit" and not values.get("aria-hidden"):
                button = values.get("name", ""), values.get("value", "")
                text = _TEXT.search(html, tag.end() - 1)
                for label in filter(None, (values.get("aria-label"), text and unescape(text[1]).strip())):
                    if owner := values.get("form"):  # the form that it names, wherever that stands
                        other.append((owner, label, button, values.get("formaction", "")))
                    elif self.found:
                        self.found[-1].buttons[label] = button
        for owner, label, button, action in other:
            for form in (form for form in self.found if form.id == owner):
                form.buttons[label] = button
                form.actions[label] = action or form.action

    def _add_field(self, values: dict[str, str]) -> None:
        is_chosen = values.get("type") != "checkbox" and (values.get("type") != "radio" or "checked" in values)
        if is_chosen and self.found and values.get("name"):
            self.found[-1].fields[values["name"]] = values.get("value", "")


_TAGS = re.compile(r'<(?P<name>form|input|button)(?P<attributes>(?:\s[^">]*(?:"[^"]*"[^">]*)*)?)>')
_ATTRIBUTES = re.compile(r'([^\s="/>]+)(?:="([^"]*)")?')
_TEXT = re.compile(r">([^<]*[^<\s][^<]*)<")


class ButtonMissing(AssertionError):
    """A page without the button or link that a visitor looks for."""

    def __init__(self, page: VisitedPage, button: str) -> None:
        super().__init__(f"{button} is not on {page.address}: {page.text}")
        self.page = page


@dataclass
class VisitedPage:
    """A page as the visitor sees it."""

    visitor: Visitor
    address: str
    answer: TestResponse | None

    @property
    def status(self) -> int:
        return self.answer.status_code if self.answer else 0

    @property
    def html(self) -> str:
        return self.answer.text if self.answer else ""

    @property
    def title(self) -> str:
        return unescape(re.findall(r"<title>(.*?)</title>", self.html, re.DOTALL)[0])

    @property
    def topic(self) -> str:
        """Return the title without the name of the tenant."""
        return self.title.partition(" · ")[0]

    @property
    def heading(self) -> str:
        return words(re.findall(r"<h1.*?</h1>", self.html, re.DOTALL)[0])

    @property
    def profile_name(self) -> str:
        """The name or the identifier that the profile page shows for its account; empty on other pages."""
        found = re.search(r'class="who".*?<h2>(.*?)</h2>', self.html, re.DOTALL)
        return words(found[1]) if found else ""

    @property
    def is_sign_in(self) -> bool:
        """Return whether this is the sign-in page, whose heading differs in a browser that signed in before."""
        return self.heading.startswith(("Sign in to ", "Welcome back"))

    @property
    def text(self) -> str:
        """Return the text of the page's body."""
        return words(self.html.partition("<body")[2])

    def comparable_text(self, but_for: str = "") -> str:
        """Return the text without an identifier, countdowns and the number of the page, so that two visits compare equal."""
        text = re.sub(r"(?<=Enter this number there: )\d\d\b", "NN", self.text.replace("\u00a0", " "))
        text = re.sub(r"\d+:\d\d(:\d\d)?(\s[AP]M)? UTC", "then", text)
        return re.sub(r"\d+ seconds?", "a while", text.replace(but_for, "") if but_for else text)

    @property
    def language(self) -> str:
        return str(re.findall(r'<html lang="([\w-]+)"', self.html)[0])

    @property
    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.address).query).items()}

    @property
    def cost(self) -> dict[str, int]:
        stored = self.answer.headers.get("X-Gatehouse-Cost", "") if self.answer else ""
        return {name: int(count) for name, count in (part.split("=") for part in stored.split("; ") if part)}

    def form(self, button: str) -> Form:
        """Return the form with this button, which must be there."""
        found = next((form for form in Forms(self.html).found if button in form.buttons), None)
        if found is None:
            raise ButtonMissing(self, button)
        return found

    def press(self, button: str, **typed: str) -> VisitedPage:
        """Type into the fields and press a button; redirects within the hub are followed."""
        form = self.form(button)
        name, value = form.buttons[button]
        sent = {**form.fields, **typed, **({name: value} if name else {})}
        address = form.actions.get(button, form.action)
        return self.visitor.send(form.method.upper(), urljoin(self.address, address), sent)

    def sign_in(self, identifier: str, password: str) -> VisitedPage:
        """Sign in with a password, on one page or, where the identifier comes first, in two steps."""
        return self.at_password(identifier).press("Sign in", identifier=identifier, password=password)

    def at_password(self, identifier: str) -> VisitedPage:
        """Return this page if it asks for the password, else the one after the identifier."""
        is_whole = any("Sign in" in form.buttons for form in Forms(self.html).found)
        return self if is_whole else self.press("Continue", identifier=identifier)

    def follow(self, text: str, **typed: str) -> VisitedPage:
        """Follow the link with this text, or the button that looks like one and takes along what was typed."""
        links = re.findall(r'<a[^>]* href="([^"]+)"[^>]*>(.*?)</a>', self.html)
        address = next((href for href, shown in links if words(shown) == text), None)
        if address is None:
            return self.press(text, **typed)
        return self.visitor.open(urljoin(self.address, unescape(address)))


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html.replace("<wbr>", ""))).split())


@dataclass
class Visitor:
    """A browser at one tenant."""

    client: Client
    home: str
    """The address of the tenant's host."""
    language: str = "en"
    agent: str = "Mozilla/5.0 (X11; Linux) Firefox/140.0"

    def open(self, address: str, **headers: str) -> VisitedPage:
        return self.send("GET", urljoin(self.home, address), None, **headers)

    def send(self, method: str, address: str, sent: dict[str, Any] | None, **headers: str) -> VisitedPage:
        """Send a request and follow redirects within the tenant."""
        for _hop in range(MAX_HOPS):
            if not address.startswith(self.home + "/"):
                return VisitedPage(self, address, None)
            answer = self.client.open(
                address[len(self.home) :], method=method, base_url=self.home, data=sent,
                headers={"Accept-Language": self.language, "User-Agent": self.agent, **headers},
            )  # fmt: skip
            if answer.status_code not in (302, 303):
                return VisitedPage(self, address, answer)
            address, method, sent = urljoin(address, answer.headers["Location"]), "GET", None
        raise AssertionError(f"redirects without end: {address}")

    def post_from_elsewhere(self, path: str, sent: dict[str, Any]) -> VisitedPage:
        """Post a form from another site: the browser holds back its cookies (`SameSite=Lax`), and follows the redirect with them."""
        kept = dict(self.client._cookies or {})
        self.client._cookies = {}
        try:
            answer = self.client.open(
                path, method="POST", base_url=self.home, data=sent,
                headers={
                    "Accept-Language": self.language, "User-Agent": self.agent, "Origin": "https://elsewhere.example",
                    "Sec-Fetch-Site": "cross-site",
                },
            )  # fmt: skip
        finally:
            self.client._cookies = {**kept, **(self.client._cookies or {})}
        address = urljoin(f"{self.home}{path}", answer.headers.get("Location", ""))
        return self.open(address) if answer.status_code == 303 else VisitedPage(self, f"{self.home}{path}", answer)

    def calls_for(self, path: str, status: int) -> int:
        """Open the address of a file, which answers with this status; return the calls of the hub."""
        answer = self.client.get(path, base_url=self.home)
        assert answer.status_code == status
        return int(answer.headers["X-Gatehouse-Cost"].partition(";")[0].removeprefix("api="))

    def authorize(self, app: RelyingParty, **changed: str | None) -> VisitedPage:
        """Open an application's authorization request."""
        parameters = {
            name: value for name, value in app.authorization_parameters(**changed).items() if value is not None
        }
        path = f"/service/{app.protocol}/{app.app}/authorize" if app.app else "/service/oidc/authorize"
        return self.open(f"{path}?{urlencode(parameters)}")

    def cookies(self, part: str) -> list[str]:
        """Return the names of stored cookies that contain this text."""
        return [cookie.key for cookie in (self.client._cookies or {}).values() if part in cookie.key]

    def cookie(self, part: str) -> Cookie:
        """Return the stored cookie whose name contains this text."""
        return next(item for item in (self.client._cookies or {}).values() if part in item.key)

    def session_cookie(self) -> str:
        """Return the value of the session cookie."""
        return self.cookie("session").value

    def set_session_cookie(self, text: str) -> None:
        """Set a session cookie, such as a stolen one."""
        self.client.set_cookie("gatehouse-session", text, domain=self.home.partition("://")[2].partition(":")[0])

    def forget(self, part: str) -> None:
        """Delete the cookies whose names contain this text."""
        stored = self.client._cookies or {}
        for key in [key for key, cookie in stored.items() if part in cookie.key]:
            del stored[key]


_HUBS: dict[tuple[int, bool], tuple[OperationServer, Flask]] = {}


@pytest.fixture
def hub_app(request: pytest.FixtureRequest, services: IdentityServices, identity_app: OperationServer) -> Flask:
    """Return the hub over this identity service, in one process; created once for each kind of calls."""
    over_http = is_over_http(request.path, is_all=request.config.getoption("--over-http"))
    key = id(identity_app), over_http
    if key not in _HUBS:
        _HUBS[key] = identity_app, make_hub(services, identity_app, over_http=over_http)
    return _HUBS[key][1]


NewVisitor = Callable[[], Visitor]
NewVisitorAt = Callable[[World], Visitor]


@pytest.fixture
def new_visitor(hub_app: Flask, world: World) -> NewVisitor:
    """Return a function that opens a new browser at the tenant."""
    return lambda: Visitor(PlainClient(hub_app), world.services.settings.hub_url(world.name))


@pytest.fixture
def new_visitor_at(hub_app: Flask) -> NewVisitorAt:
    """Return a function that opens a new browser at any tenant."""
    return lambda world: Visitor(PlainClient(hub_app), world.services.settings.hub_url(world.name))


@pytest.fixture
def visitor(new_visitor: NewVisitor) -> Visitor:
    return new_visitor()


def is_empty_with_focus(page: VisitedPage, name: str) -> bool:
    """Return whether a field is empty and takes the focus without a script: the typed value is all that is sent."""
    found = re.search(rf'<input[^>]* name="{name}"[^>]*>', page.html)
    if found is None:
        return False
    value = re.search(r' value="([^"]+)"', found[0])
    return value is None and " autofocus" in found[0]
