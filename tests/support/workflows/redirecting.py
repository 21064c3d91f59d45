"""A tenant's server that sends people to a page of its own, and the results with which the page sends them back."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey

from app.identity.authentication.workflows.call_signatures import secret_of
from tests.support.fakes.https_receiver import HttpsReceiver
from tests.support.tenants.tenant_server import TenantServer
from tests.support.visitors.visitor import VisitedPage
from tests.support.workflows.drawings import Drawing, node, sequence

SITE = "https://kyc.acme.example"
PAGE = f"{SITE}/start?case=8832"


@dataclass(frozen=True)
class RedirectingServer:
    """The server of a tenant; `uid` is the account that it knows."""

    tenant: TenantServer
    receiver: HttpsReceiver
    uid: str
    secret_name: str = "kyc"

    def node(self, node_id: str = "ask", **members: Any) -> Drawing:
        """Return a node that asks the server, which may redirect; a call that fails denies."""
        stated = {"on_failure": "deny", "redirect_origins": [SITE], "secret_name": self.secret_name, **members}
        return node(node_id, "HttpCall", url=self.receiver.url("/ask"), **stated)

    def workflow(self, **members: Any) -> Drawing:
        """Return a workflow that asks the server after the sign-in."""
        return sequence(self.node(**members))

    def redirects(self, url: str = PAGE) -> None:
        """Let the server send people to its page."""
        self.receiver.answers(200, json.dumps({"Action": "redirect", "Url": url}).encode())

    def key(self, secret_name: str | None = None) -> OctKey:
        """Return the key of results: the bytes of the secret that verifies calls."""
        name = self.secret_name if secret_name is None else secret_name
        return OctKey.import_key(b64decode(secret_of(self.tenant.api_secret, name).removeprefix("whsec_")))

    def claims(self, state: str, action: str = "continue", **members: Any) -> dict[str, Any]:
        """Return the claims of a result that holds for 5 minutes."""
        ends_at = int(self.tenant.services.clock.now().timestamp()) + 300
        return {"state": state, "sub": self.uid, "exp": ends_at, "Action": action, **members}

    def result(self, state: str, action: str = "continue", **members: Any) -> str:
        """Return a rightly signed result."""
        return jwt.encode({"alg": "HS256"}, self.claims(state, action, **members), self.key())

    def calls(self) -> list[dict[str, Any]]:
        """Return the bodies of the calls."""
        return [json.loads(request.body) for request in self.receiver.received if request.method == "POST"]


def left_for(page: VisitedPage) -> str:
    """Return where the browser leaves for, as the page without a script says."""
    assert page.status == 200, page.text
    _, _, refresh = page.html.partition('<meta http-equiv="refresh" content="0;url=')
    return refresh.partition('"')[0].replace("&amp;", "&")


def state_in(page: VisitedPage) -> str:
    """Return the state with which the browser leaves."""
    return dict(parse_qsl(urlsplit(left_for(page)).query))["state"]


def come_back(page: VisitedPage, **parameters: str) -> VisitedPage:
    """Open the return address in the browser of a page."""
    return page.visitor.open(f"/continue?{urlencode(parameters)}")
