"""Nothing moves on a page between its states: an error, a rule or a pending request changes no other element's place."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.support.browsers import page_samples, theme_samples
from tests.support.browsers.chromium import Opened

WIDTHS = (1280, 390)
PAIRS = {
    "sign-in, wrong password": ("LoginPage", "with a hint", "wrong"),
    "sign-in, empty fields": ("LoginPage", "for an application", "empty"),
    "identifier first, empty": ("LoginPage", "identifier first", "identifier first, empty"),
    "password then, wrong password": ("LoginPage", "password then", "password then, wrong"),
    "sign-in by phone, wrong password": ("LoginPage", "by phone", "by phone, wrong"),
    "confirmation, wrong password": ("LoginPage", "reauthentication", "reauthentication, wrong"),
    "sign-up, wrong fields": ("RegisterPage", "for an application", "refused"),
    "sign-up with all fields, wrong fields": ("RegisterPage", "every kind of field", "every kind of field refused"),
    "sign-up by passkey, no address": ("PasskeyRegisterPage", "with a passkey", "with a passkey, no address"),
    "second factor, wrong code": ("SecondFactorPage", "totp, enrolled", "totp, enrolled, wrong"),
    "authenticator, wrong code": ("SecondFactorPage", "totp, to enrol", "totp, to enrol, wrong"),
    "device, wrong code": ("DeviceCodePage", "fresh", "wrong"),
    "request of another device, wrong number": ("ApproveSignInPage", "asked", "wrong"),
    "reset, weak password": ("ResetPage", "fresh", "too weak"),
    "password change, wrong password": ("ChangePasswordPage", "fresh", "wrong"),
    "username, taken": ("UsernamePage", "fresh", "taken"),
    "profile, wrong rows": ("ProfilePage", "every row open", "rows refused"),
    "picture, too large": ("ProfilePage", "picture open", "picture refused"),
    "organization, taken name": ("OrganizationSettingsPage", "fresh", "taken"),
    "organization, wrong color": ("OrganizationSettingsPage", "fresh", "wrong color"),
    "domain, refused": ("AddDomainPage", "fresh", "refused"),
    "invitation, empty": ("InvitePeoplePage", "fresh", "empty"),
}
"""A page's name, the state before, and the state after it was sent."""
PLACES = """() => [...document.querySelectorAll("main :is(h1, label, .control, .button, .method, summary, .aside)")]
    .filter(each => each.checkVisibility() && !each.matches(".unseen"))
    .map(each => [each.localName + " " + (each.id || each.textContent.trim().slice(0, 24)), each.getBoundingClientRect()])
    .filter(([, box]) => box.width > 1)
    .map(([name, box]) => [name, Math.round(box.x), Math.round(box.y + scrollY), Math.round(box.width), Math.round(box.height)])"""


AIR_OF_ERRORS = """() => [...document.querySelectorAll("main .problem")].map(error => {
    const box = error.getBoundingClientRect(), own = error.closest(".field");
    const air = [...document.querySelectorAll("main :is(label:not(.check), .check input, .control, .note > *, .button)")]
        .filter(each => !own.contains(each) && each.checkVisibility() && !each.closest(".unseen"))
        .map(each => each.getBoundingClientRect())
        .filter(each => each.width > 1 && each.left < box.right && each.right > box.left)
        .map(each => Math.max(each.top - box.bottom, box.top - each.bottom));
    return [error.id, Math.round(Math.min(999, ...air))];
})"""
"""The ids of the page's errors, each with the distance to what is nearest of other fields and buttons, in pixels."""
SMALLEST_AIR = 4


IN_THEMES = [
    (theme, pair)
    for theme in theme_samples.THEMES
    for pair in ("sign-in, wrong password", "sign-up, wrong fields", "second factor, wrong code")
]


def places(page: Page, address: str) -> list[list[object]]:
    page.goto(address)
    found: list[list[object]] = page.evaluate(PLACES)
    return found


@pytest.mark.parametrize("language", ["en", "de", "ar"])
@pytest.mark.parametrize("pair", PAIRS)
def test_errors_move_nothing(opened: Opened, gallery_address: str, pair: str, language: str) -> None:
    name, *states = PAIRS[pair]
    stays_in_place(opened, [gallery_address + page_samples.address(name, state, language) for state in states])


@pytest.mark.parametrize(("theme", "pair"), IN_THEMES)
def test_errors_move_nothing_in_themes(
    opened: Opened, theme_address: Callable[[str], str], pair: str, theme: str
) -> None:
    name, *states = PAIRS[pair]
    stays_in_place(opened, [theme_address(theme) + theme_samples.address(name, state, "de") for state in states])


def stays_in_place(opened: Opened, addresses: list[str]) -> None:
    page = opened(reduced_motion="reduce")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        before, after = (places(page, address) for address in addresses)
        assert before
        assert after == before, width


@pytest.mark.parametrize("language", ["en", "de", "ar"])
@pytest.mark.parametrize("pair", PAIRS)
def test_an_error_stands_apart_from_other_fields(
    opened: Opened, gallery_address: str, pair: str, language: str
) -> None:
    page = opened()
    name, _, refused = PAIRS[pair]
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(gallery_address + page_samples.address(name, refused, language))
        found = page.evaluate(AIR_OF_ERRORS)
        assert found
        assert [error for error, air in found if air < SMALLEST_AIR] == [], (width, found)


def test_rules_of_a_password_move_nothing(opened: Opened, gallery_address: str) -> None:
    page = opened(reduced_motion="reduce")
    before = places(page, gallery_address + page_samples.address("RegisterPage", "fresh", "en"))
    page.get_by_label("Password", exact=True).press_sequentially("Zebra-kettle-91")
    assert page.locator(".rules .kept").count() == 3
    assert page.evaluate(PLACES) == before


@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_each_rule_of_a_password_takes_one_row(opened: Opened, gallery_address: str, language: str) -> None:
    page = opened()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for state, rules in (("fresh", 3), ("every kind of field", 5)):
            page.goto(gallery_address + page_samples.address("RegisterPage", state, language))
            heights = page.locator(".rules li").evaluate_all(
                "found => found.map(each => each.getBoundingClientRect().height)"
            )
            assert (len(heights), set(heights)) == (rules, {20}), (width, state)


@pytest.mark.parametrize(
    ("name", "state", "idle", "pending"),
    [
        ("LoginPage", "with a hint", "Sign in", "Signing in…"),
        ("SecondFactorPage", "totp, enrolled", "Verify", "Verifying…"),
    ],
)
def test_pending_button_has_a_verb_and_moves_nothing(
    opened: Opened, gallery_address: str, name: str, state: str, idle: str, pending: str
) -> None:
    """The gallery answers a post with 204, so the page stays as a person sees it meanwhile."""
    page = opened(reduced_motion="reduce")
    before = places(page, gallery_address + page_samples.address(name, state, "en"))
    button = page.locator("main form .button", has_text=idle)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method) if request.method == "POST" else None)
    button.click()
    page.locator("main form .button", has_text=pending).click()
    assert page.locator(".button[aria-busy=true]").inner_text() == pending
    assert [place[1:] for place in page.evaluate(PLACES)] == [place[1:] for place in before]
    assert sent == ["POST"]
