"""Authlib's Flask client, which validates state, nonce, issuer and id_token by itself, gets only issuer, id and secret."""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import urlsplit

from authlib.integrations.flask_client import OAuth
from flask import Flask, jsonify, session
from flask.testing import FlaskClient
from flask.typing import ResponseReturnValue

from tests.conformance.provider import BYE, CALLBACK, Provider
from tests.conformance.visitor import Visitor


def relying_party(provider: Provider) -> FlaskClient:
    """Return a relying party as a stranger would write it from Authlib's manual."""
    app = Flask("relying party")
    app.secret_key = secrets.token_hex()
    op: Any = OAuth(app).register(
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
    app.add_url_rule("/cb", "callback", lambda: arrived(op))
    app.add_url_rule("/logout", "logout", lambda: left(op))
    return app.test_client()


def arrived(op: Any) -> ResponseReturnValue:
    """Finish the sign-in, read the person's claims, refresh, and read them again."""
    token = op.authorize_access_token()
    session["id_token"] = token["id_token"]
    person = op.userinfo(token=token)
    renewed = op.fetch_access_token(grant_type="refresh_token", refresh_token=token["refresh_token"])
    is_rotated = renewed["refresh_token"] != token["refresh_token"]
    return jsonify(claims=token["userinfo"], person=person, again=op.userinfo(token=renewed), is_rotated=is_rotated)


def left(op: Any) -> ResponseReturnValue:
    """Send the browser to sign out."""
    answer: ResponseReturnValue = op.logout_redirect(post_logout_redirect_uri=BYE, id_token_hint=session["id_token"])
    return answer


def test_authlib_signs_in_refreshes_and_signs_out(provider: Provider, visitor: Visitor) -> None:
    site = relying_party(provider)
    back = visitor.arrive(site.get("/login").headers["Location"], CALLBACK)
    held = site.get("/cb?" + urlsplit(back).query).json or {}
    assert held["claims"]["iss"] == provider.issuer
    assert held["claims"]["aud"] == provider.client_id
    assert held["person"]["email"] == "ada@example.com"
    assert held["person"]["name"] == "Ada Lovelace"
    assert held["again"] == held["person"]
    assert held["is_rotated"]
    assert visitor.pages == ["/login"]
    again = visitor.arrive(site.get("/login").headers["Location"], CALLBACK)
    assert again.startswith(CALLBACK)
    assert visitor.pages == ["/login"]  # still signed in: no page
    assert visitor.arrive(site.get("/logout").headers["Location"], BYE).startswith(BYE)
    visitor.arrive(site.get("/login").headers["Location"], CALLBACK)
    assert visitor.pages == ["/login", "/login"]
