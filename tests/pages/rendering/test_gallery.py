"""The gallery shows every page in every state, and only its own samples may be framed."""

from __future__ import annotations

import gzip
import re
from html import unescape
from urllib.parse import quote

import pytest
from werkzeug.test import Client, TestResponse

from app.hub.theme_check.samples import SamplePages
from tests.support.browsers import page_samples
from tests.support.browsers.page_checkers import html_problems


def page_at(address: str, **headers: str) -> TestResponse:
    return Client(page_samples.hub()).get(address, base_url="http://localhost", headers=headers)


def thumbnails(address: str) -> list[str]:
    """Return the addresses that the frames of the gallery show."""
    return [unescape(found) for found in re.findall(r'<iframe src="([^"]+)"', page_at(address).text)]


def test_every_page_in_every_state_is_a_thumbnail_and_a_link() -> None:
    text = page_at("/_gallery").text
    framed = thumbnails("/_gallery")
    assert len(framed) == len(page_samples.names()) > 700
    assert framed == [unescape(found) for found in re.findall(r'<a class="cap" href="([^"]+)"', text)]
    assert text.count(' inert sandbox="allow-same-origin"') == len(framed) == text.count('loading="lazy"')


def test_first_states_of_a_page_are_of_each_kind() -> None:
    states = [address.partition("?")[0].rpartition("/")[2] for address in thumbnails("/_gallery?group=sign_in")]
    assert states[:5] == ["fresh", "with%20other%20providers", "wrong", "suspended", "with%20other%20ways"]


def test_group_look_and_language_are_chosen() -> None:
    framed = thumbnails("/_gallery?group=device&look=globex&lang=de")
    assert framed
    assert all("/Device" in address and address.endswith("?look=globex&lang=de") for address in framed)


@pytest.mark.parametrize("query", ["look=absent", "look=own", "lang=xx", "mode=sepia", "size=huge", "group=x"])
def test_unknown_choice_of_pages_is_not_found(query: str) -> None:
    assert page_at(f"/_gallery?{query}").status_code == 404


def test_samples_that_share_a_form_keep_their_own_focus() -> None:
    pages = SamplePages()
    states = {"fresh": 1, "passkey refused": 0, "four ways": 1, "reauthentication, a passkey alone": 0}
    for state, focused in (*states.items(), *reversed(states.items())):
        html = pages.render("PasskeyLoginPage", state, "en", "acme").html
        assert len(re.findall(r"<input[^>]* autofocus", html)) == focused, state


def test_search_shows_what_has_every_word() -> None:
    found = thumbnails("/_gallery?q=Denied+sign-in")
    assert "/_gallery/LoginPage/denied%20at%20the%20provider?look=acme&lang=en" in found
    assert 1 < len(found) < 20
    assert thumbnails("/_gallery?q=denied+zebra") == []
    assert "No page matches “denied zebra”" in page_at("/_gallery?q=denied+zebra").text


def test_search_stays_in_the_form_and_in_the_groups() -> None:
    text = page_at("/_gallery?q=%3Cb%3E+denied&mode=dark&size=desktop&look=globex").text
    assert 'name="q" value="&lt;b&gt; denied"' in text
    for chosen in ("globex", "en", "dark", "desktop"):
        assert re.search(rf'<option value="{chosen}"[^>]* selected>', text)
    assert "look=globex&amp;lang=en&amp;mode=dark&amp;size=desktop&amp;q=%3Cb%3E%20denied" in text


def test_mode_and_width_are_those_of_the_frames() -> None:
    dark, desktop = (
        page_at("/_gallery?group=device&mode=dark").text,
        page_at("/_gallery?group=device&size=desktop").text,
    )
    assert "color-scheme: dark" in dark
    assert "--of-w: 1280px" not in dark
    assert "color-scheme: light dark" in desktop
    assert "--of-w: 1280px" in desktop


def test_phone_and_desktop_are_beside_each_other() -> None:
    alone, both = (thumbnails(f"/_gallery?group=device&size={size}") for size in ("desktop", "both"))
    assert both == [address for address in alone for _ in range(2)]


def test_states_of_a_page_have_different_names() -> None:
    named = re.findall(r'<a class="cap" href="[^"]+">(.+?)</a>', page_at("/_gallery").text)
    assert len(named) == len(set(named)) == len(page_samples.names())
    words = [re.sub(r"<[^>]+>|PIN|JavaScript", "", name).partition(": ")[2] for name in named]
    assert [word for word in words if "_" in word or re.search("[a-z][A-Z]", word)] == []
    page = '<span class="unseen">Sign-in page: </span>'
    assert {f"{page}{state}" for state in ("Denied at the provider", "Reauthentication")} <= set(named)


def test_gallery_is_valid_html() -> None:
    addresses = ("/_gallery?group=device&size=desktop", "/_gallery?group=device&size=both", "/_gallery?q=zebra")
    assert html_problems({address: page_at(address).text for address in addresses}) == []


def test_gallery_is_compressed() -> None:
    zipped, plain = page_at("/_gallery", **{"Accept-Encoding": "gzip"}), page_at("/_gallery")
    assert len(zipped.data) * 8 < len(plain.data)
    assert gzip.decompress(zipped.data).count(b"<iframe") == plain.data.count(b"<iframe")


def test_sample_is_framed_by_its_own_host_alone() -> None:
    address = "/_gallery/LoginPage/fresh?look=acme&lang=en"
    framed, page = page_at(address, **{"Sec-Fetch-Dest": "iframe"}), page_at(address)
    assert "frame-ancestors 'self'" in framed.headers["Content-Security-Policy"]
    assert framed.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]


def test_texts_are_shown_as_their_keys() -> None:
    address = "/_gallery/LoginPage/for%20an%20application?look=globex&lang="
    shown = page_at(f"{address}keys").text
    assert '<label for="password">password</label>' in shown
    assert ">forgot_password</button>" in shown
    assert "Forgot password?" in page_at(f"{address}en").text, "the pages of others keep their texts"
    assert '<option value="keys" selected>Keys of texts</option>' in page_at("/_gallery?lang=keys&group=device").text


def test_every_page_can_show_its_keys() -> None:
    for page, state in page_samples.names()[::7]:
        answer = page_at(f"/_gallery/{page}/{quote(state)}?look=acme&lang=keys")
        assert answer.status_code == 200, (page, state)
