"""Authlib's Flask client, which validates state, nonce, issuer and id_token by itself, gets only issuer, id and secret."""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import urlsplit

from authlib.integrations.flask_client import OAuth
from flask import Flask, jsonify, session
from flask.testing import FlaskClient
from flask.typing import ResponseReturnValue

from tests.conformance.provider import BYE, CALLBACK, ConformanceProvider
from tests.conformance.visitor import ConformanceVisitor


def relying_party(provider: ConformanceProvider) -> FlaskClient:
    """Return a relying party as in Authlib's manual."""
    app = Flask("relying party")
    app.secret_key = secrets.token_hex()
    oauth: Any = OAuth(app)  # untyped
    op = oauth.register(
        "op",
        client_id=provider.client_id,
        client_secret=provider.secret,
        server_metadata_url=f"{provider.issuer}/.well-known/openid-configuration",
        client_kwargs={
            "scope": "openid profile email offline_access",
            "code_challenge_method": "S256",
            "token_endpoint_auth_method": "client_secret_basic" if provider.secret else "none",
        },
    )
    app.add_url_rule("/login", "login", lambda: op.authorize_redirect(CALLBACK))
    app.add_url_rule("/cb", "callback", lambda: callback(op))
    app.add_url_rule("/logout", "logout", lambda: logout(op))
    return app.test_client()


def callback(op: Any) -> ResponseReturnValue:
    """Finish the sign-in, read the user's claims, refresh, and read them again."""
    token = op.authorize_access_token()
    session["id_token"] = token["id_token"]
    person = op.userinfo(token=token)
    renewed = op.fetch_access_token(grant_type="refresh_token", refresh_token=token["refresh_token"])
    is_rotated = renewed["refresh_token"] != token["refresh_token"]
    return jsonify(claims=token["userinfo"], person=person, again=op.userinfo(token=renewed), is_rotated=is_rotated)


def logout(op: Any) -> ResponseReturnValue:
    """Send the browser to sign out."""
    answer: ResponseReturnValue = op.logout_redirect(post_logout_redirect_uri=BYE, id_token_hint=session["id_token"])
    return answer


def test_authlib_signs_in_refreshes_and_signs_out(provider: ConformanceProvider, visitor: ConformanceVisitor) -> None:
    client = relying_party(provider)
    callback_url = visitor.arrive(client.get("/login").headers["Location"], CALLBACK)
    result = client.get("/cb?" + urlsplit(callback_url).query).json or {}
    assert result["claims"]["iss"] == provider.issuer
    assert result["claims"]["aud"] == provider.client_id
    assert result["person"]["email"] == "ada@example.com"
    assert result["person"]["name"] == "Ada Lovelace"
    assert result["again"] == result["person"]
    assert result["is_rotated"]
    assert visitor.pages == ["/login"]
    second_visit = visitor.arrive(client.get("/login").headers["Location"], CALLBACK)
    assert second_visit.startswith(CALLBACK)
    assert visitor.pages == ["/login"]  # still signed in: no page
    assert visitor.arrive(client.get("/logout").headers["Location"], BYE).startswith(BYE)
    visitor.arrive(client.get("/login").headers["Location"], CALLBACK)
    assert visitor.pages == ["/login", "/login"]
