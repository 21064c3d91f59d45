"""The picture of the own account."""

import re
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from app.identity.directory.pictures import pictures
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.images.image_format import MAX_UPLOAD_BYTES
from tests.support.accounts.self_service import OWN, ProfilePerson
from tests.support.images import animation, image_file, opened, with_archive
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered

PICTURE = f"{OWN}/picture"
NewPerson = Callable[..., ProfilePerson]
REFUSED = {
    "too large": (image_file() + bytes(MAX_UPLOAD_BYTES), 8220),
    "SVG": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", 8221),
    "animated": (animation("PNG"), 8223),
    "mixed": (with_archive(image_file()), 8224),
    "damaged": (image_file()[:50], 8225),
}


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> ProfilePerson:
    return person(new_tenant_server())


def person(server: TenantServer, email: str = "ada@example.test") -> ProfilePerson:
    return ProfilePerson(server, Email=[{"Type": "Primary", "Value": email}])


def in_base64(content: bytes) -> dict[str, str]:
    return {"Picture": b64encode(content).decode()}


def set_picture(ada: ProfilePerson, content: bytes | None = None) -> str:
    answer = answered(ada.send("PUT", PICTURE, in_base64(content or image_file())))
    assert answer["IsPosted"] is True
    address: str = answer["ImageUrl"]
    return address


def stored(server: TenantServer) -> dict[str, bytes]:
    with UnitOfWork(server.services.database, server.tenant_id).separate_transaction() as work:
        rows = work.all(select(pictures).where(pictures.c.tenant_id == server.tenant_id))
    return {row.name: row.content for row in rows}


def name_of(address: str) -> str:
    return address.rpartition("/")[2]


@pytest.mark.both_databases
def test_picture_is_stored_and_named_by_the_profile(ada: ProfilePerson) -> None:
    address = set_picture(ada)
    assert re.fullmatch(r"http://[^/]+/pictures/[\w-]{32}\.jpg", address)
    assert answered(ada.send("GET", OWN))["ImageUrl"] == address
    assert [*stored(ada.server)] == [name_of(address)]
    assert opened(stored(ada.server)[name_of(address)]).size == (64, 64)


def test_new_picture_deletes_the_former(ada: ProfilePerson) -> None:
    first, second = set_picture(ada), set_picture(ada)
    assert first != second
    assert [*stored(ada.server)] == [name_of(second)]


def test_removed_picture_is_deleted(ada: ProfilePerson) -> None:
    set_picture(ada)
    assert answered(ada.send("DELETE", PICTURE)) == {"IsDeleted": True}
    assert (answered(ada.send("GET", OWN))["ImageUrl"], stored(ada.server)) == (None, {})
    assert answered(ada.send("DELETE", PICTURE)) == {"IsDeleted": True}


def test_other_address_in_the_profile_deletes_the_picture(ada: ProfilePerson) -> None:
    set_picture(ada)
    ada.update({"FirstName": "Ada"})
    assert stored(ada.server)
    ada.update({"ImageUrl": "https://pictures.example/ada.png"})
    assert not stored(ada.server)
    answered(ada.send("DELETE", PICTURE))
    assert answered(ada.send("GET", OWN))["ImageUrl"] is None


def test_deleted_account_leaves_no_picture(ada: ProfilePerson) -> None:
    set_picture(ada)
    answered(ada.server.send("DELETE", f"/identity/v2/manage/account/{ada.uid}"))
    assert not stored(ada.server)


@pytest.mark.both_databases
def test_racing_uploads_leave_one_picture(ada: ProfilePerson) -> None:
    with ThreadPoolExecutor(3) as pool:
        addresses = [name_of(address) for address in pool.map(lambda _: set_picture(ada), range(3))]
    assert len(set(addresses)) == 3
    assert [*stored(ada.server)] == [name_of(answered(ada.send("GET", OWN))["ImageUrl"])]


@pytest.mark.parametrize("case", REFUSED)
def test_unusable_picture_is_refused_and_changes_nothing(ada: ProfilePerson, case: str) -> None:
    before, (content, code) = set_picture(ada), REFUSED[case]
    assert ada.refusal("PUT", PICTURE, in_base64(content)) == (400, code)
    assert [*stored(ada.server)] == [name_of(before)]


@pytest.mark.parametrize("text", ["", "%%%", "iVBORw0KGgo", "data:image/png;base64,iVBORw0KGgo=", "\u00e9"])
def test_malformed_base64_is_refused(ada: ProfilePerson, text: str) -> None:
    assert ada.refusal("PUT", PICTURE, {"Picture": text})[1] in (908, 8221)


def test_body_beyond_every_bound_is_refused(ada: ProfilePerson) -> None:
    assert ada.refusal("PUT", PICTURE, {"Picture": "A" * 3_000_000})[0] == 400


def test_uploads_are_limited_by_account(ada: ProfilePerson) -> None:
    bob = person(ada.server, "bob@example.test")
    statuses = [ada.send("PUT", PICTURE, in_base64(b"hello")).status_code for _ in range(21)]
    assert statuses == [400] * 20 + [429]
    assert set_picture(bob)
