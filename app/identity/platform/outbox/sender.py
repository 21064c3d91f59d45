"""The protocol of senders: the message that a sender receives, and the error of a failed delivery."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
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


class DeliveryError(Exception):
    """A message was not delivered. Tokens and codes are struck out of the text.

    Args:
        is_final: a retry cannot help, so the message becomes a dead letter at once.
        lacks_key: this process does not know the encryption key; another worker may, or this one after a restart.
        is_interrupted: we stopped sending before the receiver had the whole message; the attempt does not count.
    """

    def __init__(
        self, problem: str, *, is_final: bool = False, lacks_key: bool = False, is_interrupted: bool = False
    ) -> None:
        super().__init__(_SECRET.sub(REDACTED, problem))
        self.is_final = is_final
        self.lacks_key = lacks_key
        self.is_interrupted = is_interrupted


class Sender(ABC):
    """Delivers one kind of message, in one thread at a time. Every wait in it has a timeout."""

    keeps_payload = False

    @abstractmethod
    def send(self, message: Message) -> None:
        """Deliver the message. Raises DeliveryError; the worker logs any other exception as a bug and retries too."""

    def close(self) -> None:
        """Close connections; the worker calls it when no message is due."""
        return

    def interrupt(self) -> None:
        """Stop the delivery in another thread, unless the receiver has the whole message; `send` raises DeliveryError there."""
        return
