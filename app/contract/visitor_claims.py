"""The claims about the browser's request that the hub sends, signed, with every call."""

import base64
from typing import Final

from pydantic import BaseModel, Field

VISIT_HEADER: Final = "X-Gatehouse-Visit"
SESSION_HEADER: Final = "X-Gatehouse-Session"
"""In a response to the hub: the session's new cookie, as `Session` in JSON."""
MAX_PASSWORD_CHARACTERS: Final = 1024


class VisitorClaims(BaseModel):
    """A browser's request at the hub."""

    host: str  # the tenant host, with port
    scheme: str = "http"
    session: str | None = None  # the browser session's cookie
    others: tuple[str, ...] = ()  # the cookies of sessions of other accounts
    password: str | None = Field(
        default=None, max_length=MAX_PASSWORD_CHARACTERS, repr=False
    )  # typed, to reauthenticate
    account: str = ""  # uid of the account that the page of the posted form showed; empty: unknown
    trusted: str | None = None  # the trusted-browser cookie
    binding: str | None = None  # the browser's secret of the interaction
    address: str = ""  # the client's address, after trusted proxies
    agent: str = ""
    languages: str = ""  # Accept-Language
    language: str = ""  # the page's language; emails use it too
    brand: str = ""  # the key of the chosen brand; links of emails have it
    themes: tuple[str, ...] = ()  # the names of the page's themes, as `ThemeNames`; emails have them too
    application: str = ""  # the name of the application that asked for the sign-in; emails say it
    reference: str = ""  # the request id, for error pages and logs

    def to_header(self) -> str:
        """Return the visit as a header value."""
        return base64.urlsafe_b64encode(self.model_dump_json(exclude_defaults=True).encode()).decode()

    @classmethod
    def from_header(cls, text: str) -> "VisitorClaims":
        """Return the claims of a header value; raises ValueError for a malformed one."""
        return cls.model_validate_json(base64.urlsafe_b64decode(text.encode()))
