"""An owner uploads, replaces and removes the logo of an organization, without scripts."""

from __future__ import annotations

import io
import re

import pytest

from app.kit.images.image_format import MAX_UPLOAD_BYTES
from tests.support.images import animation, image_file, opened
from tests.support.journeys.organization_members import Members
from tests.support.visitors.visitor import NewVisitor, VisitedPage, Visitor

ADDRESS = "/organizations/logo"
pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/api covers both databases


def upload(members: Members, content: bytes, browser: Visitor | None = None, token: str = "") -> VisitedPage:
    visitor, address = browser or members.visitor, f"{ADDRESS}?id={members.org}"
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', visitor.open(address).html))
    file = {"logo": (io.BytesIO(content), "logo.png", "image/png")} if content else {}
    return visitor.send("POST", f"{visitor.home}{address}", {**fields, **({"token": token} if token else {}), **file})


def logo_in(page: VisitedPage) -> str:
    found = re.findall(r'<img class="tile tile--large" src="([^"]+)"', page.html)
    return str(found[0]) if found else ""


def test_uploaded_logo_is_shown_and_removed(members: Members) -> None:
    page = members.open("/settings", id=members.org).follow("Upload logo")
    assert page.heading == "Logo of Globex Gardens"
    saved = upload(members, image_file())
    assert (saved.topic, "Saved" in saved.text) == ("Settings for Globex Gardens", True)
    address = logo_in(saved)
    image = members.visitor.open(address).answer
    assert image is not None
    assert opened(image.data).format == "PNG"
    assert saved.html.count(address) == 2, "the preview shows it, too"
    assert address in members.open(id=members.org).html
    assert logo_in(upload(members, image_file(kind="JPEG"))) != address
    removed = saved.follow("Change logo").press("Remove logo")
    assert (removed.topic, logo_in(removed)) == ("Settings for Globex Gardens", "")


@pytest.mark.parametrize(("content", "sentence"), [
    (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "Choose a PNG, JPEG or WebP picture."),
    (animation("PNG"), "Animated pictures don’t work here."),
    (bytes(MAX_UPLOAD_BYTES + 70_000), "This picture is larger than 2 MB."),
    (b"", "Choose a picture first."),
])  # fmt: skip
def test_refused_logo_is_explained_at_its_field(members: Members, content: bytes, sentence: str) -> None:
    page = upload(members, content)
    assert page.status in (400, 413, 422)
    assert sentence in page.text
    assert logo_in(members.open("/settings", id=members.org)) == ""


def test_forged_token_changes_no_logo(members: Members) -> None:
    assert upload(members, image_file(), token="forged").status == 403
    assert logo_in(members.open("/settings", id=members.org)) == ""


def test_only_owners_reach_the_page(members: Members, new_visitor: NewVisitor) -> None:
    assert new_visitor().open(f"{ADDRESS}?id={members.org}").is_sign_in
    other = members.company.business.create("Initech")
    assert members.open("/logo", id=other).heading == "Organizations"
