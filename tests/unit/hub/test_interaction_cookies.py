"""The cookie of an interaction across an upgrade."""

from dataclasses import fields

import pytest

from app.contract.oauth.models import RelyingPartyView
from app.contract.steps import LoginStep, StepResponse
from app.hub.encryption import CookieCipher
from app.hub.web.interaction import MAX_ADDRESS_LENGTH, HubInteraction, InteractionCookies, interaction_from_step

CIPHER = CookieCipher([b"a secret of the tests, long enough"])
COOKIES = InteractionCookies(CIPHER, "")
ADDED = 19
"""Members of a cookie since then."""
SHOP = ("Shop", "https://shop.example/", "https://shop.example")
BEFORE = ["i", "binding", *SHOP, ["de"], "ada", "", 1, 2]


def test_cookie_of_the_previous_release_is_read() -> None:
    """A sign-in that began before an upgrade goes on after it."""
    name = COOKIES.name_of("i")
    read = COOKIES.read({name: CIPHER.encrypt(BEFORE, f"acme {name}")}, "acme", "i")
    assert read == HubInteraction("i", "binding", *SHOP, ("de",), "ada", "", 1, 2)


def test_cookie_without_logo_is_read_by_the_previous_release() -> None:
    name, value = COOKIES.write(HubInteraction("i", "binding", *SHOP, ("de",), "ada", "", 1, 2), "acme")
    assert CIPHER.decrypt(value, f"acme {name}") == BEFORE


@pytest.mark.parametrize("content", [BEFORE[:9], [*BEFORE, *[""] * ADDED, "more"], {}])
def test_cookie_of_another_shape_is_not_read(content: object) -> None:
    name = COOKIES.name_of("i")
    assert COOKIES.read({name: CIPHER.encrypt(content, f"acme {name}")}, "acme", "i") is None


@pytest.mark.parametrize(
    ("logo", "is_stored"),
    [
        ("https://cdn.example/a.png", True),
        ("https://cdn.example/" + "x" * MAX_ADDRESS_LENGTH, False),
        ("data:image/png;base64,AAAA", False),
        ("javascript:alert(1)", False),
    ],
)
def test_only_short_web_addresses_ride_in_the_cookie(logo: str, is_stored: bool) -> None:
    application = RelyingPartyView(name="Shop", client_id="shop", logo=logo, policy=logo, terms=logo)
    step = StepResponse(step=LoginStep(), interaction_id="i", relying_party=application)
    made = interaction_from_step(step, "binding", 0, 3600)
    assert (made.logo, made.policy, made.terms) == ((logo,) * 3 if is_stored else ("", "", ""))
    name, value = COOKIES.write(made, "acme")
    assert COOKIES.read({name: value}, "acme", "i") == made
    assert len(fields(made)) == len(BEFORE) + ADDED
