"""A visitor of the hub's pages without a browser: follows redirects, fills in forms, keeps cookies."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from html.parser import HTMLParser
from types import TracebackType
from typing import Self
from urllib.parse import urljoin

import httpx

MAX_STEPS = 12


@dataclass
class ProviderForm:
    """A form of a page with the values of its fields."""

    action: str
    method: str
    values: dict[str, str] = field(default_factory=dict)


class FormReader(HTMLParser):
    """Collects a page's forms."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[ProviderForm] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(ProviderForm(attributes.get("action", ""), attributes.get("method", "get").lower()))
        elif (
            tag in ("input", "button")
            and self.forms
            and "name" in attributes
            and attributes.get("type") not in ("checkbox", "radio")
        ):
            self.forms[-1].values.setdefault(attributes["name"], attributes.get("value", ""))


class ConformanceVisitor:
    """An account holder with the cookies that a browser would keep."""

    def __init__(self, identifier: str, password: str, trust: ssl.SSLContext | bool = True) -> None:
        self._answers = {"identifier": identifier, "password": password}
        self._http = httpx.Client(timeout=30, verify=trust)
        self._cookies: dict[str, str] = {}
        self.pages: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def arrive(self, address: str, until: str) -> str:
        """Open the address and submit each form until redirected to an address that begins with `until`; return that address."""
        answer = self._send("GET", address)
        for _ in range(MAX_STEPS):
            if answer.is_redirect:
                target = urljoin(str(answer.url), answer.headers["location"])
                if target.startswith(until):
                    return target
                answer = self._send("GET", target)
                continue
            assert answer.status_code == 200, f"{answer.url} answered {answer.status_code}: {answer.text[:800]}"
            answer = self._fill_in(answer)
        raise AssertionError(f"no redirect to {until}")

    def _fill_in(self, page: httpx.Response) -> httpx.Response:
        reader = FormReader()
        reader.feed(page.text)
        others = ("/locale", "/switch-account")
        form = next(
            (item for item in reader.forms if item.method == "post" and not item.action.startswith(others)), None
        )
        assert form is not None, f"{page.url} has no form: {page.text[:800]}"
        self.pages.append(page.url.path)
        known = {name: value for name, value in self._answers.items() if name in form.values}
        return self._send("POST", urljoin(str(page.url), form.action or str(page.url)), {**form.values, **known})

    def _send(self, method: str, address: str, form: dict[str, str] | None = None) -> httpx.Response:
        headers = (
            {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())} if self._cookies else {}
        )
        if form is not None:
            url = httpx.URL(address)
            headers["Origin"] = f"{url.scheme}://{url.netloc.decode()}"
        answer = self._http.request(method, address, data=form, headers=headers)
        for text in answer.headers.get_list("set-cookie"):
            name, _, rest = text.partition("=")
            value, _, attributes = rest.partition(";")
            if "max-age=0" in attributes.lower() or "1970" in attributes:
                self._cookies.pop(name.strip(), None)
            else:
                self._cookies[name.strip()] = value
        self._http.cookies.clear()
        return answer
