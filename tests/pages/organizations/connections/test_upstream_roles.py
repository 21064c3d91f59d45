"""The roles that an organization's connection grants: set at every sign-in, taken back, and never the last owner's."""

from __future__ import annotations

import pytest

from tests.support.organizations.connected_organization import DOMAIN, MINA, ConnectedOrganization, NewConnected
from tests.support.organizations.invitations import InvitingBusiness
from tests.support.organizations.management import PATH
from tests.support.tenants.tenant_server import answered, refused

JONATHAN = f"jonathan@{DOMAIN}"


def test_group_grants_its_role_beside_the_default(globex: ConnectedOrganization) -> None:
    editor = globex.business.role("Editor", org=globex.org)
    globex.group_role("editors", editor)
    globex.sign_in(groups=["editors", "unknown", 7, None, {"a": 1}])
    assert globex.roles() == {globex.member_role, editor}


def test_group_lost_upstream_takes_its_role(globex: ConnectedOrganization) -> None:
    editor = globex.business.role("Editor", org=globex.org)
    globex.group_role("editors", editor)
    globex.sign_in(groups=["editors"])
    globex.sign_in_anew(groups=[])
    assert globex.roles() == {globex.member_role}
    globex.sign_in_anew(groups="editors")
    assert globex.roles() == {globex.member_role, editor}
    globex.sign_in_anew()
    assert globex.roles() == {globex.member_role}


def test_groups_at_another_address_leave_roles(globex: ConnectedOrganization) -> None:
    """Entra ID leaves out the groups of people with more than 200, and names them in `_claim_names`."""
    editor = globex.business.role("Editor", org=globex.org)
    globex.group_role("editors", editor)
    globex.sign_in(groups=["editors"])
    globex.sign_in_anew(_claim_names={"groups": "src1"})
    assert globex.roles() == {globex.member_role, editor}


def test_role_given_by_hand_stays(globex: ConnectedOrganization) -> None:
    editor = globex.business.role("Editor", org=globex.org)
    mina = globex.tenant.person(MINA["email"])
    answered(globex.business.assign(mina.uid, globex.org, editor))
    globex.group_role("editors", editor)
    globex.sign_in(groups=["editors"])
    globex.sign_in_anew(groups=[])
    assert globex.roles() == {globex.member_role, editor}


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("giver", ["server", "everywhere", "invitation"])
def test_role_given_by_hand_later_stays(globex: ConnectedOrganization, giver: str) -> None:
    """People may give a role that the connection granted before; only they take it then."""
    editor = globex.business.role("Editor", org="" if giver == "everywhere" else globex.org)
    globex.group_role("editors", editor)
    inviting = InvitingBusiness(globex.business.tenant)
    inviting.org = globex.org
    if giver == "invitation":
        inviting.invite(MINA["email"], roleIds=[editor])
    invitation = inviting.token(MINA["email"]) if giver == "invitation" else ""
    globex.sign_in(groups=["editors"])
    account = globex.account()
    assert account is not None
    if giver == "server":
        answered(globex.business.assign(account.uid, globex.org, editor))
        assert refused(globex.business.assign(account.uid, globex.org, editor)) == (409, 8130)
    elif giver == "everywhere":
        answered(
            globex.business.send("PUT", f"/v2/manage/account/{account.uid}/orgcontext/roles", {"RoleIds": [editor]})
        )
    else:
        token = str(globex.business.tenant.tokens(account.uid)["access_token"])
        answered(inviting.accept(invitation, token))
    globex.sign_in_anew(groups=[])
    assert globex.roles() == {globex.member_role, editor}


def test_changed_default_role_replaces_the_former(globex: ConnectedOrganization) -> None:
    globex.sign_in()
    newer = globex.business.role("Newer", org=globex.org)
    globex.set_policies(MemberPolicy={"DefaultMemberRole": newer})
    globex.sign_in_anew()
    assert globex.roles() == {newer}


def test_closed_jit_keeps_those_who_joined(globex: ConnectedOrganization) -> None:
    globex.sign_in()
    globex.set_policies(JITPolicy={"Enabled": False})
    assert globex.sign_in_anew().heading == "Profile"
    assert globex.roles() == {globex.member_role}


@pytest.fixture
def owned(globex: ConnectedOrganization) -> tuple[ConnectedOrganization, str]:
    """An organization whose owners are those of a group; Mina is one."""
    owner = globex.business.role("Owner", permissions=(globex.business.permission("org:own"),))
    globex.group_role("owners", owner)
    globex.sign_in(groups=["owners"])
    return globex, owner


def test_last_owner_keeps_the_role(owned: tuple[ConnectedOrganization, str]) -> None:
    globex, owner = owned
    globex.sign_in_anew(groups=[])
    assert globex.roles() == {globex.member_role, owner}
    assert len(globex.events("organization.last_owner_kept")) == 1


def test_owner_beside_another_loses_the_role(owned: tuple[ConnectedOrganization, str]) -> None:
    globex, owner = owned
    globex.sign_in_anew(sub="jonathan", email=JONATHAN, groups=["owners"])
    globex.sign_in_anew(groups=[])
    assert globex.roles() == {globex.member_role}
    globex.sign_in_anew(sub="jonathan", email=JONATHAN, groups=[])
    assert globex.roles(JONATHAN) == {globex.member_role, owner}


def test_deleted_connection_keeps_the_last_owner(owned: tuple[ConnectedOrganization, str]) -> None:
    globex, owner = owned
    globex.sign_in_anew(sub="jonathan", email=JONATHAN)
    answered(globex.business.send("DELETE", f"{PATH}/{globex.org}/connections/{globex.id}"))
    assert globex.roles() == {owner}
    assert globex.roles(JONATHAN) == set()


@pytest.mark.both_databases
def test_deleted_connection_ends_what_its_members_began(globex: ConnectedOrganization) -> None:
    """As after every other removal: an invitation would let the person or a friend return."""
    globex.sign_in()
    account = globex.account()
    assert account is not None
    inviting = InvitingBusiness(globex.business.tenant)
    inviting.org = globex.org
    sent = inviting.invite("friend@elsewhere.example", inviterUid=account.uid, roleIds=[globex.member_role])
    answered(globex.business.send("DELETE", f"{PATH}/{globex.org}/connections/{globex.id}"))
    assert answered(globex.business.send("GET", f"/v2/manage/invitations/{sent['Id']}"))["Status"] == "revoked"
    assert [uid for uid, _ in globex.events("event.UnassignRoles")] == [account.uid]
    assert [uid for uid, _ in globex.events("organization.roles_removed")] == [account.uid]


def test_deleted_group_role_is_taken_at_once(globex: ConnectedOrganization) -> None:
    editor = globex.business.role("Editor", org=globex.org)
    added = globex.group_role("editors", editor)
    globex.sign_in(groups=["editors"])
    path = f"{PATH}/{globex.org}/connections/{globex.id}/grouproles"
    answered(globex.business.send("DELETE", f"{path}/{added}"))
    assert globex.roles() == {globex.member_role}


def test_changed_group_role_takes_the_former_role_at_once(globex: ConnectedOrganization) -> None:
    editor, reader = (globex.business.role(name, org=globex.org) for name in ("Editor", "Reader"))
    added = globex.group_role("editors", editor)
    globex.sign_in(groups=["editors"])
    path = f"{PATH}/{globex.org}/connections/{globex.id}/grouproles"
    answered(globex.business.send("PUT", f"{path}/{added}", {"RoleId": reader}))
    assert globex.roles() == {globex.member_role}
    globex.sign_in_anew(groups=["editors"])
    assert globex.roles() == {globex.member_role, reader}


def test_member_without_a_role_left_is_refused(new_connected: NewConnected) -> None:
    """Removed upstream: the group was the only role, and the organization takes nobody by sign-in."""
    globex = new_connected(jit=True, has_role=False)
    editor = globex.business.role("Editor", org=globex.org)
    globex.group_role("editors", editor)
    globex.sign_in(groups=["editors"])
    assert globex.roles() == {editor}
    globex.set_policies(JITPolicy={"Enabled": False})
    assert "You’re not a member yet" in globex.sign_in_anew(groups=[]).text
    assert globex.roles() == set()
    assert "You’re not a member yet" in globex.sign_in_anew(groups=["editors"]).text
