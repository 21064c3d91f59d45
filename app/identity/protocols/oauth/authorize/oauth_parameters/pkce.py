"""code_challenge: PKCE (RFC 7636), required of public clients and of clients with `require_pkce` (RFC 9700 section 2.1.1).

The interface's older documents write SHA256 for S256. S256 is the default, where RFC 7636 section 4.3 has `plain`.
"""

import re

from app.contract.oauth.response_types import CODE
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect, UncheckedRequest
from app.identity.protocols.oauth.code_challenge import PLAIN, S256, VERIFIER

_METHODS = {"S256": S256, "SHA256": S256, "plain": PLAIN}
_DIGEST = re.compile(r"[A-Za-z0-9_-]{43}")


def check(request: UncheckedRequest) -> None:
    if CODE not in request.accepted["response_type"].split():
        return  # there is no code that a challenge could bind
    challenge, requested = request.values.get("code_challenge"), request.values.get("code_challenge_method")
    settings = request.client.settings
    if challenge is None:
        if requested is not None or _is_required(request.client):
            raise RefusedByRedirect("invalid_request", "The code_challenge is a required parameter.")
        return
    method = _METHODS.get(requested or S256)
    if method is None or (method == PLAIN and not settings.allow_plain_pkce):
        raise RefusedByRedirect("invalid_request", "The code_challenge_method is not supported: use S256.")
    if not (_DIGEST if method == S256 else VERIFIER).fullmatch(challenge):
        raise RefusedByRedirect("invalid_request", "The code_challenge is not formatted correctly.")
    request.accepted.update(code_challenge=challenge, code_challenge_method=method)


def still_holds(context: Context, client: Application, request: CheckedRequest) -> bool:
    """Return whether the code is bound as its client needs it now."""
    del context
    if CODE not in request.response_type.split():
        return True
    if request.code_challenge is None:
        return not _is_required(client)
    return request.code_challenge_method == S256 or client.settings.allow_plain_pkce


def _is_required(client: Application) -> bool:
    return client.settings.is_public or client.settings.must_use_pkce
