"""A web app whose users sign in with Gatehouse: OpenID Connect, authorization code flow with PKCE."""

import tomllib
from functools import wraps

import localhost
from authlib.integrations.base_client import OAuthError
from authlib.integrations.flask_client import OAuth
from flask import Flask, flash, redirect, render_template, request, session, url_for

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


def signed_in_only(view):
    """For pages of signed-in users: others sign in first, and come back to the page. Put it below @app.get(…)."""

    @wraps(view)
    def guarded(**values):
        if "user" not in session:
            session["next"] = request.path
            return redirect(url_for("sign_in"))
        return view(**values)

    return guarded


@app.get("/")
def home():
    return render_template("home.html", user=session.get("user"))


@app.get("/account")
@signed_in_only
def account():
    return render_template("home.html", user=session["user"])


@app.get("/sign-in")
def sign_in():
    return gatehouse.authorize_redirect(url_for("signed_in", _external=True))


@app.get("/signed-in")
def signed_in():
    try:
        # Checks state and nonce, and the signature, issuer, audience and expiry of the ID token.
        token = gatehouse.authorize_access_token()
    except OAuthError as problem:
        flash(problem.description or problem.error)  # the home page shows it, with nothing of the answer in its address
        return redirect(url_for("home"))
    # The ID token says who signed in; the claims of the scopes profile and email are at userinfo.
    claims = gatehouse.userinfo(token=token)
    next_page = session.get("next", url_for("home"))
    session.clear()  # nothing from before the sign-in survives it
    # Use `sub` as the key of your own user records: it never changes, unlike an email address.
    names = ("sub", "name", "given_name", "email", "email_verified")
    session["user"] = {name: claims[name] for name in names if name in claims}
    session["id_token"] = token["id_token"]
    return redirect(next_page)


@app.post("/sign-out")
def sign_out():
    id_token = session.get("id_token")
    session.clear()
    # Signing out here alone would sign the user in again at the next click: end Gatehouse's session, too.
    # Without a state, which this app has no use for and would come back in the address of its home page.
    return gatehouse.logout_redirect(url_for("home", _external=True), id_token_hint=id_token, state="")


if __name__ == "__main__":
    app.run(port=app.config["PORT"])
