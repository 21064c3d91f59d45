"""Binds tokens to the key of their sender (RFC 7800): of a DPoP proof (RFC 9449), or of a TLS certificate (RFC 8705).

A `Confirmation` names the verified keys of the sender; its tokens have them as their claim `cnf`, and each request with such a
token must show the same keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from app.contract.oauth.oauth_errors import InvalidDpopProof, InvalidGrant, InvalidRequest, UseDpopNonce
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import TokenClaims
from app.identity.protocols.oauth.sender_constraints import client_certificates, client_keys, dpop
from app.identity.protocols.oauth.sender_constraints.dpop import DpopProofRefused, ExpectedDpop

JKT: Final = "jkt"
"""The thumbprint of the key of DPoP proofs (RFC 9449 section 6.1)."""
X5T: Final = "x5t#S256"
"""The thumbprint of the certificate of TLS connections (RFC 8705 section 3.1)."""


@dataclass(frozen=True)
class Confirmation:
    """The keys and certificates that the sender of a client's request holds, to which its tokens are bound."""

    keys: Mapping[str, str] = field(default_factory=dict)
    """Thumbprints by their name in `cnf`."""

    @property
    def cnf(self) -> dict[str, str] | None:
        """The claim of the tokens (RFC 7800 section 3.1); None for bearer tokens."""
        return dict(self.keys) or None

    @property
    def token_type(self) -> str:
        """The `token_type` of the tokens (RFC 9449 section 5)."""
        return type_of(self.keys)


UNBOUND: Final = Confirmation()
"""Of tokens that the authorization endpoint issues, where no sender proves a key."""


class SenderRefused(Exception):
    """The sender of the request does not hold the key of the token; the response has the challenge (RFC 9449 section 7.1)."""

    def __init__(self, error: str, reason: str) -> None:
        super().__init__(reason)
        self.error = error
        self.reason = reason


def confirm_sender(context: Context, client: Application) -> Confirmation:
    """Return the keys that a token request proves, by its proof and certificate (RFC 9449 section 5, RFC 8705 section 3).

    Raises:
        InvalidRequest: there is no certificate to which the client's tokens must be bound.
        InvalidDpopProof: the proof is wrong, or is missing where the client's tokens must be bound.
        UseDpopNonce: the proof needs a new nonce.
    """
    keys: dict[str, str] = {}
    if client.settings.tls_client_certificate_bound_access_tokens:
        certificate = client_certificates.of(context)
        if certificate is None:
            raise InvalidRequest("This client must present its certificate.")
        keys[X5T] = certificate.thumbprint
    if dpop.is_sent(context.raw):
        keys[JKT] = _endpoint_key(context, client)
    elif client.settings.dpop_bound_access_tokens or (client.settings.needs_bound_tokens and not keys):
        raise InvalidDpopProof("This client must send a DPoP proof.")
    return Confirmation(keys)


def pushed_key(context: Context, client: Application, requested: str | None) -> str | None:
    """Return the key that the code of a pushed request is bound to: `dpop_jkt`, or that of its proof (RFC 9449 section 10.1).

    Raises InvalidDpopProof, also if both are present and differ, and UseDpopNonce.
    """
    if not dpop.is_sent(context.raw):
        return requested
    confirmed = _endpoint_key(context, client)
    if requested not in (None, confirmed):
        raise InvalidDpopProof("The dpop_jkt is not the key of the DPoP proof.")
    return confirmed


def type_of(cnf: Mapping[str, str]) -> str:
    """Return the `token_type` of a token with this `cnf` (RFC 9449 section 6.2)."""
    return "DPoP" if JKT in cnf else "Bearer"


def of_refresh_token(client: Application, claims: TokenClaims) -> TokenClaims:
    """Return the claims of a refresh token without `cnf` for a confidential client, whose authentication binds it."""
    return claims if client.settings.is_public else replace(claims, cnf=None)


def check_code(confirmation: Confirmation, expected: str | None) -> None:
    """Raise InvalidGrant where the code is bound to another key than that of the proof (RFC 9449 section 10)."""
    if expected is not None and confirmation.keys.get(JKT) != expected:
        raise InvalidGrant("The code is bound to another DPoP key.")


def check_refresh(confirmation: Confirmation, client: Application, claims: TokenClaims) -> None:
    """Check the sender of a refresh token (RFC 9449 section 5).

    A public client's is bound to the key itself. A confidential client may change its key, but not go back to bearer tokens.

    Raises InvalidGrant.
    """
    for name, bound in (claims.cnf or {}).items():
        confirmed = confirmation.keys.get(name)
        if confirmed is None or (client.settings.is_public and confirmed != bound):
            raise InvalidGrant("The refresh_token is bound to a key that the request does not prove.")


def check_presented(
    context: Context, confirmation: Confirmation, client: Application, claims: TokenClaims, *, is_refresh: bool
) -> Confirmation:
    """Check that the client holds the key of a token that it presents for an exchange (RFC 9449 section 5, RFC 8705 section 3).

    Return the confirmation of its new tokens: they are bound to the same key, so an exchange never turns a bound token into a
    bearer token.

    Raises InvalidGrant.
    """
    if is_refresh:
        check_refresh(confirmation, client, claims)
        return confirmation
    bound = claims.cnf or {}
    certificate = client_certificates.of(context) if X5T in bound else None
    confirmed = {JKT: confirmation.keys.get(JKT), X5T: certificate.thumbprint if certificate else None}
    if any(confirmed.get(name) != value for name, value in bound.items()):
        raise InvalidGrant("The token is bound to a key that the request does not prove.")
    return Confirmation({**confirmation.keys, **bound})


def check(context: Context, token: str, cnf: Mapping[str, str], client_id: str | None) -> None:
    """Check that the sender of a request holds the key of its access token (RFC 9449 section 7.1).

    A bound token is not taken as a bearer token, nor a bearer token with the scheme DPoP (RFC 9449 section 7.2).

    Args:
        cnf: that of the token (RFC 7800 section 3.1); empty for a bearer token.

    Raises SenderRefused.
    """
    if (certificate := cnf.get(X5T)) is not None:
        _check_certificate(context, token, certificate)
    bound, has_scheme = cnf.get(JKT), context.raw.auth_scheme == dpop.SCHEME
    if bound is None and not has_scheme:
        return
    if bound is None:
        raise _refused(context, "invalid_token", "The access token is not bound to a key.")
    if not has_scheme or context.raw.header_token() != token:
        raise _refused(context, "invalid_token", "This access token needs the scheme DPoP and a proof.")
    client = context.application(client_id=client_id) if client_id is not None else None
    try:
        confirmed = dpop.verify(context, _expected(client, token))
    except DpopProofRefused as refusal:
        raise _refused(context, refusal.error, refusal.reason) from None
    if confirmed != bound:
        raise _refused(context, "invalid_token", "The access token is bound to another key.")


def _check_certificate(context: Context, token: str, bound: str) -> None:
    """Check that the connection has the certificate that the token is bound to (RFC 8705 section 3). Raises SenderRefused.

    Addresses and bodies end up in logs, so it comes in the header (FAPI 2.0 Security Profile section 5.3.4).
    """
    certificate = client_certificates.of(context)
    if context.raw.header_token() != token:
        reason = "This access token belongs in the Authorization header."
    elif certificate is None or certificate.thumbprint != bound:
        reason = "The access token is bound to another certificate."
    else:
        return
    context.raw.response_headers["WWW-Authenticate"] = f'Bearer error="invalid_token", error_description="{reason}"'
    raise SenderRefused("invalid_token", reason)


def _expected(client: Application | None, access_token: str | None = None) -> ExpectedDpop:
    if client is None:
        return ExpectedDpop(access_token)
    algorithms = client_keys.algorithms(client, dpop.ALGORITHMS)
    return ExpectedDpop(access_token, algorithms, client.settings.require_dpop_nonce)


def _endpoint_key(context: Context, client: Application) -> str:
    """Return the key of the proof at an endpoint for clients, whose errors are in the body (RFC 9449 sections 5 and 8)."""
    try:
        return dpop.verify(context, _expected(client))
    except DpopProofRefused as refusal:
        kind = UseDpopNonce if refusal.error == UseDpopNonce.code else InvalidDpopProof
        raise kind(refusal.reason) from None


def _refused(context: Context, error: str, reason: str) -> SenderRefused:
    """Return the refusal, and add the challenge to the response (RFC 9449 sections 7.1 and 9)."""
    algorithms = " ".join(dpop.ALGORITHMS)
    challenge = f'DPoP error="{error}", error_description="{reason}", algs="{algorithms}"'
    context.raw.response_headers["WWW-Authenticate"] = challenge
    return SenderRefused(error, reason)
