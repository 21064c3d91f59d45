"""Delivers logout tokens (OpenID Connect Back-Channel Logout 1.0 section 2.5) to addresses that tenants register."""

from __future__ import annotations

from typing import Final

from app.identity.platform.outbox.sender import DeliveryError, Message, Sender
from app.kit.clock import Clock
from app.kit.outbound.host_resolver import Resolver

_DONE: Final = frozenset({200, 204})
_RETRYABLE: Final = frozenset({408, 425, 429})


class BackchannelLogout(Sender):
    """Posts `logout_token` to `to` until `expires_at`; to public and allowed addresses alone, without redirects."""

    def __init__(self, resolver: Resolver, clock: Clock) -> None:
        self._resolver = resolver
        self._clock = clock

    def send(self, message: Message) -> None:
        """Deliver one token. Raises DeliveryError, a final one if it expired, or is refused (Back-Channel Logout 1.0 section 2.8)."""
        import httpx

        from app.identity.platform.outbound.bounded_transport import BoundedTransport, answer_of
        from app.identity.platform.outbound.unusable_answers import host_of, status_in_words  # noqa: PLC0415 - with the first call

        address, payload = str(message.payload["to"]), message.payload
        if self._clock.now().timestamp() >= int(payload["expires_at"]):
            raise DeliveryError("the logout token expired before the application took it", is_final=True)
        host = host_of(address)
        try:
            with httpx.Client(transport=BoundedTransport(self._resolver)) as client:
                response = client.post(address, data={"logout_token": payload["logout_token"]})
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as problem:
            raise DeliveryError(f"{host}: {answer_of(problem).received}") from None
        status = response.status_code
        if status not in _DONE:
            is_final = status not in _RETRYABLE and not response.is_server_error
            said = status_in_words(status, response.headers.get("location"))
            raise DeliveryError(f"{host} answered {said}", is_final=is_final)
