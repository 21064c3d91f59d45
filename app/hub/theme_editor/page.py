"""The page of the theme editor, and its views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final
from urllib.parse import urlencode

from flask import Response, abort

from app.contract import errors
from app.contract.tenants.tenant_pages import (
    MAX_PREVIEW_TOKEN,
    PREVIEW_TOKEN,
    THEME_EDITOR,
    ThemeEditorView,
    ThemePreviewRequest,
    edit_theme,
    theme_editor,
)
from app.hub.components.look_preview import LookPreview, swatches_beside
from app.hub.locale import current_language
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.page import Notice, Page
from app.hub.tenants.branding import PageBranding
from app.hub.tenants.own_templates import NO_TEMPLATES
from app.hub.theme_editor.form import PLACE_NAMES, EditorForm, TextPlace, form_for, places_of, stored_values
from app.hub.theme_editor.text_search import MAX_FOUND, FoundTexts, found_keys, place_of
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError
from app.kit.text.tenant_texts import NO_TEXTS, Wording
from app.kit.text.text_places import PLACES

_SELECTOR: Final = ".swatches"
_MAX_WORDS: Final = 100
MAX_START: Final = 9_999
_MAX_FIELDS: Final = 120
"""Fields of texts at once: a form has 200 at most."""
PAGES: Final = {
    "LoginPage": _l("Sign in"),
    "RegisterPage": _l("Create account"),
    "ForgotPage": _l("Forgot password?"),
    "ProfilePage": _l("Profile"),
    "SecurityPage": _l("Security"),
}
"""The pages to choose from for the preview."""
_SAVED: Final = Notice(
    _l("Saved as a draft"),
    _l("To publish it, run “gatehouse theme publish”, or ask the team that runs this service."),
    tone="ok",
)
_CHANGED: Final = Notice(
    _l("This theme changed while you edited it"),
    _l("Your entries are below and not saved yet. Save again to put them over the newer draft."),
)


@dataclass(frozen=True)
class ThemeEditorPage(Page):
    """Changes the look and the texts of a theme, beside its preview."""

    template = "theme_editor.html"
    scripts = (*Page.scripts, "studio")
    own_rules = ("studio", "theme-editor")
    allows_fetch = True
    query = {"key": MAX_PREVIEW_TOKEN, "words": _MAX_WORDS, "language": 20, "shown": 40, "place": 20, "start": 4}
    refusals = {
        errors.ThemeChanged: _CHANGED,
        errors.BadField: Notice(_l("This look can’t be saved"), _l("Check your entries and try again.")),
    }

    form: EditorForm
    view: ThemeEditorView
    is_stored: bool = False

    @property
    def brand(self) -> PageBranding:
        """The tenant's branding without its templates, style sheet and texts: those of a draft may be broken."""
        brand = current_visit().brand
        return replace(brand, templates=NO_TEMPLATES, css="", texts=NO_TEXTS, left_out=(), theme_digest="")

    @property
    def preview(self) -> LookPreview:
        """The look with the color of the form, saved or not."""
        brand = replace(self.brand, colour=self.view.shown_color)
        return LookPreview.of(brand, "", "", (self.form.color.data or "").strip())

    @property
    def swatches(self) -> tuple[tuple[str, Any], ...]:
        return swatches_beside(self.preview.brand.colour)

    @property
    def own_tokens(self) -> str:
        """The default of the swatches is the color that the theme has without one of its own."""
        return replace(self.brand, colour=self.view.shown_color).shades_for(_SELECTOR, ("--brand",))

    @property
    def frame_sources(self) -> tuple[str, ...]:
        return ("'self'",)

    @property
    def shown_page(self) -> str:
        """The page that the preview shows."""
        chosen = self.form.shown.data or ""
        return chosen if chosen in PAGES else next(iter(PAGES))

    @property
    def preview_address(self) -> str:
        """The page with the look of the newest version."""
        if not self.view.preview:  # a sample has no version
            return "about:blank"
        return f"{self.view.preview}/{self.shown_page}/fresh?lang={current_language().tag}"

    @property
    def logo(self) -> str:
        """The logo of the newest version; empty for the default one."""
        return self.view.logo_address

    @property
    def pictures(self) -> tuple[str, ...]:
        return (self.logo,) if self.logo else ()

    @property
    def action(self) -> str:
        return f"{THEME_EDITOR}?{urlencode({'key': self.form.key})}"

    @property
    def texts(self) -> list[tuple[Any, list[tuple[str, str, Any]]]]:
        """The names of places, each with its texts: the key, the plural category, and the field."""
        chosen = self.form.place.data or ""
        named = sorted(self.form.places, key=lambda each: PLACES.index(place_of(each.key, chosen)))
        return [
            (PLACE_NAMES[name], [(each.key, each.category, self.form[each.name]) for each in places])
            for name, places in groupby(named, lambda each: place_of(each.key, chosen))
        ]

    @property
    def found_texts(self) -> FoundTexts:
        """The texts of the search."""
        tag = self.form.language.data or ""
        return _found(self.form, tag, self.view.texts.get(tag, {}))

    @classmethod
    def samples(cls) -> Mapping[str, ThemeEditorPage]:
        view = ThemeEditorView(
            version=4,
            look={"display_name": "Acme", "color": "#3c4bdc", "links": {"help": "https://acme.example/help"}},
            texts={"en": {"6_digit_code": "Code from your phone"}},
            shown_name="Acme",
            shown_color="#3c4bdc",
            logo_address="",
            has_picture=False,
            preview="",
        )
        plain = _stored_page(view, "sample", "en", "", "LoginPage")
        wrong = _stored_page(view, "sample", "en", "", "LoginPage")
        wrong.form.color.data = "green"
        wrong.form.add_error("color", _l("Enter a color such as #0b7a5b."))
        wrong.form.add_error("link_help", _l("Enter a link such as https://www.example.com/page."))
        return {
            "fresh": plain,
            "saved": replace(plain, page_notice=_SAVED),
            "changed meanwhile": replace(plain, page_notice=_CHANGED),
            "search": _stored_page(view, "sample", "en", "members", "LoginPage"),
            "search in another language": _stored_page(view, "sample", "ar", "12", "ProfilePage"),
            "emails": _stored_page(view, "sample", "en", "", "LoginPage", "mails", "10"),
            "nothing found": _stored_page(view, "sample", "en", "xyzzy", "LoginPage"),
            "wrong": wrong,
        }


def show() -> Response:
    """Show the newest version."""
    query = current_visit().query
    language = query.get("language", "")
    words, shown, place, start = (query.get(name, "") for name in ("words", "shown", "place", "start"))
    page = _stored_page(_opened(), _key(), language, words[:_MAX_WORDS], shown, place, start)
    is_saved = query.get("done") == "saved"
    return (replace(page, page_notice=_SAVED) if is_saved else page).render()


def submit() -> Response:
    """Save a draft, or show the form again with its typed values: with the contrast, another page, or the texts that were found."""
    view, posted = _opened(), current_visit().form
    form = _posted_form(view, [place for name in posted if (place := TextPlace.read(name))])
    done = _pressed(form, posted.get("do", ""))
    if done in ("find", "more"):
        start = _start(posted.get("start", "")) + MAX_FOUND if done == "more" else 0
        form = _posted_form(view, _after_search(form, start))
        form.start.data, form.searched.data = str(start), form.search
    is_valid = form.validate()
    page = ThemeEditorPage(form, view)
    if done or not is_valid:
        return page.render(200 if is_valid else form.error_status)
    try:
        api()(edit_theme, form.to_request())
    except ApiError as refusal:
        form.base.data = str(view.version)
        return page.render_refusal(refusal)
    searched = {name: form[name].data or "" for name in ("language", "words", "place", "start")}
    kept = {"key": form.key, **searched, "shown": page.shown_page}
    return redirect_to(f"{THEME_EDITOR}?{urlencode({**kept, 'done': 'saved'})}")


def _pressed(form: EditorForm, button: str) -> str:
    """Return the button of a press; for Enter in a field the one that people mean there: the search, once it differs from the shown one."""
    if button != "enter":
        return button
    return "" if form.search == form.searched.data else "find"


def _posted_form(view: ThemeEditorView, places: Iterable[TextPlace]) -> EditorForm:
    form = form_for(view, current_visit().tenant.languages, places, PAGES)
    form.key = _key()
    return form


def _after_search(form: EditorForm, start: int) -> list[TextPlace]:
    """Return the texts with typed changes, and those that the search finds from `start` on."""
    form.start.data = str(start)
    kept = [place for place in form.places if form.is_changed(place)]
    tag = form.language.data or ""
    found = places_of(tag, _found(form, tag, form.stored.texts.get(tag, {})).keys)
    whole = {(place.tag, place.key) for place in kept}
    kept = [place for place in form.places if (place.tag, place.key) in whole]
    return list(dict.fromkeys((*kept, *found)))[:_MAX_FIELDS]


def _found(form: EditorForm, tag: str, own: Mapping[str, Wording]) -> FoundTexts:
    """Return the texts of a form's search."""
    words = (form.words.data or "")[:_MAX_WORDS]
    return found_keys(tag, words, own, form.place.data or "", _start(form.start.data or ""))


def _start(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) <= len(str(MAX_START)) else 0


def _stored_page(
    view: ThemeEditorView, key: str, language: str, words: str, shown: str, place: str = "", start: str = ""
) -> ThemeEditorPage:
    languages = current_visit().tenant.languages
    tag = language if language in languages else languages[0]
    found = found_keys(tag, words, view.texts.get(tag, {}), place, _start(start))
    places = places_of(tag, found.keys)[:_MAX_FIELDS]
    chosen = {"language": tag, "words": words, "shown": shown, "place": place, "start": str(found.start)}
    values = {**stored_values(view, places), **chosen}
    form = form_for(view, languages, places, PAGES, formdata=None, data=values)
    form.key, form.searched.data = key, form.search
    return ThemeEditorPage(form, view, is_stored=True)


def _key() -> str:
    return current_visit().query.get("key", "")


def _opened() -> ThemeEditorView:
    """Return the theme that the address opens; 404 for an address that opens none."""
    if not PREVIEW_TOKEN.fullmatch(_key()):
        abort(404)
    try:
        return api()(theme_editor, ThemePreviewRequest.model_construct(token=_key()))
    except (errors.BadParameter, errors.UnknownThemeVersion):
        abort(404)
