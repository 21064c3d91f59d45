"""Sign-in on a device without a keyboard (RFC 8628), here a page that plays the television: it shows a code and a QR code, and waits."""

import os
from typing import Any
from urllib.parse import urlencode

from authlib.integrations.flask_client import OAuth
from flask import Blueprint, current_app, redirect, render_template, session, url_for
from werkzeug.wrappers import Response

from examples.shop.localhost import http

CLIENT_ID = os.environ.get("SHOP_TV_CLIENT_ID", "")
GRANT = "urn:ietf:params:oauth:grant-type:device_code"
views = Blueprint("tv", __name__)


@views.get("/tv")
def show() -> Response | str:
    """Show the code, and ask the issuer whether a person allowed it; the browser comes back after the issuer's interval."""
    started: dict[str, Any] | None = session.get("tv")
    if started is None:
        return render_template("tv.html", started=None, problem="")
    metadata = _issuer().load_server_metadata()
    form = {"grant_type": GRANT, "device_code": started["device_code"], "client_id": CLIENT_ID}
    answer = _post(metadata["token_endpoint"], form)
    problem = answer.get("error", "")
    if problem in ("authorization_pending", "slow_down"):
        started["interval"] += 5 if problem == "slow_down" else 0
        session["tv"] = started
        page = current_app.make_response(render_template("tv.html", started=started, problem=""))
        page.headers["Refresh"] = str(started["interval"])
        return page
    session.pop("tv")
    if problem:
        return render_template("tv.html", started=None, problem=problem)
    token = {"access_token": answer["access_token"], "token_type": "Bearer"}
    person = _issuer().userinfo(token=token)
    session["person"] = {"issuer": _name(), "claims": dict(person)}
    return redirect(url_for("home"))


@views.post("/tv")
def start() -> Response:
    """Get a code (section 3.2). `qr` is the issuer's picture of `verification_uri_complete`."""
    metadata = _issuer().load_server_metadata()
    started = _post(
        metadata["device_authorization_endpoint"], {"client_id": CLIENT_ID, "scope": "openid profile email"}
    )
    picture = f"{started['verification_uri']}/qr?{urlencode({'user_code': started['user_code']})}"
    session["tv"] = {**started, "qr": picture, "interval": started.get("interval", 5)}
    return redirect(url_for("tv.show"))


def _post(address: str, form: dict[str, str]) -> dict[str, Any]:
    with http(os.environ.get("SHOP_BACK_CHANNEL", "")) as browser:
        answer: dict[str, Any] = browser.post(
            address, data=form, headers={"User-Agent": "Acme-TV/1.0"}, timeout=10
        ).json()
        return answer


def _name() -> str:
    return os.environ["SHOP_ISSUERS"].split()[0].partition("=")[0]


def _issuer() -> Any:
    oauth: OAuth = current_app.extensions["authlib.integrations.flask_client"]
    return oauth.create_client(_name())
