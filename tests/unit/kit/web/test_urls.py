"""Web addresses of others: which may be linked, and which may be a source of the content security policy."""

import pytest

from app.hub.web.security_headers import content_security_policy
from app.kit.web.urls import (
    is_source,
    is_web_url,
    origin_of,
    parse_url,
    sent_origin,
    split_url,
    web_url,
)

INJECTED = "https://a.b;script-src-elem 'unsafe-inline' *;style-src-elem *;x/x.png"
HOSTILE = [
    INJECTED,
    "https://a.b;script-src*/x.png",
    "https://a.b,default-src*/x.png",
    "https://a.b'unsafe-inline'/x",
    "https://*/x.png",
    "https://*.evil.example/x.png",
    "https://[::1/x",
    "https://[::1];x/",
    "https://a.b:99999/",
    "https://a.b:x/",
    "https://who@a.b/",
    "https://a.b\\@evil.example/",
    "https://a.b\n.evil/",
    "https:a.b",
    "https:///a.b",
    "//a.b/x",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    " javascript:alert(1)",
    "javascript://a.b/%0aalert(1)",
    "data:text/html,x",
    "x",
    "",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_ambiguous_url_is_no_web_address(text: str) -> None:
    assert not is_web_url(text)
    assert web_url(text) == origin_of(text) == ""


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("https://shop.example/logo.png?a=1;b#c", "https://shop.example"),
        ("http://Shop.example:8080", "http://shop.example:8080"),
        ("HTTPS://shop.example/", "https://shop.example"),
        ("https://[::1]:8443/x", "https://[::1]:8443"),
        ("https://my_bucket.cdn.example/x", "https://my_bucket.cdn.example"),
        ("https://shop.example:443/x", "https://shop.example"),
        ("http://shop.example:80", "http://shop.example"),
        ("http://shop.example:443", "http://shop.example:443"),
        ("https://shop.example:08443/", "https://shop.example:8443"),
        ("https://[::1]:443/", "https://[::1]"),
    ],
)
def test_web_address_has_an_origin(text: str, source: str) -> None:
    assert web_url(text) == text
    assert origin_of(text) == source


ORIGINS = [
    "https://a.b",
    "http://a.b",
    "https://a.b:8443",
    "http://localhost:3000",
    "https://[::1]:8443",
    "https://xn--bcher-kva.b",
]
NO_ORIGINS = [
    "null", "NULL", "none", "undefined", "*", "https://a.b/", "https://a.b/path", "https://a.b?x", "https://a.b#x", "https://A.b",
    "HTTPS://a.b", "https://a.b:443", "http://a.b:80", "https://a.b:08443", "https://a.b:", "https://who@a.b", "https://:pw@a.b",
    "https://a.b, https://c.d", "https://a.b,https://c.d", "https://a.b https://c.d", "https://a.b,null", "https://b\u00fccher.b",
    "https://a.b\x00", " https://a.b", "https://a.b ", "https:a.b", "//a.b", "a.b", "https://*.b", "file://", "data:", "blob:https://a.b",
    "javascript:x", "ftp://a.b", "ws://a.b", "https://[::1", "https://a.b\\c", *HOSTILE,
]  # fmt: skip


def test_header_of_a_browser_is_an_origin(subtests: pytest.Subtests) -> None:
    for text in ORIGINS:
        with subtests.test(text):
            assert sent_origin(text) == origin_of(text) == text


def test_header_that_no_browser_sends_is_no_origin(subtests: pytest.Subtests) -> None:
    assert sent_origin(None) == ""
    for text in NO_ORIGINS:
        with subtests.test(text):
            assert sent_origin(text) == ""


REFUSED_HOSTS = (
    "a..b",
    "a%6de.b", "\ufffd.b", "xn--\u00fc.b\u2488", "1.2.3.4.5", "256.1.1.1", "0x1ffffffff", "1.2.08", "a." + "x" * 64, "[a]", "[::1%25eth0]",
)  # fmt: skip
SENT_AS = [
    ("https://bücher.example/", "https://xn--bcher-kva.example"),
    ("https://BÜCHER。Example:443/x", "https://xn--bcher-kva.example"),
    ("https://XN--BCHER-KVA.example", "https://xn--bcher-kva.example"),
    ("https://faß.example", "https://xn--fa-hia.example"),
    ("https://\uff41cme.example", "https://acme.example"),
    ("https://☃.example:8443/", "https://xn--n3h.example:8443"),
    ("https://[0:0:0:0:0:0:0:1]:443/", "https://[::1]"),
    ("http://127.1:8080/", "http://127.0.0.1:8080"),
    ("http://0x7f.0.0.1/", "http://127.0.0.1"),
    ("http://2130706433/", "http://127.0.0.1"),
    ("http://0177.0.0.1/", "http://127.0.0.1"),
]
APP_ORIGINS = [
    "capacitor://localhost",
    "ionic://localhost",
    "tauri://localhost",
    "chrome-extension://" + "abcdefghijklmnop" * 2,
]
NO_APP_ORIGINS = [
    "capacitor://", "capacitor:localhost", "capacitor://localhost/", "Capacitor://localhost", "capacitor://localhost:80", "tauri://a@b",
    "chrome-extension://abc", "chrome-extension://" + "z" * 32, "cursor://localhost", "file://localhost", "ionic://a..b", "tauri://*",
]  # fmt: skip
UNREADABLE = [
    "http://127.0.0.1:99999/cb", "http://127.0.0.1:0/cb", "http://[::1/cb", "com.example.app://host:99999/cb", "com.example.app://[::1/cb",
    "https://a.example/a b", "https://a.example\\@b.example", "https://a.example/\u0000", "https://a\u2100.example/",
]  # fmt: skip


def test_origin_has_the_form_that_browsers_send(subtests: pytest.Subtests) -> None:
    for text, expected in SENT_AS:
        with subtests.test(text):
            assert is_web_url(text)
            assert origin_of(text) == expected
            assert sent_origin(text) == ("" if text != expected else expected)


def test_host_that_browsers_refuse_is_no_web_address(subtests: pytest.Subtests) -> None:
    for host in REFUSED_HOSTS:
        with subtests.test(host):
            assert parse_url(f"https://{host}/") is None


def test_origin_of_app_pages_is_sent_as_it_is(subtests: pytest.Subtests) -> None:
    for text in APP_ORIGINS:
        with subtests.test(text):
            assert sent_origin(text) == origin_of(text) == origin_of(f"{text}/cb?x=1#y") == text
    for text in NO_APP_ORIGINS:
        with subtests.test(text):
            assert sent_origin(text) == ""


def test_unreadable_part_of_any_address_is_none(subtests: pytest.Subtests) -> None:
    for text in UNREADABLE:
        with subtests.test(text):
            assert split_url(text) is None
            assert parse_url(text) is None


@pytest.mark.parametrize(
    "text", ["https: *", "*", "'unsafe-inline'", "https://a.b;", "https://a.b,c", ":", "", "a\nb:"]
)
def test_csp_source_is_one_word(text: str) -> None:
    assert not is_source(text)
    plain = content_security_policy("n")
    assert content_security_policy("n", form_targets=[text], images=[text]) == plain


def test_schemes_and_origins_are_csp_sources() -> None:
    policy = content_security_policy("n", form_targets=["com.example.app:", "https:"], images=["https://a.b:8443"])
    assert "form-action 'self' com.example.app: https:;" in policy
    assert "img-src 'self' data: https://a.b:8443;" in policy
