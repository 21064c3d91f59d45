"""A web app whose users sign in with Gatehouse: OpenID Connect, authorization code flow with PKCE."""

import tomllib

import localhost
from authlib.integrations.base_client import OAuthError
from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, render_template, session, url_for

localhost.resolve()  # development only: delete it, and localhost.py, once the issuer has a public host name

app = Flask(__name__)
app.config.from_file("config.toml", load=tomllib.load, text=False)
app.config.from_prefixed_env()  # FLASK_CLIENT_SECRET and so on replace the values of the file
# SECRET_KEY signs the session cookie. Lax: browsers send it on the way back from Gatehouse, not with forms of other sites.
app.config.update(SESSION_COOKIE_SAMESITE="Lax", SESSION_COOKIE_SECURE=app.config["ISSUER"].startswith("https:"))

gatehouse = OAuth(app).register(
    "gatehouse",
    client_id=app.config["CLIENT_ID"],
    client_secret=app.config["CLIENT_SECRET"],
    # Endpoints and signing keys are discovered here, so they need no configuration.
    server_metadata_url=f"{app.config['ISSUER']}/.well-known/openid-configuration",
    # PKCE: a stolen code is worthless without the verifier, which stays in this session.
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)


@app.get("/")
def home():
    return render_template("home.html", user=session.get("user"))


@app.get("/sign-in")
def sign_in():
    return gatehouse.authorize_redirect(url_for("signed_in", _external=True))


@app.get("/signed-in")
def signed_in():
    try:
        # Checks state and nonce, and the signature, issuer, audience and expiry of the ID token.
        token = gatehouse.authorize_access_token()
    except OAuthError as problem:
        return render_template("home.html", user=None, problem=problem.description or problem.error), 400
    # The ID token says who signed in; the claims of the scopes profile and email are at userinfo.
    claims = gatehouse.userinfo(token=token)
    session.clear()  # nothing from before the sign-in survives it
    # Use `sub` as the key of your own user records: it never changes, unlike an email address.
    session["user"] = {name: claims[name] for name in ("sub", "name", "email") if name in claims}
    session["id_token"] = token["id_token"]
    return redirect(url_for("home"))


@app.post("/sign-out")
def sign_out():
    id_token = session.get("id_token")
    session.clear()
    # Signing out here alone would sign the user in again at the next click: end Gatehouse's session, too.
    return gatehouse.logout_redirect(url_for("home", _external=True), id_token_hint=id_token)


if __name__ == "__main__":
    app.run(port=app.config["PORT"])
