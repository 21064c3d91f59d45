"""Checks at start that the identity service at `GATEHOUSE_API_URL` accepts this hub's calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.contract.errors import HubRefused, UnknownTenant
from app.contract.tenants import tenant_pages
from app.contract.visitor_claims import VISIT_HEADER, VisitorClaims
from app.hub.encryption import derive_key
from app.kit import randomness
from app.kit.clock import SystemClock
from app.kit.observability.health import LIVE
from app.kit.operations.call_signing import SIGNATURE_HEADER, signature
from app.settings import Settings

if TYPE_CHECKING:
    import httpx  # noqa: TID251 - for its types alone

_SECONDS: Final = 2.0
_UNAVAILABLE: Final = 503
_BY_CODE: Final = {
    HubRefused.code: "refuses the calls of this hub. Both need a line of the secret key in common, and clocks that agree within a minute.",
    UnknownTenant.code: "",
}
_NOT_OURS: Final = "isn't a Gatehouse identity service. Set GATEHOUSE_API_URL to the internal address of one."
_OTHER_HOST: Final = (
    "doesn't serve this hub at that address. Start it with the same GATEHOUSE_API_URL, without --only hub."
)


class IdentityUnusable(Exception):
    """The identity service cannot be used; the text names the reason and the remedy."""


def check_identity(settings: Settings) -> None:
    """Raise IdentityUnusable unless a call without a tenant gets an identity service's response. A 503 passes: the service runs,
    and its readiness check names the missing dependency.
    """
    import httpx  # noqa: TID251 - a start of both services in one process needs none of this

    try:
        with httpx.Client(base_url=settings.api_url, timeout=_SECONDS) as http:
            wrong = _wrong_with(http, settings)
    except (httpx.HTTPError, httpx.InvalidURL) as problem:
        wrong = f"doesn't respond ({str(problem) or type(problem).__name__})."
    if wrong:
        raise IdentityUnusable(f"The server at GATEHOUSE_API_URL ({settings.api_url}) {wrong}")


def _wrong_with(http: httpx.Client, settings: Settings) -> str:
    path = tenant_pages.tenant.path
    visit = VisitorClaims(host="").to_header()
    keys = [derive_key(secret, "hub calls") for secret in settings.secrets]
    now = int(SystemClock().now().timestamp())
    signed = signature(keys, "GET", path, b"", visit, now, randomness.token(16))
    reply = http.get(path, headers={VISIT_HEADER: visit, SIGNATURE_HEADER: signed})
    if reply.status_code == _UNAVAILABLE:
        return ""
    try:
        return _BY_CODE[reply.json()["ErrorCode"]]
    except (ValueError, KeyError, TypeError):
        return _OTHER_HOST if _is_alive(http) else _NOT_OURS


def _is_alive(http: httpx.Client) -> bool:
    """Return whether a Gatehouse service of any role answers."""
    try:
        return bool(http.get(LIVE).json() == {"status": "ok"})
    except ValueError:
        return False
