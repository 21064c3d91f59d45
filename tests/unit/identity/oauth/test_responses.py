"""Authorization responses at the redirect address, and the sources that pages may use for them."""

from types import SimpleNamespace
from typing import cast
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.contract.applications.client_protocol import ClientProtocol
from app.contract.applications.settings import ApplicationSettings
from app.contract.steps import FormPostStep, RedirectStep
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import oauth_views
from app.identity.protocols.oauth.authorize.responses import response
from app.identity.protocols.oauth.issuers import Issuer
from app.kit.web.urls import redirect_origin

ISSUER = "http://acme.localhost:8000"
REDIRECT_URI = "https://shop.example/cb"
OUTSIDE_OF_A_VISIT = cast("Context", SimpleNamespace(visit=None))


@given(state=st.text(min_size=1).filter(lambda text: text.isprintable()))
def test_state_returns_unchanged_and_adds_no_parameters(state: str) -> None:
    for mode in ("query", "fragment"):
        sent = {"code": "a code", "state": state, "iss": ISSUER}
        step = response.deliver(REDIRECT_URI, mode, sent).step
        assert isinstance(step, RedirectStep)
        address = step.address
        stored = parse_qsl(getattr(urlsplit(address), mode), keep_blank_values=True)
        assert stored == [("code", "a code"), ("state", state), ("iss", ISSUER)]


def test_form_post_response_has_fields_and_a_plain_uri() -> None:
    step = response.deliver(REDIRECT_URI, "form_post", {"code": "x", "iss": ISSUER}).step
    assert step == FormPostStep(address=REDIRECT_URI, fields={"code": "x", "iss": ISSUER})


@pytest.mark.parametrize(
    ("uri", "origin"),
    [
        ("https://shop.example/cb", "https://shop.example"),
        ("http://127.0.0.1:5000/cb", "http://127.0.0.1:5000"),
        ("com.example.phone:/cb", "com.example.phone:"),
        ("https://BÜCHER.example:443/cb", "https://xn--bcher-kva.example"),
        ("http://127.0.0.1:99999/cb", ""),
        ("http://[::1/cb", ""),
    ],
)
def test_form_action_is_the_origin_or_the_bare_scheme(uri: str, origin: str) -> None:
    assert redirect_origin(uri) == origin


@pytest.mark.parametrize(
    ("settings", "home"),
    [
        ({"client_uri": "https://shop.example/start"}, "https://shop.example/start"),
        ({"redirect_uris": ("com.example:/cb", "https://shop.example/cb")}, "https://shop.example/"),
        ({"redirect_uris": ("com.example:/cb",)}, None),
    ],
)
def test_application_address_is_always_a_registered_one(settings: dict[str, object], home: str | None) -> None:
    client = Application("shop", None, ApplicationSettings.model_validate({"name": "shop", **settings}))
    assert oauth_views.relying_party(OUTSIDE_OF_A_VISIT, client, "https://elsewhere.example/cb").home == home


def test_issuer_has_no_trailing_slash_and_own_endpoints() -> None:
    wide = Issuer(ISSUER, ClientProtocol.OPENID, None, "a key")
    own = Issuer(ISSUER, ClientProtocol.OAUTH, "Shop", "a key")
    assert (wide.url, wide.token_endpoint) == (ISSUER, f"{ISSUER}/api/oidc/token")
    assert own.url == f"{ISSUER}/service/oauth/Shop"
    assert own.token_endpoint == f"{ISSUER}/api/oauth/Shop/token?apikey=a%20key"
