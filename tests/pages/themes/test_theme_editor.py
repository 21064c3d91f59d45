"""People who write no templates change a theme by an address of its editor: each save is a draft, and none is published."""

from __future__ import annotations

import re
from datetime import timedelta
from io import BytesIO
from urllib.parse import urlsplit

import pytest
from flask import Flask

from app.contract.tenants.tenant_pages import THEME_EDITOR
from app.hub.theme_editor.text_search import MAX_FOUND
from app.identity.administration.theme_versions import editor, version_store
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.managed_themes import Themes
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.visitors.visitor import NewVisitor, NewVisitorAt, VisitedPage, Visitor

TEXT = "text/en/forgot_password/"
CSS = ".own-band { color: #123456 }"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def themes(world: World, identity_app: Flask) -> Themes:
    return Themes(TenantServer(world.services, identity_app, world.tenant_id, world.name, world.api_key, ""))


@pytest.fixture
def theme(themes: Themes) -> str:
    return themes.stored("Live", Css=CSS, Texts={"de": {"forgot_password": "Passwort weg?"}})


def path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def opened(themes: Themes, visitor: Visitor, theme: str) -> VisitedPage:
    """Open the editor of a theme."""
    made = answered(themes.send("POST", f"/{theme}/editor"))
    assert made["Url"].startswith(f"http://{themes.tenant.name}.")
    return visitor.open(path(made["Url"]))


def shown_in_preview(page: VisitedPage) -> VisitedPage:
    (address, *_) = re.findall(r'<iframe src="([^"]+)"', page.html)
    return page.visitor.open(address)


def newest(themes: Themes, theme: str) -> dict[str, object]:
    number = themes.listed(theme)[0]["Version"]
    found: dict[str, object] = answered(themes.send("GET", f"/{theme}/versions/{number}"))
    return found


def test_color_and_text_become_a_draft(themes: Themes, visitor: Visitor, theme: str) -> None:
    page = opened(themes, visitor, theme)
    found = page.press("Find texts", words="forgot", language="en")
    assert TEXT in found.html
    saved = found.press("Save draft", color="#0b7a5b", language="en", **{TEXT: "Lost it?"})
    assert "Saved as a draft" in saved.text
    drafted = newest(themes, theme)
    brand = drafted["Brand"]
    assert isinstance(brand, dict)
    assert (brand["Color"], brand["Css"]) == ("#0b7a5b", CSS)
    assert str(drafted["CreatedBy"]).startswith(editor.ACTOR)
    assert brand["Texts"] == {"de": {"forgot_password": "Passwort weg?"}, "en": {"forgot_password": "Lost it?"}}
    assert "Lost it?" in shown_in_preview(saved).text
    assert themes.published(theme) == 1
    assert "Lost it?" not in visitor.open("/login").text
    assert [facts["by"] for facts in themes.audited("theme_versions.drafted")] == [drafted["CreatedBy"]]


def entered(page: VisitedPage, **typed: str) -> VisitedPage:
    """Press Enter in a field: browsers then press the first button of the form."""
    form = page.form("Save draft")
    (name, value), *_ = re.findall(r'<button type="submit"[^>]* name="(\w+)" value="(\w+)"', page.html)
    return page.visitor.send("POST", f"{page.visitor.home}{form.action}", {**form.fields, **typed, name: value})


def test_enter_finds_texts_after_a_change_of_the_search(themes: Themes, visitor: Visitor, theme: str) -> None:
    page = opened(themes, visitor, theme)
    for search in ({"words": "forgot", "language": "en"}, {"words": "forgot", "language": "de"}):
        page = entered(page, display_name="Typed", **search)
        assert f"text/{search['language']}/forgot_password/" in page.html
        assert page.form("Save draft").fields["display_name"] == "Typed"
        assert len(themes.listed(theme)) == 1


def test_enter_saves_while_the_search_is_the_shown_one(themes: Themes, visitor: Visitor, theme: str) -> None:
    search = {"words": "forgot", "language": "en"}
    found = entered(opened(themes, visitor, theme), **search)
    assert "Saved as a draft" in (saved := entered(found, **search, **{TEXT: "Lost it?"})).text
    assert "Lost it?" in str(newest(themes, theme)["Brand"])
    assert "Saved as a draft" in entered(saved, **search, color="#0b7a5b").text


def test_enter_finds_texts_beside_a_wrong_value(themes: Themes, visitor: Visitor, theme: str) -> None:
    wrong = opened(themes, visitor, theme).press("Save draft", color="green", words="forgot", language="en")
    assert wrong.status == 422
    assert TEXT not in wrong.html
    assert TEXT in entered(wrong, words="forgot", language="en").html


def test_emptied_text_is_ours_again(themes: Themes, visitor: Visitor, theme: str) -> None:
    page = opened(themes, visitor, theme).press("Find texts", words="passwort weg", language="de")
    page.press("Save draft", **{"text/de/forgot_password/": ""})
    brand = newest(themes, theme)["Brand"]
    assert isinstance(brand, dict)
    assert brand["Texts"] == {}


def test_typed_text_outlasts_another_search(themes: Themes, visitor: Visitor, theme: str) -> None:
    page = opened(themes, visitor, theme).press("Find texts", words="forgot", language="en")
    other = page.press("Find texts", words="6 digit code", language="ar", **{TEXT: "Lost it?"})
    assert other.form("Save draft").fields[TEXT] == "Lost it?"
    assert "text/ar/6_digit_code/" in other.html


def test_plural_forms_are_fields_of_their_own(themes: Themes, visitor: Visitor, theme: str) -> None:
    page = opened(themes, visitor, theme).press("Find texts", words="num members", language="en")
    key = re.findall(r'name="text/en/(\w+)/one"', page.html)[0]
    one = page.press("Save draft", language="en", **{f"text/en/{key}/one": "{num} person"})
    assert one.status == 422
    both = one.press("Save draft", **{f"text/en/{key}/other": "{num} people"})
    assert "Saved as a draft" in both.text


def test_two_editors_do_not_overwrite_each_other(
    themes: Themes, visitor: Visitor, new_visitor: NewVisitor, theme: str
) -> None:
    first, second = opened(themes, visitor, theme), opened(themes, new_visitor(), theme)
    first.press("Save draft", display_name="First")
    conflict = second.press("Save draft", display_name="Second")
    assert conflict.status == 409
    assert "This theme changed while you edited it" in conflict.text
    assert conflict.form("Save draft").fields["display_name"] == "Second"
    assert newest(themes, theme)["Version"] == 2
    assert "Saved as a draft" in conflict.press("Save draft").text


def test_saving_again_replaces_the_own_draft(
    themes: Themes, visitor: Visitor, new_visitor: NewVisitor, theme: str
) -> None:
    themes.drafted(theme, "Of a program")
    page = opened(themes, visitor, theme)
    for name in ("One", "Two", "Three"):
        page = page.press("Save draft", display_name=name)
    assert [each["Version"] for each in themes.listed(theme)] == [5, 2, 1]
    audited = [(each["version"], each["replaced"]) for each in themes.audited("theme_versions.drafted")]
    assert audited == [(5, 4), (4, 3), (3, None), (2, None)]
    other = opened(themes, new_visitor(), theme).press("Save draft", display_name="Other")
    assert "Saved as a draft" in other.text
    assert [each["Version"] for each in themes.listed(theme)] == [6, 5, 2, 1], "another address has a draft of its own"
    answered(themes.publish(theme, 6))
    other.press("Save draft", display_name="Later")
    assert [each["Version"] for each in themes.listed(theme)] == [7, 6, 5, 2, 1], "the published one stays"


def preview_of(themes: Themes, theme: str, version: int) -> str:
    made = answered(themes.send("POST", f"/{theme}/versions/{version}/preview"))
    return urlsplit(str(made["Url"])).path


def test_preview_of_a_replaced_draft_shows_the_next(themes: Themes, visitor: Visitor, theme: str) -> None:
    page = opened(themes, visitor, theme).press("Save draft", display_name="One")
    shared = preview_of(themes, theme, 2)
    assert "One, version 2" in visitor.open(shared).text
    for name in ("Two", "Three"):
        page = page.press("Save draft", display_name=name)
    assert [each["Version"] for each in themes.listed(theme)] == [4, 1]
    for path in (shared, f"{shared}/messages"):
        assert "Three, version 4" in visitor.open(path).text
    answered(themes.send("DELETE", f"/{theme}"))
    assert visitor.open(shared).status == 404


def test_preview_of_a_deleted_version_shows_no_other(
    themes: Themes, visitor: Visitor, theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version_store, "KEPT_VERSIONS", 3)
    themes.drafted(theme, "Two")
    shared = preview_of(themes, theme, 2)
    for number, status in ((3, 200), (4, 200), (5, 404)):
        themes.drafted(theme, f"Draft {number}")
        assert visitor.open(shared).status == status
    assert [each["Version"] for each in themes.listed(theme)] == [5, 4, 3, 1]


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("color", "green"),
        ("background", "#000000"),
        ("background_dark", "#ffffff"),
        ("radius_px", "99"),
        ("font", "a;b{}"),
        ("link_help", "javascript:alert(1)"),
        ("display_name", "x" * 201),
        ("scene", "picture"),
    ],
)
def test_wrong_value_is_refused(themes: Themes, visitor: Visitor, theme: str, field: str, typed: str) -> None:
    page = opened(themes, visitor, theme).press("Save draft", **{field: typed})
    assert page.status in (400, 422)
    assert f'id="{field}-problem"' in page.html or "This look can’t be saved" in page.text
    assert len(themes.listed(theme)) == 1


def test_contrast_is_shown_without_scripts(themes: Themes, visitor: Visitor, theme: str) -> None:
    page = opened(themes, visitor, theme).press("Check contrast", color="#f2b705")
    assert "Dark text on it reads well" in page.text
    assert len(themes.listed(theme)) == 1


def test_logo_is_stored_as_a_picture_that_runs_nothing(themes: Themes, visitor: Visitor, theme: str) -> None:
    page = opened(themes, visitor, theme)
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">{SCRIPT}</svg>'.encode()
    form = page.form("Save draft")
    saved = visitor.send(
        "POST", f"{visitor.home}{form.action}", {**form.fields, "logo": (BytesIO(svg), "logo.svg", "image/svg+xml")}
    )
    assert "Saved as a draft" in saved.text
    assert '<img class="tile tile--large" src="data:image/svg+xml;base64,' in saved.html
    assert SCRIPT not in saved.html
    large = {**saved.form("Save draft").fields, "logo": (BytesIO(b"x" * 9_000), "logo.svg", "image/svg+xml")}
    assert "at most 8.9 kB" in visitor.send("POST", f"{visitor.home}{form.action}", large).text


def test_markup_in_a_text_stays_a_text(themes: Themes, visitor: Visitor, theme: str) -> None:
    page = opened(themes, visitor, theme).press("Find texts", words=SCRIPT, language="en")
    assert SCRIPT not in page.html
    page = page.press("Find texts", words="forgot", language="en")
    saved = page.press("Save draft", display_name=SCRIPT, signature=SCRIPT, language="en", **{TEXT: SCRIPT})
    assert "Saved as a draft" in saved.text
    for shown in (saved, shown_in_preview(saved)):
        assert SCRIPT not in shown.html
        assert "alert(1)" in shown.html


def test_form_of_another_browser_saves_nothing(
    themes: Themes, visitor: Visitor, new_visitor: NewVisitor, theme: str
) -> None:
    page = opened(themes, visitor, theme)
    form, other = page.form("Save draft"), new_visitor()
    refusal = other.send("POST", f"{other.home}{form.action}", {**form.fields, "display_name": "Stolen"})
    assert refusal.status == 403
    assert len(themes.listed(theme)) == 1


def test_other_addresses_open_no_editor(
    themes: Themes, visitor: Visitor, theme: str, new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    made = path(answered(themes.send("POST", f"/{theme}/editor"))["Url"])
    preview = path(answered(themes.send("POST", f"/{theme}/versions/1/preview"))["Url"])
    token, key = preview.rpartition("/")[2], made.rpartition("=")[2]
    assert visitor.open(made).status == 200
    assert new_visitor_at(new_world()).open(made).status == 404
    for address in (f"{THEME_EDITOR}?key={token}", made[:-4], f"{made}AAAA", THEME_EDITOR):
        assert visitor.open(address).status == 404, address
    assert visitor.open(f"/theme-preview/{key}").status == 404
    assert refused(themes.send("POST", "/absent/editor")) == (404, 8191)


def test_expired_address_opens_no_editor(
    themes: Themes, visitor: Visitor, theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened(themes, visitor, theme)
    assert page.status == 200
    monkeypatch.setattr(editor, "LIFETIME", timedelta(seconds=-1))
    assert opened(themes, visitor, theme).status == 404


def test_editor_of_a_deleted_theme_is_not_found(themes: Themes, visitor: Visitor, theme: str) -> None:
    page = opened(themes, visitor, theme)
    answered(themes.send("DELETE", f"/{theme}"))
    assert page.press("Save draft", display_name="Gone").status == 404


def test_texts_are_listed_by_their_page(themes: Themes, visitor: Visitor, theme: str) -> None:
    page = opened(themes, visitor, theme).press("Find texts", words="", place="device", language="en")
    first = set(re.findall(r'name="(text/en/[^"]+)"', page.html))
    assert "<h3>Devices</h3>" in page.html
    assert f"1 to {MAX_FOUND} of" in page.text
    name = min(first)
    more = page.press("More texts", place="device", language="en", **{name: "Typed"})
    later = set(re.findall(r'name="(text/en/[^"]+)"', more.html))
    assert later & first == {name}, "what was typed stays on the page"
    assert f"{MAX_FOUND + 1} to {2 * MAX_FOUND} of" in more.text
    saved = more.press("Save draft", place="device", language="en")
    assert "Saved as a draft" in saved.text
    assert "place=device" in saved.address


def test_search_is_over_all_pages_and_messages(themes: Themes, visitor: Visitor, theme: str) -> None:
    page = opened(themes, visitor, theme).press("Find texts", words="code", language="en")
    assert "<h3>Sign-in</h3>" in page.html
    mails = page.press("Find texts", words="code", place="mails", language="en")
    assert re.findall("<h3>([^<]+)</h3>", mails.html) == ["Emails"]
    everywhere, in_mails = (int(re.findall(r"1 to \d+ of (\d+)", each.text)[0]) for each in (page, mails))
    assert everywhere > in_mails


@pytest.mark.parametrize("start", ["-1", "99999999999", "x", "9999"])
def test_wrong_start_lists_from_the_first(themes: Themes, visitor: Visitor, theme: str, start: str) -> None:
    page = opened(themes, visitor, theme)
    found = visitor.open(f"{page.address}&place=device&language=en&start={start}")
    assert f"1 to {MAX_FOUND} of" in found.text
