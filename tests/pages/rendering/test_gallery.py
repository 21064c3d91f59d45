"""The gallery shows every page in every state, and only its own samples may be framed."""

from __future__ import annotations

import re
from html import unescape

import pytest
from werkzeug.test import Client, TestResponse

from tests.support.browsers import page_samples


def page_at(address: str, **headers: str) -> TestResponse:
    return Client(page_samples.hub()).get(address, base_url="http://localhost", headers=headers)


def thumbnails(address: str) -> list[str]:
    """Return the addresses that the frames of the gallery show."""
    return [unescape(found) for found in re.findall(r'<iframe src="([^"]+)"', page_at(address).text)]


def test_every_page_in_every_state_is_a_thumbnail_and_a_link() -> None:
    text = page_at("/_gallery").text
    framed = thumbnails("/_gallery")
    assert len(framed) == len(page_samples.names()) > 700
    assert framed == [unescape(found) for found in re.findall(r'<li><a href="([^"]+)"', text)]
    assert text.count(' inert sandbox="allow-same-origin"') == len(framed) == text.count('loading="lazy"')


def test_group_look_and_language_are_chosen() -> None:
    framed = thumbnails("/_gallery?group=device&look=globex&lang=de")
    assert framed
    assert all("/Device" in address and address.endswith("?look=globex&lang=de") for address in framed)


@pytest.mark.parametrize("query", ["look=absent", "lang=xx"])
def test_unknown_look_or_language_of_pages_is_not_found(query: str) -> None:
    assert page_at(f"/_gallery?{query}").status_code == 404


def test_sample_is_framed_by_its_own_host_alone() -> None:
    address = "/_gallery/LoginPage/fresh?look=acme&lang=en"
    framed, page = page_at(address, **{"Sec-Fetch-Dest": "iframe"}), page_at(address)
    assert "frame-ancestors 'self'" in framed.headers["Content-Security-Policy"]
    assert framed.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
