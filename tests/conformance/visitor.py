"""A person at the pages, without a browser: follows redirects, reads forms, fills them in, keeps cookies."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from types import TracebackType
from typing import Self
from urllib.parse import urljoin

import httpx

MOST_STEPS = 12


@dataclass
class Form:
    """One form of a page, with what its fields hold."""

    action: str
    method: str
    values: dict[str, str] = field(default_factory=dict)


class Reader(HTMLParser):
    """Collects a page's forms."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(held.get("action", ""), held.get("method", "get").lower()))
        elif (
            tag in ("input", "button")
            and self.forms
            and "name" in held
            and held.get("type") not in ("checkbox", "radio")
        ):
            self.forms[-1].values.setdefault(held["name"], held.get("value", ""))


class Visitor:
    """Somebody with an account, and a jar of cookies that browsers would keep."""

    def __init__(self, identifier: str, password: str) -> None:
        self._answers = {"identifier": identifier, "password": password}
        self._http = httpx.Client(timeout=30)
        self._cookies: dict[str, str] = {}
        self.pages: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def arrive(self, address: str, until: str) -> str:
        """Open the address and go on, form by form, until sent to an address that begins with `until`; return that one."""
        answer = self._send("GET", address)
        for _ in range(MOST_STEPS):
            if answer.is_redirect:
                target = urljoin(str(answer.url), answer.headers["location"])
                if target.startswith(until):
                    return target
                answer = self._send("GET", target)
                continue
            assert answer.status_code == 200, f"{answer.url} answered {answer.status_code}: {answer.text[:800]}"
            answer = self._fill_in(answer)
        raise AssertionError(f"never came to {until}")

    def _fill_in(self, page: httpx.Response) -> httpx.Response:
        reader = Reader()
        reader.feed(page.text)
        form = next((one for one in reader.forms if one.method == "post" and "/locale" not in one.action), None)
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
