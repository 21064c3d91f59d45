"""The hub as a relying party: begins a sign-in for one of its own pages and finishes the redirect at `/callback/{name}`.

State is signed and bound to the browser by a sealed cookie, which also keeps the PKCE verifier and the nonce; the code is
exchanged by Authlib at the token endpoint (RFC 6749 §4.1, RFC 7636, RFC 9207, OpenID Connect Core §3.1.3.7).
"""

from __future__ import annotations

import hmac
import logging
import re
from typing import Any, Final

from flask import Blueprint, Response, request
from itsdangerous import BadData, URLSafeTimedSerializer
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from werkzeug.exceptions import NotFound

from app.contract import hub as contract
from app.contract.errors import UnknownAccount
from app.hub import journey
from app.hub.cookies import delete_cookie, set_cookie
from app.hub.encryption import derive_key
from app.hub.identity_client import NO_ANSWER
from app.hub.parts.error_pages import ErrorPage, RequestTrouble
from app.hub.services import api, services
from app.hub.visit import current_visit
from app.kit import randomness
from app.kit.client import ServiceUnavailable
from app.kit.oauth_client import OAuth2Client, OAuthError

log = logging.getLogger("gatehouse.hub")

OWN: Final = "profile"
"""The name of the hub's own registration."""
LIFETIME_SECONDS: Final = 600
OWN_PAGES: Final = (
    "/profile", "/profile/edit", "/username", "/emails", "/emails/add", "/phone", "/phone/change", "/phone/remove", "/security",
    "/security-questions", "/delete-account", "/change-password", "/set-password", "/second-factors", "/second-factors/add",
    "/second-factors/remove", "/backup-codes", "/passkeys", "/passkeys/add", "/passkeys/edit", "/applications", "/download-data",
    "/pin", "/identities", "/identities/add", "/identities/remove",
)  # fmt: skip
_PARAMETER: Final = re.compile(r"(kind|id|provider)=[A-Za-z0-9_-]{1,64}")
_MAX_PENDING: Final = 3
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ALGORITHMS: Final = ["RS256", "RS384", "RS512", "PS256", "ES256", "EdDSA"]

views = Blueprint("callback", __name__)


class LoginFailed(Exception):
    """The answer does not fit what this browser had asked for; the text goes into the log."""


def is_own_page(address: str) -> bool:
    """Return whether an address is one of our own pages, with nothing but what the page is about."""
    path, _, query = address.partition("?")
    return path in OWN_PAGES and (not query or _PARAMETER.fullmatch(query) is not None)


def start_login(landing: str, *, again: bool = False) -> Response:
    """Send the browser to sign in, and then to one of our own pages; `again` asks whoever is signed in to prove it anew."""
    own = api()(contract.own_client, contract.HubClientRequest(name=OWN))
    held = {"id": randomness.token(9), "verifier": randomness.token(48), "nonce": randomness.token(16)}
    with _client(own) as client:
        address, _ = client.create_authorization_url(
            own.authorization_endpoint,
            state=_signer().dumps([held["id"], landing]),
            code_verifier=held["verifier"],
            nonce=held["nonce"],
            **({"prompt": "login"} if again else {}),
        )
    response = journey.redirect_to(address)
    set_cookie(response, _cookie(held["id"]), services().cookie_cipher.encrypt(held, _place()), LIFETIME_SECONDS)
    waiting = [name for name in request.cookies if name.startswith(_cookie(""))]
    for name in waiting[_MAX_PENDING - 1 :]:
        delete_cookie(response, name)
    return response


@views.get("/callback/<name>")
def finish_login(name: str) -> Response:
    """Exchange the code, check whom the token speaks of, and go on to the page that had asked."""
    if not _NAME.fullmatch(name):
        raise NotFound
    try:
        own = api()(contract.own_client, contract.HubClientRequest(name=name.lower()))
    except UnknownAccount:
        return ErrorPage.of(404, reference=current_visit().reference).render(404)
    try:
        held, landing = _expected()
        _check_issuer(own)
        _check_token(own, _exchange(own, held["verifier"]), held["nonce"])
    except LoginFailed as problem:
        visit = current_visit()
        log.warning("callback %s not finished: %s, reference %s", name, problem, visit.reference)
        return ErrorPage(RequestTrouble.SIGN_IN_FAILED, 400, visit.reference, again="/profile").render(400)
    response = journey.redirect_to(landing)
    delete_cookie(response, _cookie(held["id"]))
    return response


def _expected() -> tuple[dict[str, str], str]:
    """Return what this browser was sent with, and where it wanted to go."""
    if error := request.args.get("error"):
        raise LoginFailed(f"the provider answered {error[:40]!r}")
    try:
        state_id, landing = _signer().loads(request.args.get("state", ""), max_age=LIFETIME_SECONDS)
    except (BadData, ValueError, TypeError) as problem:
        raise LoginFailed("the state is not ours or too old") from problem
    held = services().cookie_cipher.decrypt(request.cookies.get(_cookie(str(state_id)), ""), _place())
    if (
        not isinstance(held, dict)
        or not hmac.compare_digest(str(held.get("id")), str(state_id))
        or landing.partition("?")[0] not in OWN_PAGES
    ):
        raise LoginFailed("the state was given to another browser")
    return held, landing


def _check_issuer(own: contract.HubClient) -> None:
    if request.args.get("iss") != own.issuer:
        raise LoginFailed("the answer is another issuer's")


def _exchange(own: contract.HubClient, verifier: str) -> dict[str, Any]:
    with _client(own) as client:
        try:
            answer: dict[str, Any] = client.fetch_token(
                own.token_endpoint,
                grant_type="authorization_code",
                code=request.args.get("code", ""),
                code_verifier=verifier,
            )
        except OAuthError as refusal:
            raise LoginFailed(f"the token endpoint answered {refusal.error}") from refusal
        except (NO_ANSWER, ValueError) as problem:
            raise ServiceUnavailable from problem
    return answer


def _check_token(own: contract.HubClient, answer: dict[str, Any], nonce: str) -> None:
    """Check the id_token: signature under the issuer's keys, issuer, audience, times, nonce."""
    with _client(own) as client:
        keys = client.request("GET", own.jwks_uri, withhold_token=True).json()
    rules = jwt.JWTClaimsRegistry(
        now=services().now(),
        leeway=5,
        iss={"essential": True, "value": own.issuer},
        aud={"essential": True, "value": own.client_id},
        exp={"essential": True},
        nonce={"essential": True, "value": nonce},
    )
    try:
        token = jwt.decode(str(answer.get("id_token", "")), KeySet.import_key_set(keys), algorithms=_ALGORITHMS)
        rules.validate(token.claims)
    except (JoseError, ValueError, KeyError) as problem:
        raise LoginFailed(f"the id_token is not good: {problem}") from problem


def _client(own: contract.HubClient) -> OAuth2Client:
    visit = current_visit()
    return OAuth2Client(
        own.client_id,
        redirect_uri=f"{visit.scheme}://{visit.host}/callback/{OWN}",
        scope=own.scope,
        code_challenge_method="S256",
        token_endpoint_auth_method="none",
        transport=services().identity_client.inward(),
    )


def _signer() -> URLSafeTimedSerializer:
    keys = [derive_key(secret, "hub callback state") for secret in reversed(services().settings.secrets)]
    return URLSafeTimedSerializer(keys, salt=current_visit().tenant.name)


def _cookie(state_id: str) -> str:
    return f"{services().cookie_prefix}gatehouse-callback-{state_id[:12]}"


def _place() -> str:
    return f"{current_visit().tenant.name} callback"
