"""What delivers messages of one kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.identity.platform.outbox.claims import Message


class Sender(ABC):
    """Delivers one kind of message. One thread sends at a time; every wait in it has an end."""

    keeps_payload = False

    @abstractmethod
    def send(self, message: Message) -> None:
        """Deliver. Raises Undelivered; anything else it raises is our fault and is tried again too."""

    def rest(self) -> None:
        """Give up what is held open; called when nothing is due."""
        return

    def interrupt(self) -> None:
        """Break off what another thread is sending, where the receiver does not have all of it: that raises Undelivered there."""
        return
