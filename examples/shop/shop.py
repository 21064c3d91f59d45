"""A small shop whose customers sign in through Gatehouse: Flask, Authlib's client, and nothing of Gatehouse in it.

It knows three things of each issuer, as any OpenID Connect client does: its address, a client id and a client secret.
"""

import os
import secrets
from typing import Any

from authlib.integrations.base_client import OAuthError
from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, render_template, request, session, url_for
from joserfc.errors import JoseError
from werkzeug.wrappers import Response

from examples.shop import logout, tv
from examples.shop.localhost import app_class

GOODS = (("Notebook, dotted", "6.50"), ("Fountain pen", "24.00"), ("Ink, midnight blue", "11.00"))

app = Flask(__name__)
app.secret_key = os.environ.get("SHOP_SECRET_KEY") or secrets.token_bytes(32)
app.config.update(SESSION_COOKIE_NAME="shop", SESSION_COOKIE_SAMESITE="Lax", SERVER_NAME=os.environ["SHOP_HOST"])

app.register_blueprint(tv.views)

ended = logout.EndedSessions()
oauth = OAuth(app)
ISSUERS: dict[str, str] = dict(entry.split("=", 1) for entry in os.environ["SHOP_ISSUERS"].split())
for name, issuer in ISSUERS.items():
    oauth.register(
        name,
        client_id=os.environ["SHOP_CLIENT_ID"],
        client_secret=os.environ["SHOP_CLIENT_SECRET"],
        server_metadata_url=f"{issuer}/.well-known/openid-configuration",
        client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
        client_cls=app_class(os.environ.get("SHOP_BACK_CHANNEL", "")),
    )


@app.get("/")
def home() -> str:
    person = session.get("person")
    account = f"{ISSUERS[person['issuer']]}/profile" if person else ""
    return render_template(
        "home.html", goods=GOODS, issuers=list(ISSUERS), person=person, account=account, has_tv=bool(tv.CLIENT_ID)
    )


@app.get("/sign-in/<name>")
def sign_in(name: str) -> Response:
    """Send the visitor to the issuer's page; Authlib keeps state, nonce and the PKCE verifier in our session."""
    if name not in ISSUERS:
        return redirect(url_for("home"))
    parameters = {key: request.args[key] for key in ("prompt", "login_hint", "ui_locales") if key in request.args}
    answer: Response = oauth.create_client(name).authorize_redirect(
        url_for("signed_in", name=name, _external=True), **parameters
    )
    return answer


@app.get("/signed-in/<name>")
def signed_in(name: str) -> Response | tuple[str, int]:
    """Exchange the code for tokens; Authlib checks state, PKCE, signature, issuer, audience and nonce."""
    if name not in ISSUERS:
        return redirect(url_for("home"))
    client = oauth.create_client(name)
    try:
        token: dict[str, Any] = client.authorize_access_token()
        person = client.userinfo(token=token)
    except OAuthError as refusal:
        return render_template("refused.html", error=refusal.error, description=refusal.description), 400
    known = {claim: token["userinfo"].get(claim) for claim in ("sub", "sid", "iat")}
    session["person"] = {"issuer": name, "claims": dict(person), "id_token": token["id_token"], "session": known}
    return redirect(url_for("home"))


@app.post("/sign-out")
def sign_out() -> Response:
    """End the session here, then at the issuer (OpenID Connect RP-Initiated Logout)."""
    person = session.pop("person", None)
    if person is None or "id_token" not in person:  # a TV has no session in this browser at the issuer
        return redirect(url_for("home"))
    client = oauth.create_client(person["issuer"])
    answer: Response = client.logout_redirect(url_for("home", _external=True), id_token_hint=person["id_token"])
    return answer


@app.post("/backchannel-logout/<name>")
def signed_out_elsewhere(name: str) -> tuple[dict[str, str], int]:
    """The issuer's server reports the end of a session, wherever the person signed out."""
    if name not in ISSUERS:
        return {"error": "invalid_request"}, 404
    try:
        ended.add(name, logout.read(oauth.create_client(name), request.form.get("logout_token", "")))
    except (JoseError, ValueError):
        return {"error": "invalid_request"}, 400
    return {}, 200


@app.before_request
def forget_ended_session() -> None:
    person = session.get("person") or {}
    if "session" in person and ended.has(person["issuer"], person["session"]):
        session.pop("person")


@app.after_request
def protect(answer: Response) -> Response:
    issuers = " ".join(ISSUERS.values())
    policy = f"default-src 'none'; style-src 'self'; img-src {issuers}; form-action 'self' {issuers}"
    answer.headers["Content-Security-Policy"] = policy + "; frame-ancestors 'none'; base-uri 'none'"
    answer.headers["Cache-Control"] = "no-store"
    return answer
