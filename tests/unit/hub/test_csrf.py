"""Form tokens and encrypted cookies of the hub: valid only in their context."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.hub.encryption import CookieCipher, derive_key
from app.hub.web.csrf import FormTokens, is_cross_origin
from app.hub.web.paths import lowercase_path
from app.identity.platform import encryption

TOKENS = FormTokens([b"k" * 32])
BOUND = ("acme", "attempt", "binding")


def test_hub_and_service_derive_the_same_key() -> None:
    assert derive_key(b"s" * 32, "hub calls") == encryption.derive_key(b"s" * 32, "hub calls")


def test_form_token_is_valid_in_its_form_and_differs_each_time() -> None:
    first, second = TOKENS.make(*BOUND), TOKENS.make(*BOUND)
    assert first != second
    assert TOKENS.is_valid(first, *BOUND)
    assert TOKENS.is_valid(second, *BOUND)


@pytest.mark.parametrize(
    "other", [("globex", "attempt", "binding"), ("acme", "other", "binding"), ("acme", "attempt", "other")]
)
def test_form_token_is_invalid_in_another_form(other: tuple[str, ...]) -> None:
    assert not TOKENS.is_valid(TOKENS.make(*BOUND), *other)


def test_form_token_is_invalid_without_a_browser_secret() -> None:
    assert not TOKENS.is_valid(TOKENS.make("acme", "", ""), "acme", "", "")


@given(st.text(max_size=80))
def test_arbitrary_text_is_no_form_token(text: str) -> None:
    assert not TOKENS.is_valid(text, *BOUND)


def test_encrypted_value_opens_in_context_and_after_rotation() -> None:
    old, new = CookieCipher([b"a" * 32]), CookieCipher([b"b" * 32, b"a" * 32])
    encrypted = old.encrypt({"x": 1}, "here")
    assert new.decrypt(encrypted, "here") == {"x": 1}
    assert new.decrypt(encrypted, "there") is None
    assert CookieCipher([b"b" * 32]).decrypt(encrypted, "here") is None


@given(st.text(max_size=200))
def test_arbitrary_text_is_no_encrypted_value(text: str) -> None:
    assert CookieCipher([b"a" * 32]).decrypt(text, "here") is None


@pytest.mark.parametrize(
    ("path", "read_as"),
    [
        ("/LOGIN", "/login"),
        ("/Service/OIDC/MyShop/Authorize", "/service/oidc/MyShop/authorize"),
        ("/SERVICE/oidc/Authorize", "/service/oidc/authorize"),
        ("/Callback/Profile", "/callback/profile"),
        ("/Static/Hub.css", "/static/Hub.css"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_fixed_segments_ignore_case_and_names_keep_theirs(path: str, read_as: str) -> None:
    assert lowercase_path(path) == read_as


HERE = "acme.example.com"


def is_foreign(headers: dict[str, str], host: str, *, is_https: bool = True) -> bool:
    return is_cross_origin(headers.get("Sec-Fetch-Site", ""), headers.get("Origin", ""), host, is_https=is_https)


@pytest.mark.parametrize(
    ("headers", "host"),
    [
        ({}, HERE),
        ({"Origin": ""}, HERE),
        (
            {"Sec-Fetch-Site": "same-origin", "Origin": "null"},
            HERE,
        ),  # our pages send no referrer, so browsers send null
        ({"Sec-Fetch-Site": "none"}, HERE),
        ({"Origin": "null"}, HERE),
        ({"Origin": f"https://{HERE}"}, HERE),
        ({"Origin": f"https://{HERE}"}, f"{HERE}:443"),
        ({"Origin": f"https://{HERE}:8443"}, f"{HERE}:8443"),
        ({"Origin": f"https://{HERE}"}, HERE.upper()),
        ({"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"}, HERE),  # a proxy before us may rewrite
    ],
)
def test_form_from_the_same_origin_is_accepted(headers: dict[str, str], host: str) -> None:
    assert not is_foreign(headers, host)


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "null"},  # a sandboxed frame
        {"Sec-Fetch-Site": "cross-site", "Origin": f"https://{HERE}"},
        {"Sec-Fetch-Site": "same-site", "Origin": "https://globex.example.com"},
        {"Origin": "https://globex.example.com"},
        {"Origin": f"https://{HERE}.evil.example"},
        {"Origin": f"https://{HERE}:8443"},
        {"Origin": f"http://{HERE}"},
        {"Origin": "https://"},
        {"Origin": "https://[::1"},
        {"Origin": f"https://{HERE}:port"},
        {"Origin": f"app://{HERE}"},
        {"Origin": f"https://{HERE.upper()}"},  # no browser writes these
        {"Origin": f"https://{HERE}:443"},
        {"Origin": f"https://{HERE}/"},
        {"Origin": f"https://{HERE}/login"},
        {"Origin": f"https://who@{HERE}"},
        {"Origin": f"https://{HERE},https://{HERE}"},
        {"Origin": f"https://{HERE}#x"},
        {"Origin": "NULL"},
    ],
)
def test_form_from_another_site_is_refused(headers: dict[str, str]) -> None:
    assert is_foreign(headers, HERE)


def test_same_origin_over_plain_http_is_plain() -> None:
    assert not is_foreign({"Origin": "http://acme.localhost:8000"}, "acme.localhost:8000", is_https=False)
    assert is_foreign({"Origin": "http://shop.localhost:8000"}, "acme.localhost:8000", is_https=False)
