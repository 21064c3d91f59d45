"""What a refused OAuth request tells its developer: the mend on the error page, and the cause in the log line of the request."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextvars import Context
from typing import Any

import pytest

from app.kit.observability import logs
from app.kit.observability.instrumentation import Instrumented
from tests.support.documentation.explained_errors import explained
from tests.support.oauth.relying_party import Browser, Person, Pkce, RelyingParty, parameters_of
from tests.support.oauth.world import World

SHOP = "https://shop.example/cb"


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("https://shop.example:444/cb", "https://shop.example:444/cb"),
        ("https://shop.example/cb?code=S3CRET", "https://shop.example/cb?..."),
        ("https://user:S3CRET@shop.example/cb#S3CRET", "https://...@shop.example/cb#..."),
        (
            "https://evil.example/Your account is <b>locked</b>",
            "https://evil.example/Your%20account%20is%20%3Cb%3Elocked%3C/b%3E",
        ),
        ("https://evil.example/\u202eü", "https://evil.example/%E2%80%AE%C3%BC"),
        ("https://evil.example/" + "x" * 500, "https://evil.example/" + "x" * 99 + "..."),
    ],
)
def test_unregistered_address_is_named_without_secrets_or_markup(
    shop: RelyingParty, browser: Browser, sent: str, shown: str
) -> None:
    step = browser.authorize(shop.authorization_parameters(redirect_uri=sent))
    assert step.description == (
        f"The redirect_uri {shown} is not registered for this application ({shop.name}, client_id {shop.client_id}). "
        "Add it to its redirect_uris, exactly as it is sent."
    )


def test_unknown_client_is_named_on_page(shop: RelyingParty, browser: Browser) -> None:
    step = browser.authorize(shop.authorization_parameters(client_id="no body"))
    assert step.description == f"{shop.tenant_name} has no active application with the client_id no%20body."


def test_pushed_request_names_unregistered_address(shop: RelyingParty) -> None:
    answer = shop.push(redirect_uri="https://shop.example/other").json or {}
    assert "https://shop.example/other is not registered" in answer["error_description"]


def test_refused_token_requests_are_those_of_the_documentation(
    shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    pkce = Pkce()
    code = browser.code(shop, ada)
    assert shop.redeem(code).status_code == 200
    challenged = browser.code(shop, ada, code_challenge=pkce.challenge, code_challenge_method="S256")
    answers = [
        shop.redeem(code),
        shop.redeem(challenged),
        shop.redeem(challenged, code_verifier=Pkce().verifier),
        shop.redeem(challenged, redirect_uri="https://shop.example/cb?tenant=1"),
        shop.redeem(code, client_secret="wrong"),
        shop.redeem(code, client_secret=None),
        shop.redeem(code, client_id="absent"),
        shop.redeem(code, redirect_uri=None),
        shop.back("token", {"grant_type": "client_credentials", **shop.client_credentials()}),
    ]
    received = [((answer.json or {})["error"], (answer.json or {})["error_description"]) for answer in answers]
    assert received[4] == ("invalid_client", "The client_secret is not valid.")
    assert len(set(received)) == len(received)
    assert set(received) <= explained()


def test_refused_scope_is_named(world: World) -> None:
    small = world.application("small", scope="openid", grant_types=["authorization_code", "client_credentials"])
    received = parameters_of(world.browser().authorize(small.authorization_parameters(scope="openid phone")))
    assert received["error_description"] == "The scope phone is not registered for this client."
    form = {"grant_type": "client_credentials", "scope": 'report:"read"', **small.client_credentials()}
    received = small.back("token", form).json or {}
    assert received["error_description"] == "The scope report:%22read%22 is not registered for this client."


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Callable[[RelyingParty, Callable[[], Any]], dict[str, Any]]:
    """Run a call through the middleware of the process, and return the facts of its log line."""

    def run(client: RelyingParty, call: Callable[[], Any]) -> dict[str, Any]:
        served, lines = client.wsgi.application, []
        formatter = logs._JsonLines()

        class Written(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                lines.append(json.loads(formatter.format(record)))

        handler = Written()
        logging.getLogger("gatehouse.access").addHandler(handler)
        client.wsgi.application = Instrumented(served)
        try:
            with caplog.at_level(logging.INFO, "gatehouse.access"):
                Context().run(call)
        finally:
            client.wsgi.application = served
            logging.getLogger("gatehouse.access").removeHandler(handler)
        return next(line for line in lines if line["event"] == "request")

    return run


Logged = Callable[[RelyingParty, Callable[[], Any]], dict[str, Any]]
FACTS = ("status", "error", "error_description", "client_id", "redirect_uri")


def test_log_line_of_refused_code_has_its_cause(shop: RelyingParty, logged: Logged) -> None:
    line = logged(shop, lambda: shop.redeem("S3CRET-code"))
    assert [line.get(name) for name in FACTS] == [400, "invalid_grant", "The code is not valid.", shop.client_id, None]
    assert "S3CRET" not in str(line)


def test_log_line_of_refused_client_names_it(shop: RelyingParty, logged: Logged) -> None:
    line = logged(shop, lambda: shop.redeem("a code", client_id="absent"))
    assert [line.get(name) for name in FACTS] == [401, "invalid_client", "The client_id is not valid.", "absent", None]


def test_log_line_of_unregistered_address_names_it(shop: RelyingParty, browser: Browser, logged: Logged) -> None:
    parameters = shop.authorization_parameters(redirect_uri="https://shop.example:1/cb?code=S3CRET")
    line = logged(shop, lambda: browser.authorize(parameters))
    received = (
        f"The redirect_uri https://shop.example:1/cb?... is not registered for this application ({shop.name}, "
        f"client_id {shop.client_id}). Add it to its redirect_uris, exactly as it is sent."
    )
    assert [line.get(name) for name in FACTS[1:]] == [
        "invalid_request",
        received,
        shop.client_id,
        "https://shop.example:1/cb?...",
    ]


def test_log_line_of_error_that_is_redirected_has_its_cause(
    shop: RelyingParty, browser: Browser, logged: Logged
) -> None:
    line = logged(shop, lambda: browser.authorize(shop.authorization_parameters(prompt="none")))
    assert [line.get(name) for name in FACTS[1:]] == ["login_required", "The user must sign in.", shop.client_id, SHOP]


def test_log_line_of_accepted_request_has_no_error(
    shop: RelyingParty, browser: Browser, ada: Person, logged: Logged
) -> None:
    code = browser.code(shop, ada)
    line = logged(shop, lambda: shop.redeem(code))
    assert (line["status"], line["client_id"], line.get("error")) == (200, shop.client_id, None)
