"""The visit: what the hub tells the identity service about the browser in front of it, signed with every call."""

import base64
from typing import Final

from pydantic import BaseModel

VISIT_HEADER: Final = "X-Gatehouse-Visit"


class Visit(BaseModel):
    """One request of a browser at the hub."""

    host: str  # the tenant host, with port
    scheme: str = "http"
    session: str | None = None  # the browser session's cookie
    trusted: str | None = None  # the cookie of a browser that is not asked for a second factor
    binding: str | None = None  # the browser's secret of the attempt at hand
    address: str = ""  # the client's address, after trusted proxies
    agent: str = ""
    languages: str = ""  # Accept-Language
    language: str = ""  # the page's own, which mails about it speak too
    reference: str = ""  # the number that error pages show and log lines bear

    def to_header(self) -> str:
        """Return the visit as a header value."""
        return base64.urlsafe_b64encode(self.model_dump_json(exclude_defaults=True).encode()).decode()

    @classmethod
    def from_header(cls, text: str) -> "Visit":
        """Return the visit of a header value; raises ValueError for anything else."""
        return cls.model_validate_json(base64.urlsafe_b64decode(text.encode()))
