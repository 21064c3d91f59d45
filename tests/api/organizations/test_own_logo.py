"""The logo that an owner uploads: who may, what becomes of the file, and when it is deleted."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from sqlalchemy import select

from app.contract import errors
from app.contract.images.errors import ImageMixed, ImageTypeRefused
from app.identity.directory.pictures import pictures
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.images import image_file, noise, opened, with_archive
from tests.support.organizations.members import Team, refused
from tests.support.tenants.tenant_server import answered

PATH = "/v2/manage/organizations"


def upload(team: Team, content: bytes = b"", name: str = "owner") -> tuple[int, Any]:
    """Send a logo; an empty one removes it."""
    return team.send(name, "/logo", Logo=b64encode(content).decode())


def address(team: Team) -> str:
    return str(answered(team.company.business.send("GET", f"{PATH}/{team.org}"))["Display"].get("LogoURL") or "")


def stored(team: Team) -> dict[str, bytes]:
    world = team.company.world
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        rows = work.all(select(pictures).where(pictures.c.tenant_id == world.tenant_id))
    return {row.name: row.content for row in rows}


def names(team: Team) -> list[str]:
    return [address(team).rpartition("/")[2]]


@pytest.mark.both_databases
def test_uploaded_logo_replaces_the_former_one(team: Team) -> None:
    assert upload(team, image_file(noise(900, 300))) == (200, None)
    first = address(team)
    assert list(stored(team)) == names(team)
    (content,) = stored(team).values()
    logo = opened(content)
    assert (logo.format, logo.width <= 512, logo.width // logo.height, len(content) <= 64_000) == ("PNG", True, 3, True)
    assert upload(team, image_file()) == (200, None)
    assert address(team) != first
    assert list(stored(team)) == names(team)


def test_settings_leave_the_logo(team: Team) -> None:
    upload(team, image_file())
    before = address(team)
    assert team.send("owner", "/settings", Name="Globex", Color="#0a7d55") == (200, None)
    assert (address(team), list(stored(team))) == (before, names(team))
    assert team.read("owner", f"/{team.org}/settings")["Logo"] == before


@pytest.mark.parametrize("how", ["owner", "server", "deletion"])
def test_logo_is_deleted_with_its_address(team: Team, how: str) -> None:
    upload(team, image_file())
    if how == "owner":
        assert upload(team) == (200, None)
        assert address(team) == ""
    elif how == "server":
        look = {"Display": {"LogoURL": "https://globex.test/logo.png"}}
        answered(team.company.business.send("PUT", f"{PATH}/{team.org}", look))
    else:
        assert team.send("owner", "/delete", Name="Globex") == (200, None)
    assert stored(team) == {}


def test_refused_file_changes_nothing(team: Team) -> None:
    upload(team, image_file())
    before = address(team)
    assert upload(team, b"<svg xmlns='http://www.w3.org/2000/svg'/>") == refused(ImageTypeRefused)
    assert upload(team, with_archive(image_file())) == refused(ImageMixed)
    assert (address(team), list(stored(team))) == (before, names(team))


def test_only_owners_change_the_logo(team: Team) -> None:
    for content in (image_file(), b""):
        assert upload(team, content, "manager") == refused(errors.OwnersOnly)
        for name in ("editor", "outsider"):
            assert upload(team, content, name) == refused(errors.UnknownOrganization)
    assert stored(team) == {}
