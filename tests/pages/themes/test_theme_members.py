"""A theme in the interface's own members is the same theme as its brand: stored once, returned in both spellings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.contract.themes import theme_members
from app.kit.text.source_texts import text_keys
from app.kit.text.tenant_texts import FIELD_LABELS
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.visitors.visitor import NewVisitorAt

THEMES = "/v2/manage/hosted-pages/themes"
SPLIT = '<div class="own-frame">{{ mark() }}{{ content() }}{{ footer() }}</div>'
OWN = ".own-a { color: red }"
CONSOLE = '<p class="own-top">{{ section }}</p>{{ bar() }}{{ tabs() }}{{ content() }}{{ footer() }}'
WHOLE: dict[str, Any] = {
    "Favicon": "/theme/icon.png",
    "Logo": "https://hazel.example/logo.png",
    "Body": {
        "BackgroundColor": "#faf7f0",
        "TextColor": None,
        "FontFamily": "Inter, Arial, sans-serif",
        "BackgroundImage": "/theme/hills.jpg",
    },
    "Content": {
        "Heading": "Good to see you.",
        "Paragraph": "Hazel Gardens",
        "LoginLabel": "Come in",
        "SignupLabel": "Join the garden",
        "ForgotPasswordLabel": "Lost it?",
        "ForgotPasswordMessage": "We’ll send you a way back.",
        "SocialBlockLabel": "or with your mail",
    },
    "Variables": {"--radius": "6px", "--own-tone": "#0a7d55"},
    "Pages": {
        "Auth": {"Html": SPLIT, "Css": [".own-frame { color: #0a7d55 }\n", ".button { letter-spacing: .01em }"]},
        "Profile": {"Html": CONSOLE, "Css": [".own-top { font-weight: 600 }"]},
    },
    "Locales": {
        "de": {
            "labels": {"emailid": "Mailadresse", "password": "Kennwort"},
            "placeholders": {"emailid": "name@firma.example"},
            "buttonsName": {"login": "Herein"},
            "validationMessages": [{"rule": "required", "message": "Da fehlt etwas."}],
            "errorMessages": [{"code": 966, "message": "Das passt nicht zusammen."}],
        }
    },
}
Send = Callable[..., Any]


@pytest.fixture
def tenant(new_world: NewWorld, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr("app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1)
    return new_world()


@pytest.fixture
def send(tenant: World, identity_app: Flask) -> Send:
    server = TenantServer(tenant.services, identity_app, tenant.tenant_id, tenant.name, tenant.api_key, "")
    token = machine(server, *(f"template:{action}" for action in ("read", "create", "update", "delete")))
    return lambda method, path="", body=None: ask(server, token, method, f"{THEMES}{path}", body)


def has(found: Any, sent: Any) -> bool:
    """Return whether an answer has what was sent, beside other members."""
    if isinstance(sent, dict):
        return isinstance(found, dict) and all(
            name in found and has(found[name], value) for name, value in sent.items()
        )
    if isinstance(sent, list) and sent and isinstance(sent[0], dict):
        return len(found) == len(sent) and all(map(has, found, sent))
    return bool(found == sent)


@pytest.mark.both_databases
def test_theme_in_the_interfaces_members_is_on_the_pages(
    send: Send, tenant: World, new_visitor_at: NewVisitorAt
) -> None:
    theme = answered(send("POST", body={"Name": "Hazel", **WHOLE}))
    assert has(theme, WHOLE)
    assert has(answered(send("GET", f"/{theme['Id']}")), WHOLE)
    answered(send("PUT", f"/{theme['Id']}/activate"))
    page = new_visitor_at(tenant).open("/login")
    assert '<div class="own-frame">' in page.html
    assert "Come in" in page.text
    german = new_visitor_at(tenant).open("/login?lang=de")
    assert "Mailadresse" in german.text
    assert "Herein" in german.text


def test_both_spellings_are_one_theme(send: Send) -> None:
    theme = answered(send("POST", body={"Name": "Hazel", **WHOLE}))
    brand = theme["Brand"]
    assert (brand["Background"], brand["Scene"], brand["Picture"]) == ("#faf7f0", "picture", "/theme/hills.jpg")
    assert brand["Texts"]["de"] == {
        "email": "Mailadresse", "password": "Kennwort", "placeholder.email": "name@firma.example", "sign_in": "Herein",
        "fill_in_this_field": "Da fehlt etwas.", "wrong_email_or_password": "Das passt nicht zusammen.",
    }  # fmt: skip
    again = answered(send("POST", body={"Name": "From the brand", "Brand": brand}))
    assert {name: again[name] for name in ("Brand", *WHOLE)} == {name: theme[name] for name in ("Brand", *WHOLE)}


def test_answer_can_be_sent_back(send: Send) -> None:
    theme = answered(send("POST", body={"Name": "Hazel", **WHOLE}))
    again = answered(send("PUT", f"/{theme['Id']}", theme))
    del theme["LastModifiedDate"], again["LastModifiedDate"]
    assert again == theme


def test_sheet_with_a_comment_of_ours_returns_as_it_was(send: Send) -> None:
    css = "/* Variables */\n:root {\n  --radius: 6px;\n}\n.own-card { color: #333 }\n"
    theme = answered(send("POST", body={"Name": "Hazel", "Brand": {"Css": css}}))
    again = answered(send("PUT", f"/{theme['Id']}", theme))
    assert (theme["Brand"]["Css"], again["Brand"]["Css"]) == (css, css)


def test_of_an_answer_sent_back_the_changed_spelling_counts(send: Send) -> None:
    theme = answered(send("POST", body={"Name": "Hazel", **WHOLE}))
    changed = answered(send("PUT", f"/{theme['Id']}", {**theme, "Variables": {"--radius": "9px"}}))
    assert changed["Variables"] == {"--radius": "9px"}
    assert "--radius: 9px" in changed["Brand"]["Css"]
    assert changed["Pages"] == theme["Pages"]
    other = {**changed["Brand"], "Background": "#ffffff"}
    assert answered(send("PUT", f"/{theme['Id']}", {**changed, "Brand": other}))["Body"]["BackgroundColor"] == "#ffffff"


def test_both_spellings_changed_differently_are_refused(send: Send) -> None:
    theme = answered(send("POST", body={"Name": "Hazel", **WHOLE}))
    both = {**theme, "Favicon": "/theme/one.png", "Brand": {**theme["Brand"], "Favicon": "/theme/two.png"}}
    answer = send("PUT", f"/{theme['Id']}", both)
    assert refused(answer) == (400, 7900)
    assert "Favicon: expected the same as Brand.Favicon" in answer.get_json()["Description"]


def test_style_sheet_of_the_brand_alone_is_of_auth(send: Send) -> None:
    css = ":root { --radius: 4px }\n.own-a { color: red }\n"
    theme = answered(send("POST", body={"Name": "Css", "Brand": {"Css": css}}))
    assert (theme["Pages"]["Auth"]["Css"], theme["Variables"]) == ([css], {})
    assert answered(send("PUT", f"/{theme['Id']}", theme))["Brand"]["Css"] == css


def test_list_has_brand_and_state_alone(send: Send) -> None:
    answered(send("POST", body={"Name": "Hazel", **WHOLE}))
    (listed,) = answered(send("GET"))["Data"]
    assert {"Id", "Name", "IsActive", "Brand"} <= listed.keys()
    assert not listed.keys() & WHOLE.keys()


PAGE = "Pages"


def english(**members: Any) -> dict[str, Any]:
    return {"Locales": {"en": members}}


@pytest.mark.parametrize(
    ("members", "named"),
    [
        ({"Favicon": "javascript:alert(1)"}, "Favicon: "),
        ({"Logo": "http://hazel.example/logo.png"}, "Logo: "),
        ({"Body": {"BackgroundColor": "red"}}, "Body.BackgroundColor: "),
        ({"Body": {"BackgroundColor": "#000000"}}, "Body.BackgroundColor: "),
        ({"Body": {"TextColor": "#111111"}}, "Body.TextColor: expected none"),
        ({"Body": {"FontFamily": "Inter; } body { display: none"}}, "Body.FontFamily: "),
        ({"Body": {"BackgroundImage": "//evil.example/a.png"}}, "Body.BackgroundImage: "),
        ({"Content": {"LoginLabel": "Go {name}"}}, "Content.LoginLabel: expected no placeholders"),
        ({"Content": {"LoginLabel": "A"}, **english(buttonsName={"login": "B"})}, "login: expected the same as Content.LoginLabel"),
        ({"Variables": {"--radius": "6px", "--ink": "#fff"}}, "Variables.--ink: expected "),
        ({"Variables": {"--radius": "6px; } .button { display: none"}}, "Variables.--radius: "),
        ({"Variables": {"--radius": "6px /* a"}}, "Variables.--radius: "),
        ({"Variables": {"color": "red"}}, "Variables.color: "),
        ({PAGE: {"Auth": {"Css": [OWN, f"{OWN}\n@import 'a.css';"]}}}, "Pages.Auth.Css: style sheet 2, line 2: expected "),
        ({PAGE: {"Auth": {"Css": [f"{OWN}\n@import 'a.css';"]}}}, "Pages.Auth.Css: line 2: expected "),
        ({PAGE: {"Profile": {"Css": [".control { display: none }"]}}}, "Pages.Profile.Css: line 1: expected "),
        ({PAGE: {"Auth": {"Css": ["/* Variables */\n:root { --radius: 1px }"]}}}, "Pages.Auth.Css: expected "),
        ({PAGE: {"Auth": {"Html": "{{ content() }}\n<b onclick=\"a()\">b</b>{{ footer() }}"}}}, "Pages.Auth.Html: line 2: expected "),
        ({PAGE: {"Profile": {"Html": "{{ content() }}"}}}, "Pages.Profile.Html: "),
        ({PAGE: {"Workflow": {"Html": SPLIT}}}, "Pages.Workflow: "),
        ({PAGE: {"Auth": {"Js": ["https://ok.example/a.js"]}}}, "Pages.Auth.Js (Brand.Scripts.js): expected none"),
        ({PAGE: {"Workflow": {"Js": ["https://ok.example/a.js"]}}}, "Pages.Workflow.Js: expected none"),
        ({PAGE: {"Auth": {"BeforeScript": "x = 1"}}}, "Pages.Auth.BeforeScript: line 1: expected <script src"),
        ({PAGE: {"Profile": {"EndScript": "x = 1"}}}, "Pages.Profile.EndScript: expected none"),
        ({PAGE: {"Auth": {"HeadTags": "<meta name=\"a\">"}}}, "Pages.Auth.HeadTags: line 1: expected of <meta>"),
        (english(labels={"emailId": "Mail"}), "Locales.en.labels.emailId: expected one of emailid"),
        (english(placeholders={"otp": "123456"}), "Locales.en.placeholders.otp: expected one of emailid"),
        (english(placeholders={"emailId": "Mail"}), "did you mean emailid?"),
        (english(placeholders={"emailid": "x" * 61}), "Locales.en.placeholders.emailid: expected at most 60 characters; found 61"),
        (english(placeholders={"emailid": " "}), "Locales.en.placeholders.emailid: expected a text that isn’t empty"),
        (english(placeholders={"emailid": "%s"}), "Locales.en.placeholders.emailid: expected a text without %s"),
        (english(passwordMeterConfiguration=[{"case": "weak"}]), "Locales.en.passwordMeterConfiguration: expected none"),
        (english(validationMessages=[{"rule": "required", "message": "%s?"}]), "required: expected a text without %s"),
        (english(errorMessages=[{"code": 1, "message": "No"}]), "Locales.en.errorMessages.1: expected one of 936"),
        (english(errorMessages=[{"code": 966, "message": "No", "description": "So"}]), "Locales.en.errorMessages: expected no description"),
        ({"Locales": {"xx": {"labels": {"emailid": "Mail"}}}}, "Locales"),
    ],
)  # fmt: skip
def test_value_that_the_brand_cannot_have_is_refused(send: Send, members: dict[str, Any], named: str) -> None:
    answer = send("POST", body={"Name": "Broken", **members})
    assert refused(answer) == (400, 7900), answer.get_json()
    assert named in answer.get_json()["Description"], answer.get_json()
    assert answered(send("GET"))["Data"] == []


def test_every_member_has_a_text_without_placeholders() -> None:
    tables = (
        theme_members.CONTENT,
        theme_members.LABELS,
        {key: key for key in FIELD_LABELS},
        theme_members.BUTTONS,
        theme_members.RULES,
        theme_members.ERRORS,
    )
    keys: set[str] = set().union(*(set(table.values()) for table in tables))
    current = text_keys().current
    assert {key for key in keys if key not in current or current[key].placeholders or current[key].plural} == set()
