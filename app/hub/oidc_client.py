"""The hub as an OpenID Connect client: starts a sign-in for an account page, finishes it at `/callback/{name}`.

`state` is signed, and an encrypted cookie binds it to the browser; the cookie also holds the PKCE verifier and the nonce
(RFC 6749 §4.1, RFC 7636, RFC 9207, OpenID Connect Core §3.1.3.7).
"""

from __future__ import annotations

import hmac
import logging
import re
from typing import TYPE_CHECKING, Any, Final

from flask import Blueprint, Response
from itsdangerous import BadData, URLSafeTimedSerializer
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from werkzeug.exceptions import NotFound

from app.contract.errors import UnknownAccount
from app.contract.oauth.pages import authorization_pages
from app.hub.account_pages import DEFAULT, is_landing
from app.hub.components.error_pages import ErrorPage, RequestError
from app.hub.encryption import derive_key
from app.hub.web.cookies import delete_cookie, set_cookie
from app.hub.web.responses import redirect_to
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit
from app.kit import randomness
from app.kit.operations.client import ServiceUnavailable

if TYPE_CHECKING:
    from app.kit.outbound.oauth_client import OAuth2Client

log = logging.getLogger("gatehouse.hub")

CLIENT_NAME: Final = "profile"
"""Name of the hub's own client."""
LIFETIME_SECONDS: Final = 600
_MAX_PENDING: Final = 3
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ALGORITHMS: Final = ["RS256", "RS384", "RS512", "PS256", "ES256", "EdDSA", "Ed25519"]

views = Blueprint("callback", __name__)


class LoginFailed(Exception):
    """The callback does not match the request that this browser sent; the text goes into the log."""


def start_login(landing: str, *, reauthenticate: bool = False) -> Response:
    """Redirect to the authorization endpoint, then to an account page; `reauthenticate` sends `prompt=login`.

    Any other address than that of an account page continues at /profile.
    """
    landing = landing if is_landing(landing) else DEFAULT
    hub_client = api()(authorization_pages.hub_client, authorization_pages.HubClientRequest(name=CLIENT_NAME))
    pending = {"id": randomness.token(9), "verifier": randomness.token(48), "nonce": randomness.token(16)}
    with _client(hub_client) as client:
        address, _ = client.create_authorization_url(
            hub_client.authorization_endpoint,
            state=_signer().dumps([pending["id"], landing]),
            code_verifier=pending["verifier"],
            nonce=pending["nonce"],
            **({"prompt": "login"} if reauthenticate else {}),
        )
    response = redirect_to(address)
    set_cookie(
        response, _cookie(pending["id"]), services().cookie_cipher.encrypt(pending, _context()), LIFETIME_SECONDS
    )
    names = [name for name in current_visit().cookies if name.startswith(_cookie(""))]
    for name in names[_MAX_PENDING - 1 :]:
        delete_cookie(response, name)
    return response


@views.get("/callback/<name>")
def finish_login(name: str) -> Response:
    """Exchange the code, validate the id_token, and continue on the account page."""
    if not _NAME.fullmatch(name):
        raise NotFound
    try:
        hub_client = api()(authorization_pages.hub_client, authorization_pages.HubClientRequest(name=name.lower()))
    except UnknownAccount:
        return ErrorPage.of(404, reference=current_visit().reference).render(404)
    try:
        pending, landing = _pending_login()
        _check_issuer(hub_client)
        _check_token(hub_client, _exchange(hub_client, pending["verifier"]), pending["nonce"])
    except LoginFailed as problem:
        visit = current_visit()
        log.warning("callback %s not finished: %s, reference %s", name, problem, visit.reference)
        return ErrorPage(RequestError.SIGN_IN_FAILED, 400, visit.reference, again="/profile").render(400)
    response = redirect_to(landing)
    delete_cookie(response, _cookie(pending["id"]))
    return response


def _pending_login() -> tuple[dict[str, str], str]:
    """Return the pending login of this browser and its account page. Raises LoginFailed."""
    visit = current_visit()
    if any(len(values) > 1 for values in visit.query.listvalues()):
        raise LoginFailed("a parameter comes twice (RFC 6749 section 3.1)")
    if error := visit.query.get("error"):
        raise LoginFailed(f"the provider answered {error[:40]!r}")
    try:
        state_id, landing = _signer().loads(visit.query.get("state", ""), max_age=LIFETIME_SECONDS)
    except (BadData, ValueError, TypeError) as problem:
        raise LoginFailed("the state is not ours or too old") from problem
    pending = services().cookie_cipher.decrypt(visit.cookies.get(_cookie(str(state_id)), ""), _context())
    if (
        not isinstance(pending, dict)
        or not hmac.compare_digest(str(pending.get("id")), str(state_id))
        or not is_landing(landing)
    ):
        raise LoginFailed("the state was given to another browser")
    return pending, landing


def _check_issuer(hub_client: authorization_pages.HubClient) -> None:
    if current_visit().query.get("iss") != hub_client.issuer:
        raise LoginFailed("the answer is another issuer's")


def _exchange(hub_client: authorization_pages.HubClient, verifier: str) -> dict[str, Any]:
    """Return the token response. Raises LoginFailed, ServiceUnavailable."""
    from app.hub.client.transports import TRANSPORT_ERROR
    from app.kit.outbound.oauth_client import OAuthError

    with _client(hub_client) as client:
        try:
            response: dict[str, Any] = client.fetch_token(
                hub_client.token_endpoint,
                grant_type="authorization_code",
                code=current_visit().query.get("code", ""),
                code_verifier=verifier,
            )
        except OAuthError as refusal:
            raise LoginFailed(f"the token endpoint answered {refusal.error}") from refusal
        except (TRANSPORT_ERROR, ValueError) as problem:
            raise ServiceUnavailable from problem
    return response


def _check_token(hub_client: authorization_pages.HubClient, token_response: dict[str, Any], nonce: str) -> None:
    """Validate the id_token: signature, issuer, audience, times, nonce. Raises LoginFailed."""
    with _client(hub_client) as client:
        keys = client.request("GET", hub_client.jwks_uri, withhold_token=True).json()
    rules = jwt.JWTClaimsRegistry(
        now=services().now(),
        leeway=5,
        iss={"essential": True, "value": hub_client.issuer},
        aud={"essential": True, "value": hub_client.client_id},
        exp={"essential": True},
        nonce={"essential": True, "value": nonce},
    )
    try:
        token = jwt.decode(str(token_response.get("id_token", "")), KeySet.import_key_set(keys), algorithms=_ALGORITHMS)
        rules.validate(token.claims)
    except (JoseError, ValueError, KeyError) as problem:
        raise LoginFailed(f"the id_token is not good: {problem}") from problem


def _client(hub_client: authorization_pages.HubClient) -> OAuth2Client:
    from app.kit.outbound.oauth_client import OAuth2Client

    return OAuth2Client(
        hub_client.client_id,
        redirect_uri=f"{current_visit().origin}/callback/{CLIENT_NAME}",
        scope=hub_client.scope,
        code_challenge_method="S256",
        token_endpoint_auth_method="none",
        transport=services().identity_client.issuer_transport(),
    )


def _signer() -> URLSafeTimedSerializer:
    keys = [derive_key(secret, "hub callback state") for secret in reversed(services().settings.secrets)]
    return URLSafeTimedSerializer(keys, salt=current_visit().tenant.name)


def _cookie(state_id: str) -> str:
    return f"{services().cookie_prefix}gatehouse-callback-{state_id[:12]}"


def _context() -> str:
    return f"{current_visit().tenant.name} callback"
