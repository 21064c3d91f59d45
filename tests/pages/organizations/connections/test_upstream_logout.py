"""Back-channel logout received from an organization's provider (OpenID Connect Back-Channel Logout 1.0 section 2.6)."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from joserfc import jws, jwt
from werkzeug.test import TestResponse

from app.identity.authentication.sign_in.sessions import upstream_sessions
from app.identity.authentication.sign_in.sessions.upstream_sessions import EVENT
from app.kit import randomness
from app.kit.limits.rate_limits import Rate
from tests.support.fakes.identity_provider import CLIENT, key
from tests.support.organizations.connected_organization import DOMAIN, ConnectedOrganization, NewConnected
from tests.support.races import at_once
from tests.support.visitors.visitor import Visitor

SID = "session-at-globex"


def logout_token(globex: ConnectedOrganization, number: int = 1, typ: str | None = "logout+jwt", **changed: Any) -> str:
    """Return a logout token of the provider; None removes a claim."""
    now = globex.provider.now
    claims = {
        "iss": globex.provider.url, "aud": CLIENT, "iat": now, "exp": now + 120, "jti": randomness.token(16),
        "events": {EVENT: {}}, "sid": SID, "sub": "mina-1", **changed,
    }  # fmt: skip
    header = {"alg": "RS256", "kid": "key-1", **({"typ": typ} if typ else {})}
    registry = jws.JWSRegistry(algorithms=["RS256"], strict_check_header=False)
    return jwt.encode(
        header, {name: value for name, value in claims.items() if value is not None}, key(number), registry=registry
    )


def post(globex: ConnectedOrganization, token: str, path: str = "", network: str = "127.0.0.1") -> TestResponse:
    address = f"/{path or globex.path}/backchannel-logout"
    return globex.tenant.wsgi.open(
        address, method="POST", data={"logout_token": token}, base_url=globex.visitor.home,
        environ_overrides={"REMOTE_ADDR": network},
    )  # fmt: skip


def is_in(visitor: Visitor) -> bool:
    return not visitor.open("/profile").is_sign_in


@pytest.fixture
def signed_in(globex: ConnectedOrganization) -> ConnectedOrganization:
    globex.sign_in(sid=SID)
    return globex


@pytest.mark.parametrize("typ", ["logout+jwt", "JWT", None])
def test_logout_token_ends_the_session(signed_in: ConnectedOrganization, typ: str | None) -> None:
    other = signed_in.new_visitor_at(signed_in.tenant)
    signed_in.sign_in(other, sid="another session")
    answer = post(signed_in, logout_token(signed_in, typ=typ))
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    assert not is_in(signed_in.visitor)
    assert is_in(other)
    assert len(signed_in.events("session.ended_upstream")) == 1


def test_token_with_a_subject_alone_ends_every_session(signed_in: ConnectedOrganization) -> None:
    other = signed_in.new_visitor_at(signed_in.tenant)
    signed_in.sign_in(other)
    jonathan = signed_in.new_visitor_at(signed_in.tenant)
    signed_in.sign_in(jonathan, sub="jonathan", email=f"jonathan@{DOMAIN}")
    assert post(signed_in, logout_token(signed_in, sid=None)).status_code == 200
    assert [is_in(item) for item in (signed_in.visitor, other, jonathan)] == [False, False, True]


def test_session_by_password_does_not_end(globex: ConnectedOrganization) -> None:
    mina = globex.tenant.person(f"mina@{DOMAIN}")
    globex.sign_in(sid=SID)
    by_password = globex.new_visitor_at(globex.tenant)
    by_password.open("/login?direct=y").press("Sign in", identifier=mina.email, password=mina.password)
    assert post(globex, logout_token(globex, sid=None)).status_code == 200
    assert is_in(by_password)


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://evil.example"}, {"aud": "another client"}, {"aud": None}, {"iat": None}, {"iat": 1}, {"exp": 1},
        {"jti": None}, {"jti": 7}, {"events": None}, {"events": {}}, {"events": {EVENT: "x"}}, {"events": [EVENT]},
        {"nonce": "n"}, {"nonce": ""}, {"sid": None, "sub": None}, {"sid": 7}, {"sub": ""}, {"iat": 99999999999},
    ],
    ids=str,
)  # fmt: skip
def test_wrong_claim_is_refused(signed_in: ConnectedOrganization, changed: dict[str, Any]) -> None:
    answer = post(signed_in, logout_token(signed_in, **changed))
    assert (answer.status_code, (answer.json or {}).get("error")) == (400, "invalid_request")
    assert is_in(signed_in.visitor)


@pytest.mark.parametrize("token", ["", "x", "x.y.z", "eyJhbGciOiJub25lIn0.e30."])
def test_malformed_token_is_refused(signed_in: ConnectedOrganization, token: str) -> None:
    assert post(signed_in, token).status_code == 400


def test_id_token_or_foreign_signature_is_refused(signed_in: ConnectedOrganization) -> None:
    assert post(signed_in, logout_token(signed_in, typ="at+jwt")).status_code == 400
    assert post(signed_in, logout_token(signed_in, number=2)).status_code == 400
    assert is_in(signed_in.visitor)


def test_token_works_once(signed_in: ConnectedOrganization) -> None:
    token = logout_token(signed_in)
    answers = at_once([partial(post, signed_in, token)] * 6)
    assert sorted(answer.status_code for answer in answers) == [200, 400, 400, 400, 400, 400]


def test_another_connection_ends_no_session(signed_in: ConnectedOrganization, new_connected: NewConnected) -> None:
    """Both organizations use one provider, so that its tokens are good for both; each ends its own sessions alone."""
    initech = new_connected(signed_in.tenant, name="Initech", domain="initech.example")
    assert post(initech, logout_token(initech)).status_code == 200
    assert post(initech, logout_token(initech, sid=None)).status_code == 200
    assert is_in(signed_in.visitor)


def test_another_tenant_ends_no_session(signed_in: ConnectedOrganization, new_connected: NewConnected) -> None:
    """Its organization is a client of the same name at the same provider, where the person has the same session."""
    abroad = new_connected()
    abroad.sign_in(sid=SID)
    assert post(abroad, logout_token(abroad)).status_code == 200
    assert post(abroad, logout_token(abroad, sid=None)).status_code == 200
    assert (is_in(abroad.visitor), is_in(signed_in.visitor)) == (False, True)
    assert post(abroad, logout_token(signed_in), path=signed_in.path).status_code == 400


def test_unknown_connection_is_refused(signed_in: ConnectedOrganization) -> None:
    assert post(signed_in, logout_token(signed_in), path=f"oauth/sp/{'x' * 34}").status_code == 400


def test_unknown_session_is_answered_as_a_known_one(signed_in: ConnectedOrganization) -> None:
    assert post(signed_in, logout_token(signed_in, sid="unknown", sub="unknown")).status_code == 200
    assert post(signed_in, logout_token(signed_in, sid=None, sub="unknown")).status_code == 200
    assert is_in(signed_in.visitor)


def test_requests_of_others_do_not_stop_the_provider(
    signed_in: ConnectedOrganization, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everyone who signed in knows the address."""
    monkeypatch.setattr(upstream_sessions, "_RATE", Rate(3, 60))
    answers = [post(signed_in, "x", network="203.0.113.7") for _ in range(4)]
    assert (answers[-1].status_code, "Retry-After" in answers[-1].headers) == (429, True)
    assert post(signed_in, logout_token(signed_in)).status_code == 200
    assert not is_in(signed_in.visitor)
