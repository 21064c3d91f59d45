"""A person whom SCIM deactivated does not come back by the organization's single sign-on."""

from __future__ import annotations

import pytest

from tests.support.organizations.connected_organization import DOMAIN, MINA, ConnectedOrganization, NewConnected
from tests.support.scim.connected import connect


def provisioned(globex: ConnectedOrganization, *, is_created: bool) -> str:
    """Provision Mina, with a new account or the one of a sign-in before; return her id."""
    scim = connect(globex.business, globex.org)
    if not is_created:
        globex.sign_in()
        found = scim.ok("GET", "/Users", filter=f'userName eq "{MINA["email"]}"')
        return str(found["Resources"][0]["id"])
    return str(scim.create("mina")["id"])


@pytest.mark.parametrize("is_created", [True, False])
def test_deactivation_survives_single_sign_on(new_connected: NewConnected, is_created: bool) -> None:
    globex = new_connected()
    assert MINA["email"] == f"mina@{DOMAIN}"
    uid = provisioned(globex, is_created=is_created)
    globex.sign_in_anew()
    assert globex.roles() == {globex.member_role}
    scim = connect(globex.business, globex.org)
    assert scim.patch(f"/Users/{uid}", {"op": "replace", "path": "active", "value": False}).status_code == 200
    globex.sign_in_anew()
    assert globex.roles() == set()
    assert scim.ok("GET", f"/Users/{uid}")["active"] is False
    assert scim.patch(f"/Users/{uid}", {"op": "replace", "path": "active", "value": True}).status_code == 200
    globex.sign_in_anew()
    assert globex.roles() == {globex.member_role}


def test_deletion_survives_single_sign_on(new_connected: NewConnected) -> None:
    globex = new_connected()
    uid = provisioned(globex, is_created=False)
    scim = connect(globex.business, globex.org)
    assert scim.send("DELETE", f"/Users/{uid}").status_code == 204
    globex.sign_in_anew()
    assert (globex.roles(), scim.send("GET", f"/Users/{uid}").status_code) == (set(), 404)
