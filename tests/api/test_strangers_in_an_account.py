"""Whoever used an account before its owner claimed it keeps no way in: no passkey, no sign-in half done, nothing that was begun."""

from __future__ import annotations

import pytest
from werkzeug.test import TestResponse

from tests.support.consents import asked, given
from tests.support.letterbox import token_in
from tests.support.passkeys import A, Keyed, keyed
from tests.support.tenant_server import NewTenantServer, answered, refused

VICTIM = "grace@example.test"
pytestmark = pytest.mark.parametrize("house", ["sqlite"], indirect=True, scope="session")


def strange(make: NewTenantServer, **settings: object) -> tuple[Keyed, TestResponse]:
    """Somebody who registered the address of another with a passkey, and what they were answered."""
    eve = keyed(make, email_verification="optional", passwordless_email=True, **settings)
    eve.email = VICTIM
    options = eve.begins(f"{A}/register/passkey/begin", identifier=VICTIM)
    body = {"PasskeyCredential": eve.device.makes(options)}
    return eve, eve.tenant.send("POST", f"{A}/register/passkey/finish", body, with_secret=False)


def owner_comes(eve: Keyed) -> None:
    """The mailbox signs in by a link, which is its first proof."""
    answered(eve.call("U49", email=VICTIM))
    answer = eve.call("U50", verificationtoken=token_in(eve.mailed()))
    assert answer.status_code == 200 or refused(answer) == (403, 1226), answer.text


def test_the_passkey_of_who_registered_opens_nothing_once_the_mailbox_signed_in(
    new_tenant_server: NewTenantServer,
) -> None:
    eve, _ = strange(new_tenant_server)
    assert answered(eve.is_offered())["Profile"]["Email"][0]["Value"] == VICTIM
    owner_comes(eve)
    assert refused(eve.is_offered()) == (403, 1323)


def test_nor_does_a_sign_in_that_waited_for_a_consent(new_tenant_server: NewTenantServer) -> None:
    eve, waits = strange(new_tenant_server, **asked("FirstLogin"))
    assert refused(waits) == (403, 1226)
    owner_comes(eve)
    token = waits.get_json()["Data"]["ConsentToken"]
    assert refused(eve.call("U83", given("FirstLogin"), consenttoken=token)) == (403, 1229)
