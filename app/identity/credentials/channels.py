"""The channels by which links and codes are sent. A newer one revokes older ones of its channel, whatever address they were sent to."""

from typing import Final

MAIL: Final = "mail"
SMS: Final = "sms"
