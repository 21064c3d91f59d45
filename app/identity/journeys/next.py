"""What is next for a visitor: the identity service decides, the hub shows."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

from app.contract.hub import Next, Step
from app.identity.call import Call
from app.identity.oauth import authorize
from app.identity.sign_in import attempts, sessions
from app.identity.sign_in.attempts import Attempt
from app.identity.sign_in.sessions import BrowserSession

AUTHORIZE, RETURN = "authorize", "return"
PROFILE_PATH = "/profile"
START_AGAIN = Next(step=Step.START_AGAIN)  # the attempt is gone; the hub knows the relying party from its cookie


def advance(call: Call, attempt: Attempt, session: BrowserSession | None) -> Next:
    """Return the attempt's next step for this session."""
    if attempt.kind == AUTHORIZE:
        return authorize.advance(call, attempt, session)
    if session is None:
        return Next(step=Step.LOGIN, attempt=attempt.attempt_id)
    attempts.finish(call, attempt)
    return to_return_address(call, attempt.request.get("return_url"))


def to_return_address(call: Call, return_url: str | None) -> Next:
    """Return the landing of a plain visit: an allowed return address, else the profile, which then says so."""
    if return_url and is_allowed(call, return_url):
        return Next(step=Step.REDIRECT, address=return_url)
    return Next(step=Step.PROFILE, address=PROFILE_PATH, problem="return_url" if return_url else None)


def is_allowed(call: Call, return_url: str) -> bool:
    """Return whether the tenant's whitelist allows the address (interface hosted-pages.md section 8).

    Scheme, host and port equal an entry, whose path, where it has one, is a prefix by whole segments; a leading `*.`
    allows subdomains. Anything a browser might read otherwise is refused.
    """
    if any(ord(letter) <= 32 or letter in "\\\x7f" for letter in return_url):
        return False
    try:
        asked = urlsplit(return_url)
        port = asked.port
    except ValueError:
        return False
    if (
        asked.scheme not in ("http", "https")
        or not asked.hostname
        or asked.username is not None
        or asked.password is not None
    ):
        return False
    own = urlsplit(call.issuer)
    if (asked.scheme, asked.hostname, port) == (own.scheme, own.hostname, own.port):
        return True
    return any(
        _matches(entry, asked.scheme, asked.hostname, port, asked.path) for entry in call.tenant.settings.url_whitelist
    )


def _matches(entry: str, scheme: str, host: str, port: int | None, path: str) -> bool:
    allowed = urlsplit(entry)
    name = allowed.hostname or ""
    same_host = host == name or (name.startswith("*.") and host.endswith(name[1:]) and host != name[2:])
    if not same_host or allowed.scheme != scheme or allowed.port != port:
        return False
    prefix = allowed.path.rstrip("/")
    return not prefix or path == prefix or path.startswith(prefix + "/")


def open_return(call: Call, return_url: str | None, session: BrowserSession | None) -> Next:
    """Begin a plain visit; a signed-in person goes straight on."""
    if session is not None:
        sessions.touch(call, session)
        return to_return_address(call, return_url)
    attempt, binding = attempts.open(call, RETURN, {"return_url": return_url} if return_url else {})
    return Next(step=Step.LOGIN, attempt=attempt.attempt_id, binding=binding)


def with_query(address: str, **parameters: str) -> str:
    """Return the address with parameters added to its query."""
    return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(parameters)}"
