"""code_challenge: PKCE (RFC 7636), demanded of public clients and of those that say so (RFC 9700 section 2.1.1).

The interface's older documents write SHA256 for S256, and it is the default: never `plain` by silence.
"""

import re

from app.identity.protocols.oauth.authorize.request import Asked, Redirected

S256, PLAIN = "S256", "plain"
_METHODS = {"S256": S256, "SHA256": S256, "plain": PLAIN}
_DIGEST = re.compile(r"[A-Za-z0-9_-]{43}")
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


def check(asked: Asked) -> None:
    challenge, named = asked.values.get("code_challenge"), asked.values.get("code_challenge_method")
    settings = asked.client.settings
    if challenge is None:
        if named is not None or settings.is_public or settings.require_pkce:
            raise Redirected("invalid_request", "The code_challenge is a required parameter.")
        return
    method = _METHODS.get(named or S256)
    if method is None or (method == PLAIN and not settings.allow_plain_pkce):
        raise Redirected("invalid_request", "The code_challenge_method is not supported: use S256.")
    if not (_DIGEST if method == S256 else VERIFIER).fullmatch(challenge):
        raise Redirected("invalid_request", "The code_challenge is not formatted correctly.")
    asked.kept.update(code_challenge=challenge, code_challenge_method=method)
