"""prompt, max_age, hints and consent: when the authorization endpoint shows a page."""

import json

import pytest

from app.contract.sessions.models import SelectAccountStep
from app.contract.steps import ConsentStep, LoginStep, RedirectStep, StartAgainStep
from app.identity.platform.services import IdentityServices
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, code_of, moved, parameters_of
from tests.support.oauth.world import NewWorld, World


def test_prompt_none_never_shows_a_page(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = parameters_of(browser.authorize(shop.authorization_parameters(prompt="none")))
    assert (stored["error"], stored["state"], stored["iss"]) == ("login_required", "a state", shop.issuer)
    assert "code" in parameters_of(browser.signed_in(ada).authorize(shop.authorization_parameters(prompt="none")))


def test_prompt_none_without_consent_is_consent_required(asking: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = parameters_of(browser.signed_in(ada).authorize(asking.authorization_parameters(prompt="none")))
    assert stored["error"] == "consent_required"


def test_prompt_login_requires_reauthentication(
    services: IdentityServices, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    browser.signed_in(ada)
    step = browser.authorize(shop.authorization_parameters(prompt="login"))
    assert (step.kind, step.reauthentication is not None) == (LoginStep, True)
    assert step.person is not None
    assert step.person.uid == ada.uid
    assert step.interaction_id is not None
    assert browser.resume(step.interaction_id).kind is LoginStep
    with moved(services, seconds=5):
        body = shop.redeem(code_of(browser.sign_in(step.interaction_id, ada.email, ada.password))).json or {}
    assert claims_in(body["id_token"])["auth_time"] >= int(services.clock.now().timestamp())


def test_client_with_forced_reauthentication_gets_login_page(world: World, browser: Browser, ada: Person) -> None:
    bank = world.application("bank", force_reauthentication=True)
    browser.signed_in(ada)
    assert browser.authorize(bank.authorization_parameters()).kind is LoginStep
    assert parameters_of(browser.authorize(bank.authorization_parameters(prompt="none")))["error"] == "login_required"


def test_max_age_counts_from_last_sign_in(
    services: IdentityServices, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    browser.signed_in(ada)
    assert browser.authorize(shop.authorization_parameters(max_age="60")).kind is RedirectStep
    with moved(services, seconds=90):
        step = browser.authorize(shop.authorization_parameters(max_age="60"))
        assert (step.kind, step.reauthentication is not None) == (LoginStep, True)
        assert "code" in parameters_of(browser.authorize(shop.authorization_parameters(max_age="9999999999")))
    with moved(services, seconds=1):
        assert browser.authorize(shop.authorization_parameters(max_age="0")).kind is LoginStep


def test_acr_value_forces_reauthentication_and_is_echoed(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    browser.signed_in(ada)
    name = "vendor:nist:level:1:re-auth"
    step = browser.authorize(shop.authorization_parameters(acr_values=f"other {name}"))
    assert step.kind is LoginStep
    body = shop.redeem(code_of(browser.sign_in(step.interaction_id, ada.email, ada.password))).json or {}
    assert claims_in(body["id_token"])["acr"] == name


def test_voluntary_acr_claim_is_no_demand(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    """OpenID Connect Core section 5.5.1.1: as in `acr_values`, which counts where both are given."""
    browser.signed_in(ada)
    name = "vendor:nist:level:1:re-auth"
    wishes: list[object] = [{"value": name}, {"values": ["urn:x", name]}, {"essential": False, "value": name}]
    for acr in wishes:
        parameters = shop.authorization_parameters(claims=json.dumps({"id_token": {"acr": acr}}))
        assert browser.authorize(parameters).kind is LoginStep
        assert browser.authorize({**parameters, "acr_values": "1"}).kind is RedirectStep
    unmet: list[object] = [{"value": "urn:x"}, {"values": ["2"]}, {"values": []}, None]
    for acr in unmet:
        parameters = shop.authorization_parameters(claims=json.dumps({"id_token": {"acr": acr}}))
        assert "code" in parameters_of(browser.authorize(parameters)), "an account without the class goes on"
    wrong = shop.authorization_parameters(claims='{"id_token": {"acr": {"values": "2"}}}')
    assert parameters_of(browser.authorize(wrong))["error"] == "invalid_request"


@pytest.mark.parametrize("acr", [{"values": []}, {"value": "2", "values": ["1"]}], ids=["no value", "two that differ"])
def test_essential_acr_without_a_possible_value_is_refused(
    shop: RelyingParty, browser: Browser, ada: Person, acr: dict[str, object]
) -> None:
    """OpenID Connect Core section 5.5.1.1: the demand is not met, so there is no response as if nothing had been asked."""
    browser.signed_in(ada)
    parameters = shop.authorization_parameters(claims=json.dumps({"id_token": {"acr": {**acr, "essential": True}}}))
    assert parameters_of(browser.authorize(parameters)).get("error") == "unmet_authentication_requirements"


def test_prompt_none_with_an_older_authentication_is_refused(
    services: IdentityServices, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    browser.signed_in(ada)
    for changed in ({"max_age": "60"}, {"acr_values": "vendor:nist:level:1:re-auth"}):
        with moved(services, seconds=90):
            stored = parameters_of(browser.authorize(shop.authorization_parameters(prompt="none", **changed)))
        assert stored["error"] == "login_required"


def test_max_age_puts_the_time_of_sign_in_into_the_id_token(
    services: IdentityServices, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    """OpenID Connect Core section 2: `auth_time` is required where `max_age` is given; this one is always there."""
    at = int(services.clock.now().timestamp())
    for changed in ({"max_age": "600"}, {"claims": '{"id_token": {"auth_time": {"essential": true}}}'}, {}):
        body = shop.redeem(browser.code(shop, ada, **changed)).json or {}
        assert at <= claims_in(body["id_token"])["auth_time"] <= at + 60


@pytest.mark.parametrize(
    ("requested", "passed_on"),
    [
        ("de en", "de en"),
        ("x" * 41 + " fr-CA", "fr-CA"),
        ("<script> ar", "ar"),
        (" ", None),
        ("de_DE", "de-DE"),
        ("pt-BR,zh_Hans_CN  DE", "pt-BR zh-Hans-CN DE"),
        ("\u0661", None),
        (" ".join(["de-CH-1996"] * 50), " ".join(["de-CH-1996"] * 10)),
    ],
)
def test_ui_locales_keeps_whole_language_tags(
    shop: RelyingParty, browser: Browser, requested: str, passed_on: str | None
) -> None:
    assert browser.authorize(shop.authorization_parameters(ui_locales=requested)).ui_locales == passed_on


@pytest.mark.parametrize("display", ["page", "popup", "touch", "wap"])
def test_each_display_is_accepted(shop: RelyingParty, browser: Browser, display: str) -> None:
    assert browser.authorize(shop.authorization_parameters(display=display)).display == display


def test_select_account_shows_the_accounts(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    parameters = shop.authorization_parameters(prompt="select_account")
    assert browser.authorize(parameters).kind is LoginStep
    assert browser.signed_in(ada).authorize(parameters).kind is SelectAccountStep


def test_login_hint_of_another_account_shows_sign_in(
    shop: RelyingParty, browser: Browser, ada: Person, world: World
) -> None:
    grace = world.person("grace@example.test")
    browser.signed_in(ada)
    assert browser.authorize(shop.authorization_parameters(login_hint="ADA@example.test")).kind is RedirectStep
    step = browser.authorize(shop.authorization_parameters(login_hint=grace.email))
    assert (step.kind, step.login_hint, step.person) == (LoginStep, grace.email, None)
    assert (
        parameters_of(browser.authorize(shop.authorization_parameters(login_hint=grace.email, prompt="none")))["error"]
        == "login_required"
    )
    assert "code" in parameters_of(browser.sign_in(step.interaction_id, grace.email, grace.password))


@pytest.mark.parametrize(
    "hint", ["00u1ab2c3d", "S-1-5-21-7", "ada", "@", "ada@", "a b@c", "+4930", "x" * 400, "\u0661\u0662@"]
)
def test_login_hint_of_another_form_leaves_the_session_alone(
    shop: RelyingParty, browser: Browser, ada: Person, hint: str
) -> None:
    """It is no identifier with which people sign in here, so it cannot be another account's."""
    parameters = shop.authorization_parameters(login_hint=hint)
    assert browser.authorize(parameters).kind is LoginStep
    assert "code" in parameters_of(browser.signed_in(ada).authorize(parameters))
    assert "code" in parameters_of(browser.authorize({**parameters, "prompt": "none"}))


@pytest.mark.both_databases
def test_login_hint_names_any_identifier_of_the_account(
    new_world: NewWorld,
) -> None:
    world = new_world(email_login=True, username_login=True, phone_login=True, default_country="GB")
    ada, shop, browser = world.person("ada@example.test"), world.application("shop"), world.browser()
    emails = [{"Type": "Primary", "Value": ada.email}, {"Type": "Work", "Value": "Ada.King@example.test"}]
    pending = {"Type": "New", "Value": "new@example.test", "pending": True}
    ada.set_columns(username="ada", phone="+442079460123", emails=[*emails, pending])
    browser.signed_in(ada)
    for own in ("ADA@example.test", "ada.king@example.test", "Ada", "020 7946 0123", "+44 20 7946 0123", ada.uid):
        assert "code" in parameters_of(browser.authorize(shop.authorization_parameters(login_hint=own))), own
    for other in ("new@example.test", "grace", "+442079460124", "absent@example.test"):
        assert browser.authorize(shop.authorization_parameters(login_hint=other)).kind is LoginStep, other


def test_id_token_hint_must_match_signed_in_account(
    services: IdentityServices, shop: RelyingParty, browser: Browser, ada: Person, world: World
) -> None:
    hint = (shop.redeem(browser.code(shop, ada)).json or {})["id_token"]
    with moved(services, hours=3):
        later = world.browser()
        assert later.signed_in(ada).authorize(shop.authorization_parameters(id_token_hint=hint)).kind is RedirectStep
    grace = world.person("grace@example.test")
    other = world.browser()
    other.signed_in(grace)
    assert (
        parameters_of(other.authorize(shop.authorization_parameters(id_token_hint=hint, prompt="none")))["error"]
        == "login_required"
    )
    step = other.authorize(shop.authorization_parameters(id_token_hint=hint))
    assert step.kind is LoginStep
    assert parameters_of(other.sign_in(step.interaction_id, grace.email, grace.password))["error"] == "login_required"


def test_id_token_hint_of_another_client_or_tenant_is_refused(
    shop: RelyingParty,
    strict: RelyingParty,
    foreign_shop: RelyingParty,
    browser: Browser,
    ada: Person,
    new_world: object,
) -> None:
    hint = (shop.redeem(browser.code(shop, ada)).json or {})["id_token"]
    assert (
        parameters_of(browser.authorize(strict.authorization_parameters(id_token_hint=hint, code_challenge="x" * 43)))[
            "error"
        ]
        == "invalid_request"
    )
    foreign = Browser(browser.services, browser.wsgi, foreign_shop.tenant_name)
    assert (
        parameters_of(foreign.authorize(foreign_shop.authorization_parameters(id_token_hint=hint)))["error"]
        == "invalid_request"
    )


def test_consent_is_remembered_per_scope(asking: RelyingParty, browser: Browser, ada: Person) -> None:
    step = browser.signed_in(ada).authorize(asking.authorization_parameters())
    assert step.kind is ConsentStep
    assert [scope.name for scope in step.scopes] == ["openid", "profile", "email"]
    assert step.person is not None
    assert step.person.label == ada.email
    assert step.interaction_id is not None
    assert "code" in parameters_of(browser.consent(step.interaction_id, allow=True))
    assert browser.authorize(asking.authorization_parameters()).kind is RedirectStep
    assert browser.authorize(asking.authorization_parameters(scope="openid phone")).kind is ConsentStep
    assert browser.authorize(asking.authorization_parameters(prompt="consent")).kind is ConsentStep


@pytest.mark.parametrize("place", ["userinfo", "id_token"])
def test_consent_covers_single_requested_claims(
    asking: RelyingParty, browser: Browser, ada: Person, place: str
) -> None:
    """Consent to `openid` alone does not release the email that the application requests as a single claim."""
    allowed = browser.signed_in(ada).authorize(asking.authorization_parameters(scope="openid"))
    assert browser.consent(allowed.interaction_id or "", allow=True).kind is RedirectStep
    single = {"scope": "openid", "claims": json.dumps({place: {"email": None, "phone_number": None}})}
    silent = parameters_of(browser.authorize(asking.authorization_parameters(prompt="none", **single)))
    assert silent["error"] == "consent_required"
    step = browser.authorize(asking.authorization_parameters(**single))
    assert [scope.name for scope in step.scopes] == ["openid", "email", "phone"]
    body = asking.redeem(code_of(browser.consent(step.interaction_id or "", allow=True))).json or {}
    assert body["scope"] == "openid"
    assert "code" in parameters_of(browser.authorize(asking.authorization_parameters(prompt="none", **single)))


@pytest.mark.parametrize("scope", [None, "openid"])
def test_request_without_scope_requires_consent(world: World, browser: Browser, ada: Person, scope: str | None) -> None:
    legacy = world.application("Legacy", protocol="oauth", require_consent=True)
    step = browser.signed_in(ada).authorize(
        legacy.authorization_parameters(scope=scope), protocol="oauth", app="Legacy"
    )
    assert step.kind is ConsentStep
    assert step.interaction_id is not None
    assert "code" in parameters_of(browser.consent(step.interaction_id, allow=True))
    again = browser.authorize(legacy.authorization_parameters(scope=scope), protocol="oauth", app="Legacy")
    assert again.kind is RedirectStep


def test_repeated_consent_gets_code_and_later_denial_does_not(
    asking: RelyingParty, browser: Browser, ada: Person
) -> None:
    step = browser.signed_in(ada).authorize(asking.authorization_parameters())
    assert step.interaction_id is not None
    codes = [code_of(browser.consent(step.interaction_id, allow=True)) for _ in range(2)]
    assert [asking.redeem(code).status_code for code in codes] == [200, 200]
    assert browser.consent(step.interaction_id, allow=False).kind is StartAgainStep


def test_repeated_consent_of_closed_account_gets_no_code(asking: RelyingParty, browser: Browser, ada: Person) -> None:
    step = browser.signed_in(ada).authorize(asking.authorization_parameters())
    assert step.interaction_id is not None
    browser.consent(step.interaction_id, allow=True)
    ada.close()
    assert browser.consent(step.interaction_id, allow=True).kind is StartAgainStep


def test_denied_consent_returns_access_denied_and_is_final(asking: RelyingParty, browser: Browser, ada: Person) -> None:
    step = browser.signed_in(ada).authorize(asking.authorization_parameters())
    assert step.interaction_id is not None
    stored = parameters_of(browser.consent(step.interaction_id, allow=False))
    assert (stored["error"], stored["state"], stored["iss"]) == ("access_denied", "a state", asking.issuer)
    for allow in (True, False):
        assert parameters_of(browser.consent(step.interaction_id, allow=allow))["error"] == "access_denied"
    assert browser.authorize(asking.authorization_parameters()).kind is ConsentStep


def test_consent_requires_session_of_same_browser(
    asking: RelyingParty, browser: Browser, ada: Person, world: World
) -> None:
    step = browser.authorize(asking.authorization_parameters())
    assert step.interaction_id is not None
    assert browser.consent(step.interaction_id, allow=True).kind is LoginStep
    thief = world.browser()
    thief.signed_in(world.person("thief@example.test"))
    assert thief.consent(step.interaction_id, allow=True).kind is StartAgainStep


def test_sign_in_continues_to_consent(asking: RelyingParty, browser: Browser, ada: Person) -> None:
    step = browser.authorize(asking.authorization_parameters())
    consent = browser.sign_in(step.interaction_id, ada.email, ada.password)
    assert consent.kind is ConsentStep
    assert "code" in parameters_of(browser.consent(consent.interaction_id or "", allow=True))


def test_denied_consent_holds_despite_consent_in_another_tab(
    asking: RelyingParty, browser: Browser, ada: Person
) -> None:
    first = browser.signed_in(ada).authorize(asking.authorization_parameters())
    second = browser.authorize(asking.authorization_parameters())
    assert "code" in parameters_of(browser.consent(first.interaction_id or "", allow=True))
    assert parameters_of(browser.consent(second.interaction_id or "", allow=False))["error"] == "access_denied"


def test_redirect_uri_removed_during_sign_in_is_not_followed(world: World, browser: Browser, ada: Person) -> None:
    client = world.application("moving", redirect_uris=["https://old.example/cb"])
    step = browser.authorize(client.authorization_parameters())
    world.change(client, redirect_uris=["https://new.example/cb"])
    assert browser.sign_in(step.interaction_id, ada.email, ada.password).kind is StartAgainStep


def test_interaction_expires_after_eight_hours(
    services: IdentityServices, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    step = browser.authorize(shop.authorization_parameters())
    with moved(services, hours=8):
        assert browser.sign_in(step.interaction_id, ada.email, ada.password).kind is StartAgainStep
    with moved(services, hours=7, minutes=59):
        assert browser.sign_in(step.interaction_id, ada.email, ada.password).kind is RedirectStep


def test_interaction_is_bound_to_its_browser(shop: RelyingParty, browser: Browser, ada: Person, world: World) -> None:
    step = browser.authorize(shop.authorization_parameters())
    assert world.browser().sign_in(step.interaction_id, ada.email, ada.password).kind is StartAgainStep


def test_session_of_closed_account_is_ignored(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    browser.signed_in(ada)
    ada.close()
    assert browser.authorize(shop.authorization_parameters()).kind is LoginStep
