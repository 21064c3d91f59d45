"""Sends events to a server on the developer's machine, signed as deliveries are."""

from __future__ import annotations

import hmac
from base64 import b64encode
from datetime import datetime
from http import HTTPStatus
from typing import Final

from app.commands.webhooks.event_feed import Event
from app.identity.platform.outbound import signatures

TIMEOUT_SECONDS: Final = 15
"""As long as real deliveries wait."""


class Forwarder:
    """Posts events to a URL.

    Args:
        secret: signs, in the form of a webhook's signing secret.
    """

    def __init__(self, url: str, secret: str) -> None:
        self.url, self._secret = url, secret
        from app.hub.client import transports

        self._http = transports.developer_client(url)

    def send(self, event: Event, now: datetime) -> str:
        """Return what the server answered, or a problem in its place. Raises ConnectionError if nothing listens at the URL."""
        from app.hub.client import transports

        headers = {
            "Content-Type": "application/json",
            "User-Agent": "Gatehouse",
            "signature": signatures.legacy_signature(event.body, self._secret),
            **signatures.standard_headers(event.delivery_id, now, event.body, [self._secret]),
        }
        try:
            response = self._http.post(self.url, content=event.body, headers=headers, timeout=TIMEOUT_SECONDS)
        except transports.CONNECT_ERROR as problem:
            raise ConnectionError(str(problem)) from None
        except transports.TRANSPORT_ERROR as problem:
            return f"no answer: {problem}"
        return _status_text(response.status_code)


def secret_of(client_secret: str, tenant_url: str) -> str:
    """Return the secret that signs, the same at each start, so that a developer configures it once."""
    key = hmac.digest(client_secret.encode(), f"gatehouse webhooks listen {tenant_url}".encode(), "sha256")
    return f"{signatures.SECRET_PREFIX}{b64encode(key).decode()}"


def _status_text(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:  # a number that no standard names
        return str(status)
