"""The password rules in the browser agree with the policy that the service enforces."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from app.contract.recovery.errors import PASSWORD_RULE_MESSAGES, PasswordRule
from app.contract.tenants.settings import PasswordPolicy
from app.identity.credentials.passwords import policy
from tests.support.browsers import page_samples
from tests.support.browsers.chromium import Opened
from tests.support.oauth.world import World

FULL_POLICY = PasswordPolicy(max_length=20, require_lowercase=True, require_uppercase=True)
"""The policy of the sample `every rule`."""
JUDGED_BY_SERVER = {PasswordRule.PROFILE, PasswordRule.COMMON}
TYPED = (
    "a",
    "A",
    "7",
    "-",
    " ",
    "abcdefghij",
    "Abcdefghi-7",
    "a" * 20,
    "a" * 21,
    "\u0663",  # an Arabic digit
    "\u20ac",
    "\u2013",
    "\u00df",
    "\u00c9",
    "\u0130",
    "\u0645\u0631\u062d\u0628\u0627",
    "\u0434\u0416",
    "\U0001f98a" * 9,
    "\U0001f98a" * 10,
    "\u6f22\u5b57",
    "\u060c",
)


@pytest.fixture
def sentences() -> dict[PasswordRule, str]:
    numbers = {PasswordRule.LEAST: FULL_POLICY.min_length, PasswordRule.MOST: FULL_POLICY.max_length}
    return {
        rule: PASSWORD_RULE_MESSAGES[rule].format(number=numbers.get(rule, 0))
        for rule in PasswordRule
        if rule not in JUDGED_BY_SERVER
    }


def test_ticked_rules_match_the_enforced_policy(
    opened: Opened, gallery_address: str, sentences: dict[PasswordRule, str]
) -> None:
    page = opened()
    page.goto(gallery_address + page_samples.address("ResetPage", "every rule", "en"))
    field = page.locator("#password")
    differences = {}
    for typed in TYPED:
        field.fill(typed)
        ticked = {PasswordRule(kind) for kind in page.locator(".rules .kept").evaluate_all(RULES_OF_ELEMENTS)}
        broken = policy.broken_rules(FULL_POLICY, typed)
        accepted = {rule for rule, sentence in sentences.items() if sentence not in broken}
        if ticked != accepted:
            differences[typed] = ticked ^ accepted
    assert differences == {}


RULES_OF_ELEMENTS = "found => found.map(each => each.dataset.rule)"


def test_broken_rules_stay_marked_until_typing(opened: Opened, gallery_address: str) -> None:
    page = opened()
    page.goto(gallery_address + page_samples.address("ResetPage", "too weak", "en"))
    marked = page.locator(".rules .broken")
    expect(marked).to_have_text(["At least 10 characters not met yet,", "A number not met yet,"])
    expect(page.locator("#password-problem")).to_be_visible()
    listed = page.locator(".rules").bounding_box()
    page.locator("#password").press_sequentially("a7")
    expect(page.locator("#password-problem")).to_be_hidden()
    expect(page.locator("#password-hint")).to_be_visible()
    assert page.locator(".rules").bounding_box() == listed
    expect(marked).to_have_count(0)
    expect(page.locator(".rules .kept")).to_have_text(["A number met,"])


@pytest.mark.parametrize(
    "template",
    [
        "{{ label() }}{{ control() }}{{ beside() }}{{ note() }}<div>{{ rules() }}</div>",
        "{{ label() }}{{ rules() }}{{ control() }}{{ note() }}{{ beside() }}",
        "{{ rules() }}{{ label() }}{{ beside() }}<div>{{ note() }}</div>{{ control() }}",
    ],
)
def test_rules_are_marked_where_a_theme_has_them(world: World, served: str, opened: Opened, template: str) -> None:
    world.change_brand(templates={"macros/password.html": template})
    page = opened()
    page.goto(f"{served}/register")
    page.get_by_label("Email").fill("neu@example.test")
    page.get_by_label("Password", exact=True).fill("a")
    page.get_by_role("button", name="Create account").click()
    expect(page.locator("#password-problem")).to_be_visible()
    page.get_by_label("Password", exact=True).press_sequentially("a7")
    expect(page.locator(".rules .kept")).to_have_text(["A number met,"])
    expect(page.locator("#password-problem")).to_be_hidden()
    expect(page.locator("#password-hint")).to_be_visible()


@pytest.mark.parametrize("name", ["RegisterPage", "ResetPage", "ChangePasswordPage"])
def test_rules_are_marked_without_scripts(opened: Opened, gallery_address: str, name: str) -> None:
    page = opened(java_script_enabled=False)
    state = {"RegisterPage": "refused", "ResetPage": "too weak", "ChangePasswordPage": "weak"}[name]
    page.goto(gallery_address + page_samples.address(name, state, "en"))
    expect(page.locator(".rules .broken")).to_have_text(
        ["At least 10 characters not met yet,", "A number not met yet,"]
    )
    field = page.locator("[autocomplete=new-password]")
    described = (field.get_attribute("aria-describedby") or "").split()
    assert [part.rpartition("-")[2] for part in described] == ["hint", "problem", "rules"]
    assert page.get_by_role("button", name="Show: Password").count() == 0


@pytest.mark.parametrize("scripts", [True, False])
def test_rules_stand_from_the_start(opened: Opened, gallery_address: str, scripts: bool) -> None:
    """If they opened or closed, the button would move between pressing and releasing the pointer, and the click be lost."""
    page = opened(java_script_enabled=scripts)
    page.goto(gallery_address + page_samples.address("RegisterPage", "fresh", "en"))
    expect(page.locator(".rules")).to_be_visible()
    button = page.get_by_role("button", name="Create account")
    place = button.bounding_box()
    for label in ("Password", "Email"):
        page.get_by_label(label, exact=True).focus()
        assert button.bounding_box() == place
