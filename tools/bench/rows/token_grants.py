"""The token endpoint for refresh and client credentials, and the code flow with a pushed request and DPoP."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Iterator
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey

from tools.bench.measurement import Budget, MeasuredLine, Operation, measure
from tools.bench.rows.code_flow import BASIC, CHALLENGE, CLIENT_ID, VERIFIER, metadata, tokens
from tools.bench.scene import REDIRECT, Scene
from tools.bench.visitor import BenchVisitor, Unexpected, path_of

REFRESH = Budget(bar=10, aim=6, counts={"sql": 5, "commits": 1, "signatures": 1})
CREDENTIALS = Budget(bar=4, aim=2, counts={"sql": 2, "commits": 1, "signatures": 0})
BOUND = Budget(bar=20, aim=12, counts={"sql": 11, "commits": 3, "signatures": 1})
"""The code flow's statements, and four for the pushed request, which its response uses up."""
KEY = ECKey.generate_key("P-256")


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """Each refresh spends the token of the one before; each bound flow has new proofs of one key."""
    refresh, credentials = grants(scene)
    yield measure(scene.product, scene.bare, refresh).line("refresh of tokens", REFRESH)
    yield measure(scene.product, scene.bare, credentials).line("client credentials", CREDENTIALS)
    name = "code flow, pushed request, DPoP: push, authorize, token"
    yield measure(scene.product, scene.bare, bound_flow(scene)).line(name, BOUND)


def grants(scene: Scene) -> tuple[Operation, Operation]:
    """Return the refresh, and the client credentials."""
    browser, program = scene.visitor(), scene.visitor()
    endpoints = metadata(program)
    scene.sign_in(browser, 4)
    stored = {"refresh_token": tokens(browser, program, endpoints, 0)["refresh_token"]}
    program.costs.clear()
    token = path_of(endpoints["token_endpoint"])

    def refresh(_: int) -> BenchVisitor:
        answer = program.post(token, {"grant_type": "refresh_token", **stored}, Authorization=BASIC).expect(200)
        stored["refresh_token"] = json.loads(answer.text)["refresh_token"]
        return program

    def credentials(_: int) -> BenchVisitor:
        program.post(token, {"grant_type": "client_credentials"}, Authorization=BASIC).expect(200)
        return program

    return refresh, credentials


def bound_flow(scene: Scene) -> Operation:
    """Return the flow of `code_flow` as FAPI asks for it."""
    browser, program = scene.visitor(), scene.visitor()
    endpoints = metadata(program)
    scene.sign_in(browser, 4)
    browser.costs.clear()
    program.costs.clear()

    def post(name: str, form: dict[str, str], status: int) -> dict[str, str]:
        address = endpoints[name]
        fields = {"Authorization": BASIC, "DPoP": dpop_proof("POST", address)}
        answer: dict[str, str] = json.loads(program.post(path_of(address), form, **fields).expect(status).text)
        return answer

    def flow(number: int) -> BenchVisitor:
        query = {
            "response_type": "code",
            "redirect_uri": REDIRECT,
            "scope": "openid email",
            "state": f"state-{number}",
            "nonce": f"nonce-{number}",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
        }
        pushed = post("pushed_authorization_request_endpoint", query, 201)
        taken = urlencode({"client_id": CLIENT_ID, "request_uri": pushed["request_uri"]})
        end = browser.follow(browser.get(f"{path_of(endpoints['authorization_endpoint'])}?{taken}"))
        answered = parse_qs(urlsplit(end.location).query)
        if "code" not in answered:
            raise Unexpected(f"authorize ended at {end.path} with {end.status}, {end.location!r}")
        form = {"grant_type": "authorization_code", "code": answered["code"][0], "redirect_uri": REDIRECT}
        provided = post("token_endpoint", {**form, "code_verifier": VERIFIER}, 200)
        if provided["token_type"] != "DPoP":
            raise Unexpected(f"the tokens are of the type {provided['token_type']}")
        for cost, count in program.costs.items():
            browser.costs[cost] = browser.costs.get(cost, 0) + count
        program.costs.clear()
        return browser

    return flow


def dpop_proof(method: str, address: str, access_token: str | None = None) -> str:
    """Return a proof of this program's key (RFC 9449 section 4.2)."""
    claims = {"jti": secrets.token_urlsafe(12), "htm": method, "htu": address, "iat": int(time.time())}
    if access_token is not None:
        digest = hashlib.sha256(access_token.encode()).digest()
        claims["ath"] = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return jwt.encode({"typ": "dpop+jwt", "alg": "ES256", "jwk": KEY.as_dict(private=False)}, claims, KEY)
