"""The code flow of a signed-in account: authorize and token, with PKCE and an RS256 id_token."""

import base64
import hashlib
import json
from collections.abc import Iterator
from urllib.parse import parse_qs, urlencode, urlsplit

from tools.bench.measurement import Budget, MeasuredLine, Operation, measure
from tools.bench.scene import CLIENT_SECRET, REDIRECT, RELYING_PARTY, TENANT, Scene
from tools.bench.visitor import BenchVisitor, Unexpected, path_of

BUDGET = Budget(bar=8, aim=5, counts={"sql": 7, "commits": 2, "signatures": 1})
VERIFIER = "v" * 64
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
CLIENT_ID = f"{TENANT}-{RELYING_PARTY}"
BASIC = "Basic " + base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()


def metadata(visitor: BenchVisitor) -> dict[str, str]:
    """What the issuer publishes of itself."""
    published: dict[str, str] = json.loads(visitor.get("/.well-known/openid-configuration").expect(200).text)
    return published


def tokens(browser: BenchVisitor, program: BenchVisitor, endpoints: dict[str, str], number: int) -> dict[str, str]:
    """Run the flow once and return the token response."""
    query = {
        "response_type": "code",
        "client_id": CLIENT_ID,
        "redirect_uri": REDIRECT,
        "scope": "openid email",
        "state": f"state-{number}",
        "nonce": f"nonce-{number}",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }
    address = path_of(endpoints["authorization_endpoint"])
    start = browser.get(f"{address}{'&' if '?' in address else '?'}{urlencode(query)}")
    end = browser.follow(start)
    answered = parse_qs(urlsplit(end.location).query)
    if not end.location.startswith(REDIRECT) or "code" not in answered:
        raise Unexpected(f"authorize ended at {end.path} with {end.status}, {end.location!r}")
    form = {"grant_type": "authorization_code", "code": answered["code"][0], "redirect_uri": REDIRECT}
    form["code_verifier"] = VERIFIER
    answer = program.post(path_of(endpoints["token_endpoint"]), form, Authorization=BASIC).expect(200)
    provided: dict[str, str] = json.loads(answer.text)
    return provided


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """The session is the same throughout; every run has a code of its own."""
    yield measure(scene.product, scene.bare, flow(scene)).line(
        "code flow of a signed-in person: authorize, token", BUDGET
    )


def flow(scene: Scene) -> Operation:
    browser, program = scene.visitor(), scene.visitor()
    endpoints = metadata(program)
    scene.sign_in(browser, 3)  # no member of an organization: its policies would be one more statement
    browser.costs.clear()
    program.costs.clear()

    def code_flow(number: int) -> BenchVisitor:
        tokens(browser, program, endpoints, number)
        for name, count in program.costs.items():
            browser.costs[name] = browser.costs.get(name, 0) + count
        program.costs.clear()
        return browser

    return code_flow
