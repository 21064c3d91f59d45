"""Host names as browsers send them, and as people read them."""

import pytest

from app.kit.web.host_names import readable, sent_host, shown_host

SHOWN = [
    ("bücher.example", "bücher.example"),
    ("straße.example", "straße.example"),
    ("日本語.jp", "日本語.jp"),
    ("правда.рф", "правда.рф"),
    ("παράδειγμα.ελ", "παράδειγμα.ελ"),
    ("łódź.pl", "łódź.pl"),
    ("việt.vn", "việt.vn"),
    ("مثال.example", "مثال.example"),
    ("ソニー.jp", "ソニー.jp"),
    ("パソコンshop.jp", "パソコンshop.jp"),
    ("第一group.jp", "第一group.jp"),
    ("ジョンソン.jp", "ジョンソン.jp"),
]
PUNYCODE = [
    "аррӏе.com",  # every letter looks like a Latin one
    "аpple.com",  # one Cyrillic letter among Latin ones
    "gооgle.com",
    "αpple.com",
    "ıbm.com",
    "☃.net",
    "a·b.example",
    "l\u0307ogin.com",
    "bank.comノlogin.example",  # reads as a slash
    "bank.comソ日本.example",
    "bank.com丿login.example",
    "1ン2.example",
    "bankーlogin.example",  # reads as a hyphen
    "bank一login.example",
    "bankㄧlogin.example",
    "bank\u3161login.example",
    "ノ.example",
]


def test_host_is_shown_as_people_write_it(subtests: pytest.Subtests) -> None:
    for name, expected in SHOWN:
        with subtests.test(name):
            sent = sent_host(name)
            assert sent.isascii()
            assert "xn--" in sent
            assert shown_host(sent) == expected
            assert shown_host(f"{sent}:8443") == f"{expected}:8443"
            assert readable(f"ada@{sent}") == f"ada@{expected}"


def test_host_that_reads_as_another_stays_punycode(subtests: pytest.Subtests) -> None:
    for name in PUNYCODE:
        with subtests.test(name):
            sent = sent_host(name)
            assert "xn--" in sent
            assert shown_host(sent) == sent
            assert readable(f"ada@{sent}") == f"ada@{sent}"


def test_malformed_punycode_stays_as_it_is(subtests: pytest.Subtests) -> None:
    for host in (
        "xn--a.example",
        "xn--.example",
        "xn--zzzz-.example",
        "xn--acme-.example",
        "xn--\u00fc.example",
        "acme.example",
        "",
    ):
        with subtests.test(host):
            assert shown_host(host) == host
