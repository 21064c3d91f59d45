"""Selects the senders by the settings."""

from __future__ import annotations

from urllib.parse import urlsplit

from app.identity.messaging.senders.backchannel_logout import BackchannelLogout
from app.identity.messaging.senders.sms_gateway import SmsGateway
from app.identity.messaging.senders.smtp import Smtp
from app.identity.messaging.senders.sns import Sns
from app.identity.messaging.senders.twilio import Twilio
from app.identity.platform.outbox.sender import DeliveryError, Message, Sender
from app.kit.clock import Clock
from app.kit.outbound.host_resolver import Resolver
from app.settings import Settings


class Inbox(Sender):
    """The development inbox: the message stays in the outbox, where the inbox page shows it."""

    keeps_payload = True

    def send(self, message: Message) -> None:
        del message


class UnsupportedKind(Sender):
    """A kind that this version cannot deliver."""

    keeps_payload = True

    def send(self, message: Message) -> None:
        raise DeliveryError(f"no sender for {message.kind}", is_final=True)


def senders(settings: Settings, clock: Clock) -> dict[str, Sender]:
    """Return the senders by kind."""
    mail: Sender = (
        Inbox()
        if urlsplit(settings.mail_url).scheme == "inbox"
        else Smtp(settings.mail_url, settings.mail_sender, clock)
    )
    push = Sns(settings.push_url, clock)
    logout = BackchannelLogout(Resolver(settings.reachable_networks), clock)
    known: dict[str, Sender] = {"mail": mail, "push": push, "push_platform": push, "backchannel_logout": logout}
    return {**known, "sms": _sms(settings.sms_target)} if settings.sms_target else known


def _sms(target: str) -> Sender:
    match urlsplit(target).scheme:
        case "inbox":
            return Inbox()
        case "twilio":
            return Twilio(target)
        case _:
            return SmsGateway(target)
