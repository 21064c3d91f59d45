"""The management API of a server elsewhere, as a program of a tenant calls it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import click

from app.commands.errors import CommandError
from app.kit import clock

AUDIENCE_PATH: Final = "/v2/manage"
_RENEWED_SECONDS: Final = 60
"""How long before its end a token is replaced."""
_MAX_SHOWN: Final = 300
_TIMEOUT_SECONDS: Final = 30
_LOCAL_HOSTS: Final = ("localhost", "127.0.0.1", "::1")


class Unreachable(CommandError):
    """The server didn't answer, or isn't ready; a later request may succeed."""


class Busy(Unreachable):
    """The server asks to wait for some seconds."""

    def __init__(self, text: str, seconds: int) -> None:
        super().__init__(text)
        self.seconds = seconds


class RequestRefused(CommandError):
    """The server refused the request.

    Attributes:
        code: of the interface's error; 0 if the answer has none.
    """

    def __init__(self, text: str, code: int = 0) -> None:
        super().__init__(text)
        self.code = code


class ManagementApi:
    """Calls operations with a machine token, and gets a new one before it ends.

    Args:
        tenant_url: of the tenant's host, where the token is issued.
        api_url: of the API's host.
    """

    def __init__(self, tenant_url: str, api_url: str, client_id: str, client_secret: str) -> None:
        from app.hub.client import transports

        self.tenant_url, self.client_secret = tenant_url, client_secret
        self._tenant, self._api = transports.developer_client(tenant_url), transports.developer_client(api_url)
        self._credentials = {
            "grant_type": "client_credentials",
            "client_id": client_id,
            "client_secret": client_secret,
            "audience": f"{api_url}{AUDIENCE_PATH}",
        }
        self._token, self._ends_at = "", 0.0

    def call(self, method: str, path: str, body: Any = None, **query: str | int | None) -> dict[str, Any]:
        """Return the answer of an operation below `/v2/manage`; a query parameter that is None is left out.

        Raises:
            Unreachable: the server didn't answer.
            RequestRefused: it refused the request.
        """
        sent = {name: value for name, value in query.items() if value is not None}
        address = f"{AUDIENCE_PATH}{path}" + (f"?{urlencode(sent)}" if sent else "")
        headers = {"Authorization": f"Bearer {self._current_token()}"}
        return _answer(self._api, method, address, headers=headers, **({} if body is None else {"json": body}))

    def webhooks(self, webhook_id: str | None = None) -> list[dict[str, Any]]:
        """Return the tenant's webhooks, or one of them."""
        if webhook_id is not None:
            return [self.call("GET", f"/webhooks/{webhook_id}")]
        found: list[dict[str, Any]] = self.call("GET", "/webhooks")["Data"]
        return found

    def deliveries(
        self, webhook_id: str, most: int, page_size: int = 200, **query: str | None
    ) -> Iterator[dict[str, Any]]:
        """Yield deliveries of a webhook, the newest first, at most so many. One that arrives meanwhile can make another come twice."""
        page_size = min(page_size, most)
        for page in range(1, most // page_size + 1):
            found = self.call("GET", f"/webhooks/{webhook_id}/deliveries", page=page, pagesize=page_size, **query)[
                "Data"
            ]
            yield from found
            if len(found) < page_size:
                return

    def _current_token(self) -> str:
        if clock.monotonic() >= self._ends_at:
            answer = _answer(self._tenant, "POST", "/service/oauth/token", data=self._credentials)
            self._token = str(answer["access_token"])
            self._ends_at = clock.monotonic() + int(answer["expires_in"]) - _RENEWED_SECONDS
        return self._token


def api_url_of(tenant_url: str) -> str:
    """Return the URL of the API's host, unless the operator chose another name: `api` in the place of the tenant's name."""
    parts = urlsplit(tenant_url)
    return f"{parts.scheme}://api.{parts.netloc.partition('.')[2]}"


def check_url(url: str) -> str:
    """Return an origin, without the slash at its end. Raises click.BadParameter."""
    parts, host = urlsplit(url), (urlsplit(url).hostname or "")
    if parts.scheme not in ("http", "https") or not host or parts.path not in ("", "/") or parts.query:
        raise click.BadParameter("Write it as https://acme.example.com.")
    if parts.scheme == "http" and not (host in _LOCAL_HOSTS or host.endswith(".localhost")):
        raise click.BadParameter("Secrets go to a server over https only, except to localhost.")
    return f"{parts.scheme}://{parts.netloc}"


def _answer(http: Any, method: str, address: str, **sent: Any) -> dict[str, Any]:
    from app.hub.client import transports

    try:
        response = http.request(method, address, timeout=_TIMEOUT_SECONDS, **sent)
    except transports.TRANSPORT_ERROR as problem:
        raise Unreachable(f"{http.base_url} doesn't answer ({problem}).") from None
    try:
        answer = json.loads(response.content)
    except ValueError:
        answer = None
    wait = response.headers.get("Retry-After", "")
    if response.status_code == 429 and wait.isascii() and wait.isdigit():
        raise Busy(f"{http.base_url} answered 429.", int(wait))
    if response.status_code == 429 or response.status_code >= 500:
        raise Unreachable(f"{http.base_url} answered {response.status_code}.")
    if not isinstance(answer, dict) or not response.is_success:
        raise _refusal(http, response.status_code, answer if isinstance(answer, dict) else {})
    return answer


def _refusal(http: Any, status: int, answer: dict[str, Any]) -> RequestRefused:
    text = answer.get("Description") or answer.get("error_description") or answer.get("Message") or ""
    code = answer.get("ErrorCode")
    shown = str(text)[:_MAX_SHOWN] or f"{http.base_url} answered {status}. Is it the address of a Gatehouse server?"
    return RequestRefused(shown, code if isinstance(code, int) else 0)
