"""The hub's calls are believed by their signature, whatever stands in their address."""

import httpx
import pytest
from flask import Flask

from app.contract import errors as e
from app.contract import hub, hub_security
from app.contract.visit import Visit
from app.hub.door import Door
from app.identity.house import House
from tests.support.oauth_world import World


@pytest.mark.parametrize("name", ["ünknown", "two words", "50%25", "<b>"])
def test_a_name_that_must_be_escaped_is_a_name_like_any_other(
    house: House, identity_app: Flask, world: World, name: str
) -> None:
    transport = httpx.WSGITransport(app=identity_app)
    door = Door(house.settings.base_url, house.settings.api_hostname, house.hub_keys, house.clock, transport)
    client = door.for_visit(Visit(host=f"{world.name}.{house.settings.hub_domain}"), lambda _: None)
    with pytest.raises(e.UnknownAccount):
        client(hub.own_client, hub.RelyingPartyRead(name=name))


def test_the_devices_are_read_only_for_the_page_that_lists_them(
    house: House, identity_app: Flask, world: World
) -> None:
    person = world.person("grace@example.test")
    host = f"{world.name}.{house.settings.hub_domain}"
    transport = httpx.WSGITransport(app=identity_app)
    door = Door(house.settings.base_url, house.settings.api_hostname, house.hub_keys, house.clock, transport)
    sign_in = hub.SignInRequest(identifier=person.email, password=person.password)
    signed_in = door.for_visit(Visit(host=host), lambda _: None)(hub.sign_in, sign_in)
    assert signed_in.session is not None
    client = door.for_visit(Visit(host=host, session=signed_in.session.token), lambda _: None)
    assert "Sessions" not in client(hub.profile, hub.ProfileRequest()).model_dump(by_alias=True)
    listed = client(hub_security.read, hub_security.OwnRead()).sessions
    assert [view.is_current for view in listed] == [True]
