"""Text messages through a gateway that takes JSON over HTTPS: `https://:token@gateway.example/send`.

The token goes as a bearer token; the body is `{"to", "text", "id"}`. `id` is the same at every attempt.
"""

from __future__ import annotations

from urllib.parse import unquote, urlsplit, urlunsplit

import httpx

from app.identity.platform.outbox.claims import Message
from app.identity.platform.outbox.sender import DeliveryError, Sender

SECONDS = 15
_TRY_AGAIN = {408, 425, 429}


class SmsGateway(Sender):
    """Delivers `sms` messages, whose payload has `to` and `text`."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        host = f"{parts.hostname}:{parts.port}" if parts.port else f"{parts.hostname}"
        self._url = urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
        self._headers = {"Authorization": f"Bearer {unquote(parts.password)}"} if parts.password else {}
        self._http: httpx.Client | None = None

    def send(self, message: Message) -> None:
        """Deliver one message; raises DeliveryError, final where the gateway refuses it for good."""
        self._http = self._http or httpx.Client(timeout=SECONDS, headers=self._headers)
        body = {"to": message.payload.get("to"), "text": message.payload.get("text"), "id": message.message_id}
        try:
            answer = self._http.post(self._url, json=body)
        except httpx.HTTPError as problem:
            raise DeliveryError(f"{type(problem).__name__}: {problem}") from None
        if answer.is_success:
            return
        is_final = answer.is_client_error and answer.status_code not in _TRY_AGAIN
        raise DeliveryError(f"the gateway answered {answer.status_code}", is_final=is_final)

    def close(self) -> None:
        """Close the connection."""
        if self._http is not None:
            self._http.close()
            self._http = None
