"""The profile picture: uploaded, shown, replaced and removed on the profile page, without scripts."""

from __future__ import annotations

import io
import json
import re
from base64 import b64decode
from typing import Any

import pytest

from app.contract.images import image_pages
from app.hub.client.known_names import MAX_MISSES
from app.kit.images.image_format import MAX_UPLOAD_BYTES
from tests.support.images import animation, image_file, opened, photo, with_archive
from tests.support.journeys.account_pages import signed_in
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

REFUSED = {
    "a page": (b"<!doctype html><script>alert(1)</script>", "image/png", "Choose a PNG, JPEG or WebP picture."),
    "SVG": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", "Choose a PNG, JPEG or WebP picture."),
    "a wrong type": (image_file(), "text/html", "Choose a PNG, JPEG or WebP picture."),
    "animated": (animation("WEBP"), "image/webp", "Animated pictures don’t work here."),
    "an archive": (with_archive(image_file()), "image/png", "This file contains more than a picture."),
    "half a file": (photo()[:900], "image/jpeg", "We couldn’t read this picture."),
    "too large": (image_file() + bytes(MAX_UPLOAD_BYTES), "image/png", "This picture is larger than 2 MB."),
    "too large to read": (bytes(MAX_UPLOAD_BYTES + 70_000), "image/png", "This picture is larger than 2 MB."),
    "nothing": (b"", "", "Choose a picture first."),
}


@pytest.fixture
def ada(visitor: Visitor, world: World) -> Person:
    person = world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")
    signed_in(visitor, person)
    return person


def upload(visitor: Visitor, content: bytes, media_type: str = "image/jpeg") -> VisitedPage:
    page = visitor.open("/profile?edit=picture")
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page.html))
    return post(visitor, fields, content, media_type)


def post(visitor: Visitor, fields: dict[str, Any], content: bytes, media_type: str) -> VisitedPage:
    file = {"picture": (io.BytesIO(content), "picture.png", media_type)} if media_type else {}
    return visitor.send("POST", f"{visitor.home}/profile/picture", {**fields, **file})


def picture_in(html: str) -> str:
    found = re.search(r'<img src="(/pictures/[^"]+)"', html)
    return found[1] if found else ""


def test_uploaded_picture_is_shown_and_served(visitor: Visitor, ada: Person) -> None:
    page = upload(visitor, photo())
    assert "Saved" in page.text
    served = visitor.client.get(picture_in(page.html), base_url=visitor.home)
    assert served.status_code == 200
    assert opened(served.data).size == (300, 300)
    headers = {name.lower(): value for name, value in served.headers.items()}
    assert headers["content-type"] == "image/jpeg"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "private, max-age=86400, immutable"
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
    assert headers["cross-origin-resource-policy"] == "cross-origin"
    assert "set-cookie" not in headers


def test_replaced_and_removed_pictures_are_gone(visitor: Visitor, ada: Person) -> None:
    first = picture_in(upload(visitor, image_file(), "image/png").html)
    page = upload(visitor, photo())
    second = picture_in(page.html)
    page = page.press("Remove")
    assert "Saved" in page.text
    assert (picture_in(page.html), "Add picture" in page.text) == ("", True)
    for address in (first, second):
        assert visitor.client.get(address, base_url=visitor.home).status_code == 404


@pytest.mark.parametrize("case", REFUSED)
def test_unusable_picture_is_explained_at_its_field(visitor: Visitor, ada: Person, case: str) -> None:
    content, media_type, sentence = REFUSED[case]
    page = upload(visitor, content, media_type)
    assert page.status in (400, 413, 422)
    assert re.search(r'id="picture-problem">\s*<span>' + re.escape(sentence), page.html)
    assert picture_in(visitor.open("/profile").html) == ""


def test_form_of_another_site_changes_nothing(visitor: Visitor, ada: Person) -> None:
    page = post(visitor, {"token": "forged"}, image_file(), "image/png")
    assert page.status == 403
    assert picture_in(visitor.open("/profile").html) == ""


def test_picture_needs_a_session(visitor: Visitor, ada: Person) -> None:
    page = visitor.open("/profile?edit=picture")
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page.html))
    visitor.forget("session")
    assert post(visitor, fields, image_file(), "image/png").is_sign_in


def test_picture_is_of_its_tenant_alone(
    visitor: Visitor, ada: Person, new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    address = picture_in(upload(visitor, photo()).html)
    other = new_visitor_at(new_world())
    assert other.client.get(address, base_url=other.home).status_code == 404


@pytest.mark.parametrize("name", ["x", "..%2f..%2fetc%2fpasswd", "a" * 32, "a" * 32 + ".svg", "a" * 32 + ".jpg", ""])
def test_unknown_picture_is_not_found(visitor: Visitor, name: str) -> None:
    assert visitor.client.get(f"/pictures/{name}", base_url=visitor.home).status_code == 404


def test_export_of_own_data_has_the_picture(visitor: Visitor, ada: Person) -> None:
    upload(visitor, photo())
    form = visitor.open("/download-data").form("Download")
    exported = json.loads(visitor.send("POST", f"{visitor.home}/download-data", form.fields).html)
    assert exported["picture"]["type"] == "image/jpeg"
    assert opened(b64decode(exported["picture"]["content"])).size == (300, 300)


def test_stream_of_unknown_pictures_makes_few_calls(visitor: Visitor, ada: Person) -> None:
    shown = picture_in(upload(visitor, photo()).html)
    stream = [visitor.calls_for(f"/pictures/{number:032}.jpg", 404) for number in range(100)]
    assert stream == [1] * (MAX_MISSES - 1) + [2] + [0] * (100 - MAX_MISSES)
    assert visitor.calls_for(shown, 200) == 1, "a stored picture is shown meanwhile"
    assert visitor.calls_for("/pictures/../x.jpg", 404) == 0


def test_pictures_too_many_to_list_are_asked_for(
    visitor: Visitor, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_pages, "MAX_LISTED", 0)
    shown = picture_in(upload(visitor, photo()).html)
    stream = [visitor.calls_for(f"/pictures/{number:032}.jpg", 404) for number in range(10)]
    assert (sum(stream), visitor.calls_for(shown, 200)) == (11, 1)
