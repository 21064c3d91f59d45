"""The protocol of senders: the message that a sender receives, the receipt of a delivery, and the error of a failed one."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from app.kit.observability.logs import REDACTED

_SECRET = re.compile(r"[A-Za-z0-9_-]{40,}|(?<![0-9])[0-9]{6}(?![0-9])")
"""A link's token or a code: mail servers quote parts of the message in their rejections."""


@dataclass(frozen=True)
class Message:
    """A decrypted message."""

    tenant_id: str
    message_id: str
    kind: str
    payload: dict[str, Any]
    attempts: int  # this one included
    created_at: datetime
    queue: str | None = None
    order_key: str | None = None


@dataclass(frozen=True)
class Receipt:
    """What the log of deliveries keeps of a delivery.

    Args:
        answer: what was sent, without secrets, and what was answered. It is stored encrypted.
    """

    status_code: int | None = None
    answer: dict[str, Any] = field(default_factory=dict, repr=False)


class DeliveryError(Exception):
    """A message was not delivered. Tokens and codes are struck out of the text.

    Args:
        is_final: a retry cannot help, so the message becomes a dead letter at once.
        ends_queue: no message of the queue can be delivered any more: those that wait become dead letters with this one.
        lacks_key: this process does not know the encryption key; another worker may, or this one after a restart.
        is_interrupted: we stopped sending before the receiver had the whole message; the attempt does not count.
        receipt: for the log of deliveries; its status code is None if the receiver did not answer.
        retry_after: how long the receiver asks to wait.
    """

    def __init__(
        self,
        problem: str,
        *,
        is_final: bool = False,
        ends_queue: bool = False,
        lacks_key: bool = False,
        is_interrupted: bool = False,
        receipt: Receipt = Receipt(),
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(_SECRET.sub(REDACTED, problem))
        self.is_final = is_final or ends_queue
        self.ends_queue = ends_queue
        self.lacks_key = lacks_key
        self.is_interrupted = is_interrupted
        self.receipt = receipt
        self.retry_after = retry_after

    @property
    def is_receiver_down(self) -> bool:
        """Whether the receiver takes no messages at all: it did not answer, is overloaded, or has an error of its own."""
        status = self.receipt.status_code
        is_down = status is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR
        return not self.is_final and (is_down or status == HTTPStatus.TOO_MANY_REQUESTS)


class Sender(ABC):
    """Delivers one kind of message, in one thread at a time. Every wait in it has a timeout."""

    keeps_payload = False

    @abstractmethod
    def send(self, message: Message) -> Receipt | None:
        """Deliver the message. Raises DeliveryError; the worker logs any other exception as a bug and retries too.

        Returns a receipt for messages of a queue.
        """

    def close(self) -> None:
        """Close connections; the worker calls it when no message is due."""
        return

    def interrupt(self) -> None:
        """Stop the delivery in another thread, unless the receiver has the whole message; `send` raises DeliveryError there."""
        return
