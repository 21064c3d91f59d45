"""Short addresses of the hub's pages that emails link to (decision 0179)."""

from collections.abc import Mapping
from typing import Final

SHORT_PATHS: Final[Mapping[str, str]] = {
    "/verify": "/v",
    "/reset-password": "/r",
    "/reset-pin": "/p",
    "/sign-in/link": "/s",
    "/sign-in/approve": "/a",
    "/delete-account": "/d",
    "/passkeys/reset": "/k",
    "/not-me": "/n",
    "/invitation": "/i",
    "/sign-in/phone/open": "/q",
    "/human": "/h",
}
"""The first segment of a mailed link, or of one in a QR code, by page; the link's token follows: `/r/TOKEN`."""

ALERT_LINK_DAYS: Final = 7
"""The lifetime of the link with which the owner of an address undoes a change."""
