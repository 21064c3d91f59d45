"""The name and the signature of a look in several languages: on pages, in emails and text messages, by file, API and editor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask

from app.contract.tenants.branding import Brand, stored_brand
from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.export import export
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.file.theme import read_folder, write_folder
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from tests.support.accounts.mailbox import sent_messages
from tests.support.oauth.world import World
from tests.support.tenants.managed_themes import Themes
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.visitors.visitor import NewVisitor, Visitor

NAMES = {"en": "Hazel Gardens", "de": "Haselgärten"}
SIGNATURES = {"en": "Grown with care", "de": "Mit Sorgfalt gezogen"}
BRAND = {"display_name": NAMES, "signature": SIGNATURES}


@pytest.fixture
def themes(world: World, identity_app: Flask, monkeypatch: pytest.MonkeyPatch) -> Themes:
    monkeypatch.setattr("app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1)
    return Themes(TenantServer(world.services, identity_app, world.tenant_id, world.name, world.api_key, ""))


@pytest.mark.parametrize("default", ["en", "de"])
def test_page_has_the_lines_of_its_language(world: World, new_visitor: NewVisitor, default: str) -> None:
    world.change_settings(default_locale=default)
    world.change_brand(**BRAND)
    for language, expected in (("en", "en"), ("de", "de"), ("ar", default)):
        page = new_visitor().open(f"/login?lang={language}")
        assert page.language == language
        assert NAMES[expected] in page.title
        assert SIGNATURES[expected] in page.text
        others = {*NAMES.values(), *SIGNATURES.values()} - {NAMES[expected], SIGNATURES[expected]}
        assert not [text for text in others if text in page.text]


def test_language_without_default_has_any_line(world: World, visitor: Visitor) -> None:
    world.change_brand(display_name={"de": NAMES["de"]}, signature={"de": SIGNATURES["de"]})
    page = visitor.open("/login")
    assert NAMES["de"] in page.title
    assert SIGNATURES["de"] in page.text


@pytest.mark.parametrize("language", NAMES)
def test_mail_has_the_lines_of_its_language(world: World, visitor: Visitor, language: str) -> None:
    ada = world.person("ada@example.com")
    world.change_brand(**BRAND)
    page = visitor.open(f"/forgot-password?lang={language}")
    page.press("Send reset link" if language == "en" else "Link senden", identifier=ada.email)
    mail = sent_messages(world.services, world.tenant_id)[-1]
    assert (mail["language"], mail["sender_name"]) == (language, NAMES[language])
    assert NAMES[language] in mail["subject"]
    for part in ("text", "html"):
        assert SIGNATURES[language] in mail[part]
        assert not [text for tag, text in NAMES.items() if tag != language and text in mail[part]]


def test_text_message_has_the_name_of_its_language(world: World, visitor: Visitor) -> None:
    world.change_settings(phone_login=True, email_login=False, default_country="GB")
    world.change_brand(**BRAND)
    page = visitor.open("/register?lang=de")
    page.press("Konto erstellen", phone="020 7946 0123", password="Zebra-kettle-91")
    assert NAMES["de"] in sent_messages(world.services, world.tenant_id, "sms")[-1]["text"]


def test_narrower_theme_replaces_a_line_as_a_whole(themes: Themes, world: World, visitor: Visitor) -> None:
    world.change_brand(**BRAND)
    answered(themes.send("POST", body={"Name": "Oak", "BrandKey": "oak", "Brand": {"DisplayName": "Oak"}}))
    page = visitor.open("/login?brand=oak&lang=de")
    assert "Oak" in page.title
    assert SIGNATURES["de"] in page.text


def test_lines_of_an_operation_come_back(themes: Themes, world: World, visitor: Visitor) -> None:
    theme = themes.stored("Hazel", DisplayName=NAMES, Signature=SIGNATURES)
    brand = answered(themes.send("GET", f"/{theme}"))["Brand"]
    assert (brand["DisplayName"], brand["Signature"]) == (NAMES, SIGNATURES)
    answered(themes.send("PUT", f"/{theme}", {"Name": "Hazel", "Brand": brand}))
    assert [each["Version"] for each in themes.listed(theme)] == [1], "the same look is no new version"
    assert NAMES["de"] in visitor.open("/login?lang=de").title
    number = answered(themes.send("PUT", f"/{theme}/draft", {"Brand": {**brand, "DisplayName": "One"}}))["Version"]
    version = answered(themes.send("GET", f"/{theme}/versions/{number}"))["Brand"]
    assert (version["DisplayName"], version["Signature"]) == ("One", SIGNATURES)


def test_lines_of_a_file_are_exported(themes: Themes, world: World, tmp_path: Path) -> None:
    write_folder.write(tmp_path / "hazel", Brand.model_validate(BRAND))
    assert read_folder.folder_of(tmp_path / "hazel").brand.model_dump(exclude_unset=True) == BRAND
    text = f"tenants:\n  - {{name: {world.name}, theme: hazel}}\n".encode()
    apply_configuration.apply(world.services, read(text, "f.yaml", tmp_path))
    exported = export(world.services, world.name).encode()
    assert read(exported, "f.yaml", tmp_path).brands[world.name] == Brand.model_validate(BRAND)
    plan = apply_configuration.plan(world.services, read(exported, "f.yaml", tmp_path))
    assert "display_name" not in str(plan)
    changed = f"tenants:\n  - {{name: {world.name}, brand: {{display_name: One, signature: {{ar: x}}}}}}\n".encode()
    apply_configuration.apply(world.services, read(changed, "f.yaml", tmp_path))
    brand = read(export(world.services, world.name).encode(), "f.yaml", tmp_path).brands[world.name]
    assert (brand.display_name, brand.signature) == ("One", {"ar": "x"})


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({"fr": "Noisetier"}, "a language of the pages: en, de, ar"),
        ({"de": "A" * 201}, "at most 200 characters; found 201"),
        ({"de": "A\u2028B"}, "one line without control characters"),
    ],
)
def test_unusable_line_is_refused(themes: Themes, line: dict[str, str], expected: str) -> None:
    file = {"tenants": [{"name": themes.tenant.name, "brand": {"display_name": line}}]}
    with pytest.raises(ConfigurationError, match=r"brand\.display_name\.(fr|de): expected") as found:
        read(json.dumps(file).encode(), "f.yaml", Path())
    assert expected in str(found.value)
    refusal = themes.send("POST", body={"Name": "Hazel", "Brand": {"DisplayName": line}})
    assert refused(refusal)[1] == 7900
    assert "DisplayName" in refusal.get_json()["Description"]


def test_stored_line_of_an_unknown_language_is_left_out() -> None:
    assert stored_brand({"display_name": {**NAMES, "xx": "Gone"}}).display_name == NAMES


def test_editor_changes_the_default_language_alone(themes: Themes, visitor: Visitor) -> None:
    theme = themes.stored("Hazel", DisplayName=NAMES, Signature=SIGNATURES)
    address = urlsplit(answered(themes.send("POST", f"/{theme}/editor"))["Url"])
    page = visitor.open(f"{address.path}?{address.query}")
    assert page.form("Save draft").fields["display_name"] == NAMES["en"]
    assert "Saved as a draft" in page.press("Save draft", display_name="Hazel").text
    brand = answered(themes.send("GET", f"/{theme}/versions/2"))["Brand"]
    assert (brand["DisplayName"], brand["Signature"]) == ({**NAMES, "en": "Hazel"}, SIGNATURES)


def test_paragraph_changes_the_default_language_alone(themes: Themes) -> None:
    theme = themes.stored("Hazel", Signature=SIGNATURES)
    assert answered(themes.send("GET", f"/{theme}"))["Content"]["Paragraph"] == SIGNATURES["en"]
    body: dict[str, Any] = {"Name": "Hazel", "Brand": {"Signature": SIGNATURES}, "Content": {"Paragraph": "New"}}
    answered(themes.send("PUT", f"/{theme}", body))
    assert answered(themes.send("GET", f"/{theme}"))["Brand"]["Signature"] == {**SIGNATURES, "en": "New"}
