"""What a hostile provider, or a person who plays with addresses, can do to the guide's test."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from app.contract.organizations.setup_operations import MAPPED
from tests.support.fakes.identity_provider import SECRET
from tests.support.organizations.connected_organization import MINA
from tests.support.organizations.setup_guides import SetupByLink
from tests.support.races import at_once, tabs


def test_hostile_claims_are_escaped_and_bounded(setup: SetupByLink) -> None:
    claims: dict[str, Any] = {
        "<script>alert(1)</script>": "x", "markup": "<img src=x onerror=alert(1)>", "turned": "a\u202eb\u0000c", "n" * 5_000: "x",
        "large": "word " * 5_000, **{f"claim_{number}": number for number in range(500)},
    }  # fmt: skip
    shown = setup.test(setup.with_values(), **claims)
    assert "The test worked" in shown.text
    assert "<script>alert" not in shown.html
    assert "<img src=x" not in shown.html
    assert "\u202e" not in shown.html
    assert "n" * 200 not in shown.html
    assert "claim_499" not in shown.html
    assert len(shown.html) < 100_000


def test_one_answer_counts_once_under_concurrency(setup: SetupByLink) -> None:
    redirected = setup.with_values().press("Sign in to test")
    address = setup.provider.callback_url(redirected.address, **MINA)
    before = setup.provider.requests_to("/token")
    at_once([partial(page.visitor.open, address) for page in tabs(setup.visitor.open("/setup/test"), 4)])
    assert setup.provider.requests_to("/token") == before + 1


def test_answer_with_two_codes_is_refused(setup: SetupByLink) -> None:
    redirected = setup.with_values().press("Sign in to test")
    address = setup.provider.callback_url(redirected.address, **MINA)
    shown = setup.visitor.open(f"{address}&code=another")
    assert "The test didn’t work" in shown.text


def test_request_of_the_test_has_state_nonce_and_verifier(setup: SetupByLink) -> None:
    redirected = setup.with_values().press("Sign in to test")
    sent = dict(parse_qsl(urlsplit(redirected.address).query))
    assert {"state", "nonce", "code_challenge"} <= sent.keys()
    assert SECRET not in redirected.address
    assert sent["redirect_uri"].startswith(setup.visitor.home)


def test_mapping_takes_its_own_members_alone(setup: SetupByLink) -> None:
    page = setup.tested()
    fields = page.form("Save and continue").fields
    sent = {
        **fields,
        "do": "map",
        "id": "sub",
        "email": "email",
        "custom_mapping": "x",
        "groups": "g" * 5_000,
        "last_name": "a\nb",
    }
    shown = setup.visitor.send("POST", f"{setup.visitor.home}/setup/test", sent)
    assert shown.heading == "Activate single sign-on"
    shown.press("Activate")
    attributes = setup.connections()[0]["Attributes"]
    assert attributes["CustomMapping"] == {}
    assert attributes["LastName"] == "family_name"
    assert {name for name in MAPPED if len(attributes[name]) > 200} == set()
