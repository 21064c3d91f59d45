"""Text messages through Twilio's interface, or any gateway that speaks it: `twilio://AccountSid:AuthToken@host?from=+15550100`."""

from __future__ import annotations

import logging
from urllib.parse import parse_qs, unquote, urlsplit

import httpx

from app.identity.tasks.claims import Message
from app.identity.tasks.undelivered import Undelivered

SECONDS = 15
_TRY_AGAIN = {408, 425, 429}
_LOOPBACK = ("localhost", "127.0.0.1")

log = logging.getLogger("gatehouse.worker")


class Twilio:
    """Delivers `sms` messages; the gateway's own Sid goes to the log beside ours, for whoever asks where a message went."""

    keeps_payload = False

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        account = unquote(parts.username or "")
        host = parts.netloc.rpartition("@")[2] or "api.twilio.com"
        scheme = "http" if parts.hostname in _LOOPBACK else "https"
        self._url = f"{scheme}://{host}/2010-04-01/Accounts/{account}/Messages.json"
        self._login = (account, unquote(parts.password or ""))
        self._from = parse_qs(parts.query.replace("+", "%2B")).get("from", [""])[0]
        self._http: httpx.Client | None = None

    def send(self, message: Message) -> None:
        """Deliver one message; raises Undelivered, final where the gateway refuses it for good."""
        self._http = self._http or httpx.Client(timeout=SECONDS, auth=self._login)
        form = {"To": str(message.payload.get("to")), "From": self._from, "Body": str(message.payload.get("text"))}
        try:
            answer = self._http.post(self._url, data=form)
        except httpx.HTTPError as problem:
            raise Undelivered(f"{type(problem).__name__}: {problem}") from None
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
        raise Undelivered(
            f"the gateway answered {answer.status_code} {told.get('code', '')}".strip(), is_final=is_final
        )

    def rest(self) -> None:
        """Close the connection."""
        if self._http is not None:
            self._http.close()
            self._http = None


def _told(answer: httpx.Response) -> dict[str, object]:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
