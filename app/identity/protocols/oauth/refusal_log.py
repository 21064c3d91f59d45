"""Describes a refused OAuth request, for its log line and for the developers' line of an error page.

Both repeat untrusted values of the request: as printable ASCII without spaces, of bounded length; of an address neither user
names nor query nor fragment, which can hold secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from app.contract.oauth.oauth_errors import InvalidScope
from app.kit.observability.logs import bind

_MAX_TEXT_LENGTH: Final = 120
_UNQUOTED: Final = "!#$&'()*+,-./:;=?@[]_~%"
"""With letters and digits, what `error_description` may repeat (RFC 6749 section 4.1.2.1) and no markup uses."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.-]*")
_USER: Final = re.compile(r"//[^/@]*@")
_QUERY: Final = re.compile(r"[?#].*", re.DOTALL)


def shown(text: str, longest: int = _MAX_TEXT_LENGTH) -> str:
    """Return a value of the request as texts may repeat it."""
    if len(text) <= longest and _PLAIN.fullmatch(text):
        return text
    safe = quote(text[: longest + 1], safe=_UNQUOTED, errors="replace")
    return safe if len(safe) <= longest else f"{safe[:longest]}..."


def shown_url(uri: str) -> str:
    """Return an address of the request as texts may repeat it; "?..." stands for its query."""
    plain = _QUERY.sub(lambda match: f"{match[0][0]}...", uri[: 2 * _MAX_TEXT_LENGTH])
    return shown(_USER.sub("//...@", plain))


def scope_of_another(names: Iterable[str]) -> InvalidScope:
    """Return the refusal of scopes for which the client is not registered; it names the first one."""
    name = next(iter(sorted(names)), "")
    return InvalidScope(f"The scope {shown(name)} is not registered for this client.")


def log(
    error: int | str, description: str = "", *, client_id: str | None = None, redirect_uri: str | None = None
) -> None:
    """Add the refusal to the log line of the request."""
    facts = {"error": str(error), "error_description": description}
    facts["client_id"] = shown(client_id) if client_id else ""
    facts["redirect_uri"] = shown_url(redirect_uri) if redirect_uri else ""
    bind(**{name: text for name, text in facts.items() if text})
