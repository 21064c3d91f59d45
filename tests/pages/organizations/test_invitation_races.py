"""An invitation is accepted while its role is deleted: the invitation and the membership change together, or not at all."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import pytest

from app.identity.directory.organizations.invitations import join_by_invitation
from tests.support.journeys.invitations import Guest
from tests.support.organizations.management import ROLES

pytestmark = pytest.mark.both_databases


def test_role_is_not_deleted_before_the_membership(guest: Guest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The deletion begins when the acceptance is written; it waits for the membership."""
    guest.sign_in()
    page, join = guest.open(), join_by_invitation.join
    deletions: list[Future[Any]] = []
    with ThreadPoolExecutor(1) as pool:

        def join_while_deleting(*arguments: Any) -> None:
            deletion = pool.submit(guest.business.send, "DELETE", f"{ROLES}/{guest.business.member_role}")
            deletions.append(deletion)
            assert not wait([deletion], timeout=0.5).done
            join(*arguments)

        monkeypatch.setattr(join_by_invitation, "join", join_while_deleting)
        assert page.press("Join organization").address.endswith("/profile")
    assert len(deletions) == 1
    assert guest.status() == "accepted"


def test_acceptance_without_a_role_leaves_the_invitation_open(guest: Guest) -> None:
    guest.sign_in()
    page = guest.open()
    assert guest.business.send("DELETE", f"{ROLES}/{guest.business.member_role}").status_code == 200
    assert page.press("Join organization").heading != "You’re already a member"
    assert (guest.status(), guest.members()) == ("invited", [])
