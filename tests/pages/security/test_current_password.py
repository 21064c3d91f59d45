"""The account pages ask for the current password: every guess counts before it is compared, with those of sign-in."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.support.oauth.world import NewWorld
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import refused

MAX_ATTEMPTS = 3
REQUESTS = {
    "reauthentication": ("POST", "/hub/own/confirm/password", "", {}),
    "username": ("PUT", "/hub/identity/v2/auth/username", "", {"Username": "countess"}),
    "password": ("POST", "/hub/password/change", "OldPassword", {"NewPassword": "Quartz-lantern-58"}),
}
"""Method, path, the member with the password, and the others; without such a member, it is in the visit."""


@pytest.mark.both_databases
@pytest.mark.parametrize("name", REQUESTS)
def test_parallel_guesses_are_compared_up_to_the_limit(new_world: NewWorld, name: str) -> None:
    method, path, member, more = REQUESTS[name]
    lockout = {"type": "suspend", "maximum_failed_attempts": MAX_ATTEMPTS}
    world = new_world(email_login=True, username_login=True, lockout=lockout)
    ada = world.person("ada@example.com")
    browser = world.browser().signed_in(ada)
    pass_time(world.services, minutes=10)

    def guess(text: str) -> tuple[int, int]:
        asking = replace(browser, typed=None if member else text)
        return refused(asking.send(method, path, json.dumps({**({member: text} if member else {}), **more}).encode()))

    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(lambda _: guess("wrong"), range(16)))
    assert set(codes) <= {(401, 967), (403, 1198)}
    assert codes.count((401, 967)) <= MAX_ATTEMPTS
    assert guess(ada.password) == (403, 1198), "the right one comes too late"
