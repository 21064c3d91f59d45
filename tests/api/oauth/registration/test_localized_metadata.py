"""Client metadata with a language tag (RFC 7591 section 2.2, OpenID Connect Registration section 2.1)."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.applications.localized_texts import language_tag
from app.contract.applications.settings import ApplicationSettings
from tests.support.oauth.registrations import METADATA, Registrar, error_of
from tests.support.oauth.world import NewWorld
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused

GERMAN = {"client_name#de": "Kalender", "tos_uri#de": "https://calendar.example/de/agb"}
ARABIC = {"client_name#ar": "تقويم", "logo_uri#ar": "https://calendar.example/ar.png"}
CLIENTS = "/v2/manage/oauth-clients"


@pytest.fixture
def registrar(new_world: NewWorld) -> Registrar:
    return Registrar(new_world(client_registration={"mode": "open"}))


def localized(made: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in made.items() if "#" in name}


def test_members_with_a_language_are_stored_and_replaced(registrar: Registrar) -> None:
    made = registrar.registered(**GERMAN, **ARABIC)
    assert localized(made) == {**GERMAN, **ARABIC}
    assert made["client_name"] == "Calendar"
    shown = registrar.manage(made).json or {}
    assert localized(shown) == {**GERMAN, **ARABIC}
    changed = registrar.manage(made, "PUT", {**METADATA, **ARABIC, "client_id": made["client_id"]}).json or {}
    assert localized(changed) == ARABIC


def test_tags_get_their_canonical_letter_case(registrar: Registrar) -> None:
    made = registrar.registered(**{"client_name#PT-br": "Calendário", "client_name#ZH-hant-tw": "日曆"})
    assert sorted(localized(made)) == ["client_name#pt-BR", "client_name#zh-Hant-TW"]


@pytest.mark.parametrize(
    ("tag", "canonical"),
    [("de", "de"), ("sl-ROZAJ-biske", "sl-rozaj-biske"), ("ES-419", "es-419"), ("de-ch-X-phonebk", "de-CH-x-phonebk")],
)
def test_well_formed_tag_is_accepted(tag: str, canonical: str) -> None:
    assert language_tag(tag) == canonical


MALFORMED_MEMBER: list[dict[str, Any]] = [
    {"client_name#": "Kalender"},
    {"client_name#d": "Kalender"},
    {"client_name#de_DE": "Kalender"},
    {"client_name#de-": "Kalender"},
    {"client_name#de#at": "Kalender"},
    {"client_name#de\n": "Kalender"},
    {"client_name#" + "-".join(["de", *["abcdefgh"] * 5]): "Kalender"},
    {"client_name#de": "Kalender", "client_name#DE": "Termine"},
    {"client_name#de": 7},
    {"client_name#de": ""},
    {"client_name#de": "Kalender\u202e"},
    {"client_name#de": "x" * 101},
    {"tos_uri#de": "javascript:alert(1)"},
    {"policy_uri#de": "ftp://calendar.example/"},
    {"logo_uri#de": "data:image/svg+xml,<svg/>"},
    {"client_uri#de": ["https://calendar.example/"]},
    {f"client_name#de-x-{number}": "Kalender" for number in range(21)},
    {f"tos_uri#de-x-{number}": "https://calendar.example/" + "x" * 1_900 for number in range(19)}
    | {"policy_uri": "https://calendar.example/" + "x" * 1_970}
    | {f"policy_uri#de-x-{number}": "https://calendar.example/" + "x" * 1_900 for number in range(19)},
]


def test_malformed_member_is_refused(registrar: Registrar, subtests: pytest.Subtests) -> None:
    for members in MALFORMED_MEMBER:
        with subtests.test(str(members)[:60]):
            assert error_of(registrar.register({**METADATA, **members})) == (400, "invalid_client_metadata")


def test_language_of_another_member_is_ignored(registrar: Registrar) -> None:
    stated: dict[str, Any] = {"redirect_uris#de": ["https://evil.example/"], "scope#de": "x", "unknown#de": 1}
    made = registrar.registered(**stated)
    assert localized(made) == {}


@pytest.mark.parametrize(
    ("languages", "name", "terms"),
    [
        (["de"], "Kalender", "https://calendar.example/de"),
        (["de-AT"], "Kalender", "https://calendar.example/de"),
        (["fr"], "Agenda", "https://calendar.example/"),
        (["pt"], "Calendar", "https://calendar.example/"),
        (["pt", "fr"], "Agenda", "https://calendar.example/"),
        ([], "Calendar", "https://calendar.example/"),
    ],
)
def test_each_text_falls_back_by_itself(languages: list[str], name: str, terms: str) -> None:
    settings = ApplicationSettings.model_validate(
        {
            "name": "calendar",
            "client_name": "Calendar",
            "tos_uri": "https://calendar.example/",
            "localized": {
                "de": {"client_name": "Kalender", "tos_uri": "https://calendar.example/de"},
                "fr-CA": {"client_name": "Agenda"},
            },
        }
    )
    assert (settings.text("client_name", languages), settings.text("tos_uri", languages)) == (name, terms)


def test_managed_client_has_texts_by_language(acme: TenantServer) -> None:
    token = machine(acme, "client:create", "client:update", "client:read")
    german = {"DisplayName": "Laden", "TosURI": "https://shop.example/agb"}
    body = {"AppName": "Shop", "RedirectURIs": ["https://shop.example/in"], "Localized": {"DE": german}}
    made = answered(ask(acme, token, "POST", CLIENTS, body))
    assert german.items() <= made["Localized"]["de"].items()
    assert answered(ask(acme, token, "GET", f"{CLIENTS}/Shop"))["Localized"] == made["Localized"]
    updated = answered(ask(acme, token, "PUT", f"{CLIENTS}/Shop", {"DisplayName": "Shop"}))
    assert updated["Localized"] == made["Localized"]
    wrong: dict[str, Any]
    for wrong in (
        {"d e": german},
        {"de": {"TosURI": "javascript:alert(1)"}},
        {"de": {"LogoURI": "http://shop.example/"}},
        {"de": {}, "DE": {}},
        {f"de-x-{number}": {} for number in range(21)},
    ):
        assert refused(ask(acme, token, "PUT", f"{CLIENTS}/Shop", {"Localized": wrong}))[0] == 400
