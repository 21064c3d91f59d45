"""Fake scripts of captcha providers, served at their real addresses and behaving as documented.

Each loads a second script from another host, draws a frame and makes a request, like the real ones,
so that requests which the page's CSP does not allow fail here, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, Route

PROOF = "a proof of the widget"
HOSTS = re.compile(
    r"https://([\w-]+\.)*(google\.com/recaptcha|gstatic\.com/recaptcha|hcaptcha\.com|captcha\.\w+\.com)/"
)

_NEXT = "document.head.appendChild(Object.assign(document.createElement('script'), {src: '%s'}));"
_FRAME = """
function frameAt(place, address, solved, theme) {
  fetch(address + "?beat").then(function () {
    var frame = document.createElement("iframe");
    frame.title = "Widget";
    frame.dataset.theme = theme;
    frame.width = 160;
    frame.height = 40;
    frame.src = address;
    addEventListener("message", function (event) { if (event.source === frame.contentWindow) solved(event.data); });
    place.appendChild(frame);
  });
}
"""
_BOX = f"""<!doctype html><html lang="en"><title>Widget</title><label><input type="checkbox"
onclick="parent.postMessage('{PROOF}', '*')"> I am human</label>"""
_GOOGLE = "https://www.google.com/recaptcha/api2/anchor"
SCRIPTS = {
    "www.google.com/recaptcha/api.js": """
        var waiting = [];
        window.grecaptcha = {ready: function (then) { waiting.push(then); }};
    """
    + _NEXT % "https://www.gstatic.com/recaptcha/releases/1/recaptcha.js",
    "www.gstatic.com/recaptcha/releases/1/recaptcha.js": _FRAME
    + f"""
        grecaptcha.render = function (place, how) {{ frameAt(place, "{_GOOGLE}", how.callback, how.theme); }};
        grecaptcha.execute = function () {{ return Promise.resolve("{PROOF}"); }};
        waiting.forEach(function (then) {{ then(); }});
    """,
    "js.hcaptcha.com/1/api.js": _FRAME
    + """
        window.hcaptcha = {render: function (place, how) {
          if (how.sitekey) frameAt(place, "https://newassets.hcaptcha.com/captcha/v1/hcaptcha.html", how.callback, how.theme);
        }};
    """,
    "turing.captcha.qcloud.com/TCaptcha.js": _FRAME
    + """
        window.TencentCaptcha = function (key, callback) {
          this.show = function () {
            frameAt(document.body, "https://turing.captcha.gtimg.com/1/template/drag_ele.html", function (proof) {
              callback({ret: 0, ticket: proof, randstr: "random"});
            });
          };
        };
    """,
}
_HEADERS = {"Access-Control-Allow-Origin": "*"}


def answer(route: Route) -> None:
    """Answer as the providers' hosts do."""
    address = route.request.url.partition("?")[0].removeprefix("https://")
    script = SCRIPTS.get(address)
    media = "text/html" if script is None else "text/javascript"
    route.fulfill(body=_BOX if script is None else script, content_type=media, headers=_HEADERS)


def provide(page: Page, how: Callable[[Route], None] = answer) -> None:
    """Route the providers' hosts to the fakes; `how` may be `Route.abort` to block them."""
    page.route(HOSTS, lambda route: how(route))
