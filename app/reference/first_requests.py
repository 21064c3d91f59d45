"""The first requests for each use of the interface: three steps to paste, which work in the demo as they are."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from markupsafe import Markup  # noqa: TID251 - for escaped values
from werkzeug.wrappers import Request

from app.reference.sandbox import Trial

AFTER_SIGN_IN: Final = "/docs/first-sign-in"
"""The page of the first sign-in, which is the redirect URI of the demo's application, too."""
_VERIFIER: Final = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"  # RFC 7636, appendix B, like its challenge
_CHALLENGE: Final = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
_PARTS: Final = re.compile(
    r'"[^"\n]*"(?=:)|(?P<string>(?<!:)"(?:[^"\n$]|\$\([^\n]*\)|\$)*")|(?P<option>(?<=\s)--?[A-Za-z][\w-]*)|[^"-]+|.'
)
_MARKED: Final = Markup('<span class="{}">{}</span>')
_KEY: Final = re.compile("([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_CODE: Final = re.compile(r"[\w.~-]{8,512}", re.ASCII)


@dataclass(frozen=True)
class FirstRequest:
    """A page with three steps; `use` is the sentence below its title in lists."""

    template: str
    title: str
    use: str


FIRST_REQUESTS: Final = {
    AFTER_SIGN_IN: FirstRequest(
        "first_sign_in",
        "Sign in from an app",
        "Send people to the hosted pages and get their tokens, with OpenID Connect.",
    ),
    "/docs/first-account": FirstRequest(
        "first_account", "Manage accounts", "Find, create and change accounts from your server, with the API secret."
    ),
    "/docs/first-machine-token": FirstRequest(
        "first_machine_token",
        "Machine to machine",
        "Get a machine token for a program, use it, and check it in your own API.",
    ),
}
"""The pages by their path."""


@dataclass(frozen=True)
class Values:
    """What the steps contain: the trial's values, or the names of environment variables outside the demo."""

    trial: Trial
    api: str
    tenant: str

    @property
    def api_key(self) -> str:
        return self.trial.credentials.get("ApiKey", "$API_KEY")

    @property
    def api_secret(self) -> str:
        return self.trial.credentials.get("ApiSecret", "$API_SECRET")

    @property
    def account_lookup(self) -> str:
        """The command that finds an account: an option on each line, so that it fits beside other things."""
        options = ("-d email=ada@example.com", "-d fields=Uid,FullName")
        return (
            f'curl -sG "{self.api}/identity/v2/manage/account"'
            + "".join(f" \\\n  {option}" for option in options)
            + self.headers
        )

    @property
    def found_account(self) -> str:
        """What the command prints, indented."""
        uid = self.trial.fields.get("uid", "1fc93a660f5af8a7b64879b2d9296e3d")
        return json.dumps({"Uid": uid, "FullName": "Ada Lovelace"}, indent=2)

    @property
    def headers(self) -> str:
        """The options of a command that send the key and the secret, each on a line of its own."""
        return "".join(
            f' \\\n  -H "X-Gatehouse-{name}: {value}"'
            for name, value in (("ApiKey", self.api_key), ("ApiSecret", self.api_secret))
        )

    @property
    def machine_client(self) -> str:
        """The ID and the secret of a program, with a colon."""
        return self.trial.machine_client or "$CLIENT_ID:$CLIENT_SECRET"

    @property
    def client_id(self) -> str:
        return self.trial.public_client or "$CLIENT_ID"

    @property
    def redirect_uri(self) -> str:
        return self.api + AFTER_SIGN_IN if self.trial.public_client else "https://app.example.com/signed-in"

    @property
    def verifier(self) -> str:
        """The secret of PKCE, which a real app makes for every sign-in."""
        return _VERIFIER

    @property
    def authorization_url(self) -> str:
        """Where the browser goes to sign in."""
        parameters = {
            "client_id": self.client_id,
            "response_type": "code",
            "redirect_uri": self.redirect_uri,
            "scope": "openid profile email",
            "code_challenge": _CHALLENGE,
            "code_challenge_method": "S256",
            "state": "first-request",
        }
        return f"{self.tenant}/service/oidc/authorize?{urlencode(parameters, safe='$')}"


def coloured(text: str) -> Markup:
    """Return a command or JSON with its strings, options and keys marked; names of members stay plain."""
    return Markup().join(
        _MARKED.format(found.lastgroup, _with_keys(found[0])) if found.lastgroup else found[0]
        for found in _PARTS.finditer(text)
    )


def _with_keys(text: str) -> Markup:
    """Mark the keys in a text, which no line may break."""
    return Markup().join(_MARKED.format("key", part) if _KEY.fullmatch(part) else part for part in _KEY.split(text))


def code_of(request: Request) -> str:
    """Return the authorization code that a request brings back from the sign-in; "" if it brings none."""
    code = request.args.get("code", "")
    return code if _CODE.fullmatch(code) else ""
