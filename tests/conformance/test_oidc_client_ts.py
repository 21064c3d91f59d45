"""oidc-client-ts, the library of many single-page applications, gets only the issuer and its client id."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import expect
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from tests.conformance.signing_in import EMAIL, sign_in
from tests.support.browsers.chromium import Opened

LIBRARY = Path(__file__).parents[2] / "node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js"
PAGE = """<!doctype html><title>Page</title><script src="/oidc-client-ts.js"></script>
<h1>Page</h1><p id="says" role="status"></p>
<button id="in">Sign in</button> <button id="renew">Renew</button> <button id="revoke">Revoke</button>
<button id="silent">Ask silently</button> <button id="out">Sign out</button>
<script>
const here = location.origin;
const manager = new oidc.UserManager({
  authority: "%(issuer)s", client_id: "page", redirect_uri: here + "/cb", post_logout_redirect_uri: here + "/",
  scope: "openid email offline_access", loadUserInfo: true, automaticSilentRenew: false,
});
const say = (text) => { document.getElementById("says").textContent = text; };
const done = (work) => work.then(say, (problem) => say(problem.error || String(problem)));
const first = () => manager.getUser();
const on = (id, work) => { document.getElementById(id).onclick = () => done(work()); };
on("in", () => manager.signinRedirect());
on("renew", async () => {
  const before = await first();
  const after = await manager.signinSilent();
  return after.access_token !== before.access_token && after.refresh_token !== before.refresh_token ? "renewed" : "the same";
});
on("revoke", async () => { await manager.revokeTokens(); return "revoked"; });
on("silent", () => manager.signinRedirect({ prompt: "none" }));
on("out", () => manager.signoutRedirect());
if (location.pathname === "/cb") done(manager.signinCallback().then((user) => user.profile.email));
</script>"""


@pytest.fixture
def single_page(hub_url: str, ports: dict[str, int]) -> Iterator[str]:
    """Serve the application and return its address."""

    @Request.application
    def serve(request: Request) -> Response:
        if request.path == "/oidc-client-ts.js":
            return Response(LIBRARY.read_bytes(), mimetype="text/javascript")
        return Response(PAGE % {"issuer": hub_url}, mimetype="text/html")

    server = make_server("127.0.0.1", ports["page"], serve, threaded=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


def test_single_page_signs_in_renews_revokes_signs_out(single_page: str, opened: Opened) -> None:
    page = opened()
    says = page.get_by_role("status")
    page.goto(f"{single_page}/")
    page.get_by_role("button", name="Sign in").click()
    sign_in(page)
    page.wait_for_url(f"{single_page}/cb?**")
    expect(says).to_have_text(EMAIL)
    page.get_by_role("button", name="Renew").click()
    expect(says).to_have_text("renewed")
    page.get_by_role("button", name="Ask silently").click()
    page.wait_for_url(f"{single_page}/cb?**")
    expect(says).to_have_text(EMAIL)
    page.get_by_role("button", name="Revoke").click()
    expect(says).to_have_text("revoked")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{single_page}/")
    page.get_by_role("button", name="Ask silently").click()
    page.wait_for_url(f"{single_page}/cb?**")
    expect(says).to_have_text("login_required")
