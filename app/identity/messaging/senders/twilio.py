"""Sends text messages through Twilio's API, or a compatible gateway: `twilio://AccountSid:AuthToken@host?from=+15550100`.

With `&voice=+15550101` codes can be read out in a call from that number.
"""

from __future__ import annotations

import logging
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic_core import from_json

from app.identity.platform.outbox.sender import DeliveryError, Message, Sender

if TYPE_CHECKING:
    import httpx

TIMEOUT_SECONDS = 15
_RETRYABLE = {408, 425, 429}
_VOICES = {"en": "en-US", "de": "de-DE", "ar": "arb"}
_LOOPBACK = ("localhost", "127.0.0.1")

log = logging.getLogger("gatehouse.worker")


class Twilio(Sender):
    """Delivers `sms` messages. Logs the gateway's Sid beside ours, so that a message can be traced."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        account = unquote(parts.username or "")
        host = parts.netloc.rpartition("@")[2] or "api.twilio.com"
        scheme = "http" if parts.hostname in _LOOPBACK else "https"
        self._url = f"{scheme}://{host}/2010-04-01/Accounts/{account}"
        self._login = (account, unquote(parts.password or ""))
        query = parse_qs(parts.query.replace("+", "%2B"))
        self._from, self._voice = (query.get(name, [""])[0] for name in ("from", "voice"))
        self._http: httpx.Client | None = None

    def send(self, message: Message) -> None:
        """Deliver one message. Raises DeliveryError, final if the gateway refuses it permanently."""
        import httpx

        from app.identity.platform.outbound.bounded_transport import tls_context

        self._http = self._http or httpx.Client(timeout=TIMEOUT_SECONDS, auth=self._login, verify=tls_context())
        to, voice_text = str(message.payload.get("to")), message.payload.get("spoken")
        if voice_text:
            action, form = "Calls", {"To": to, "From": self._voice, "Twiml": _twiml(message)}
        else:
            action, form = "Messages", {"To": to, "From": self._from, "Body": str(message.payload.get("text"))}
        try:
            response = self._http.post(f"{self._url}/{action}.json", data=form)
        except httpx.HTTPError as problem:
            raise DeliveryError(f"{type(problem).__name__}: {problem}") from None
        body = _json_body(response)
        if response.is_success:
            log_fields = {
                "message_id": message.message_id,
                "sid": message.payload.get("sid"),
                "gateway_sid": body.get("sid"),
            }
            log.info("sms.accepted", extra=log_fields)
            return
        is_final = response.is_client_error and response.status_code not in _RETRYABLE
        raise DeliveryError(
            f"the gateway answered {response.status_code} {body.get('code', '')}".strip(), is_final=is_final
        )

    def close(self) -> None:
        """Close the connection."""
        if self._http is not None:
            self._http.close()
            self._http = None


def _twiml(message: Message) -> str:
    """Return the TwiML that Twilio reads out in a call."""
    language = _VOICES.get(str(message.payload.get("language")), "en-US")
    return f'<Response><Say language="{language}">{escape(str(message.payload["spoken"]))}</Say></Response>'


def _json_body(response: httpx.Response) -> dict[str, object]:
    try:
        body = from_json(response.content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
