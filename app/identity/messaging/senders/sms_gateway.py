"""Sends text messages through a gateway that accepts JSON over HTTPS: `https://:token@gateway.example/send`.

The token is sent as a bearer token; the body is `{"to", "text", "id"}`. `id` is the same at every attempt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

from app.identity.platform.outbox.sender import DeliveryError, Message, Sender

if TYPE_CHECKING:
    import httpx

TIMEOUT_SECONDS = 15
_RETRYABLE = {408, 425, 429}


class SmsGateway(Sender):
    """Delivers `sms` messages, whose payload has `to` and `text`."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        host = f"{parts.hostname}:{parts.port}" if parts.port else f"{parts.hostname}"
        self._url = urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
        self._headers = {"Authorization": f"Bearer {unquote(parts.password)}"} if parts.password else {}
        self._http: httpx.Client | None = None

    def send(self, message: Message) -> None:
        """Deliver one message. Raises DeliveryError, final if the gateway refuses it permanently."""
        import httpx

        from app.identity.platform.outbound.bounded_transport import tls_context

        self._http = self._http or httpx.Client(timeout=TIMEOUT_SECONDS, headers=self._headers, verify=tls_context())
        body = {"to": message.payload.get("to"), "text": message.payload.get("text"), "id": message.message_id}
        try:
            response = self._http.post(self._url, json=body)
        except httpx.HTTPError as problem:
            raise DeliveryError(f"{type(problem).__name__}: {problem}") from None
        if response.is_success:
            return
        is_final = response.is_client_error and response.status_code not in _RETRYABLE
        raise DeliveryError(f"the gateway answered {response.status_code}", is_final=is_final)

    def close(self) -> None:
        """Close the connection."""
        if self._http is not None:
            self._http.close()
            self._http = None
