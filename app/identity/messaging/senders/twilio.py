"""Text messages through Twilio's interface, or any gateway that speaks it: `twilio://AccountSid:AuthToken@host?from=+15550100`.

With `&voice=+15550101` codes are read out in a call from that number, where they are wanted so.
"""

from __future__ import annotations

import logging
from html import escape
from urllib.parse import parse_qs, unquote, urlsplit

import httpx

from app.identity.platform.outbox.claims import Message
from app.identity.platform.outbox.sender import DeliveryError, Sender

SECONDS = 15
_TRY_AGAIN = {408, 425, 429}
_VOICES = {"en": "en-US", "de": "de-DE", "ar": "arb"}
_LOOPBACK = ("localhost", "127.0.0.1")

log = logging.getLogger("gatehouse.worker")


class Twilio(Sender):
    """Delivers `sms` messages; the gateway's own Sid goes to the log beside ours, for whoever asks where a message went."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        account = unquote(parts.username or "")
        host = parts.netloc.rpartition("@")[2] or "api.twilio.com"
        scheme = "http" if parts.hostname in _LOOPBACK else "https"
        self._url = f"{scheme}://{host}/2010-04-01/Accounts/{account}"
        self._login = (account, unquote(parts.password or ""))
        stated = parse_qs(parts.query.replace("+", "%2B"))
        self._from, self._voice = (stated.get(name, [""])[0] for name in ("from", "voice"))
        self._http: httpx.Client | None = None

    def send(self, message: Message) -> None:
        """Deliver one message; raises DeliveryError, final where the gateway refuses it for good."""
        self._http = self._http or httpx.Client(timeout=SECONDS, auth=self._login)
        to, spoken = str(message.payload.get("to")), message.payload.get("spoken")
        if spoken:
            what, form = "Calls", {"To": to, "From": self._voice, "Twiml": _said(message)}
        else:
            what, form = "Messages", {"To": to, "From": self._from, "Body": str(message.payload.get("text"))}
        try:
            answer = self._http.post(f"{self._url}/{what}.json", data=form)
        except httpx.HTTPError as problem:
            raise DeliveryError(f"{type(problem).__name__}: {problem}") from None
        told = _told(answer)
        if answer.is_success:
            about = {
                "message_id": message.message_id,
                "sid": message.payload.get("sid"),
                "gateway_sid": told.get("sid"),
            }
            log.info("sms.accepted", extra=about)
            return
        is_final = answer.is_client_error and answer.status_code not in _TRY_AGAIN
        raise DeliveryError(
            f"the gateway answered {answer.status_code} {told.get('code', '')}".strip(), is_final=is_final
        )

    def close(self) -> None:
        """Close the connection."""
        if self._http is not None:
            self._http.close()
            self._http = None


def _said(message: Message) -> str:
    """Return what Twilio reads out in a call (TwiML)."""
    language = _VOICES.get(str(message.payload.get("language")), "en-US")
    return f'<Response><Say language="{language}">{escape(str(message.payload["spoken"]))}</Say></Response>'


def _told(answer: httpx.Response) -> dict[str, object]:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
