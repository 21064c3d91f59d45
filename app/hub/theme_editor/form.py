"""The form of the theme editor: the look, and the texts of a search."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, cast

from pydantic import ValidationError
from wtforms import BooleanField, Field, FileField, HiddenField, SelectField, StringField
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # newer than its stubs
from wtforms.validators import Length
from wtforms.validators import ValidationError as Refused

from app.contract.tenants.branding import LINKS, LOGO_TYPES, MAX_DISPLAY_NAME, MAX_LOGO_BYTES
from app.contract.tenants.tenant_pages import ThemeEdit, ThemeEditorView
from app.hub.locale import LANGUAGES
from app.hub.locale import lazy_gettext as _l
from app.hub.locale import lazy_pgettext as _p
from app.hub.rendering.form import HubForm, too_long
from app.hub.theme_editor.text_search import forms_of
from app.hub.web.visit import current_visit
from app.kit.text.source_texts import text_keys
from app.kit.text.tenant_texts import MAX_TEXT_LENGTH, Wording, our_wording, problems
from app.kit.text.text_places import OTHER

_LOGO_KINDS: Final = tuple(dict.fromkeys(LOGO_TYPES.values()))
_LOGO_SIZE: Final = _l("Choose a file of at most 8.9 kB.")
_LOGO_KIND: Final = _l("Choose a PNG, JPEG or WebP picture, or a drawing as svg.")
_COLOR: Final = _l("Enter a color such as #0b7a5b.")
_MESSAGES: Final = {
    "color": _COLOR,
    "background": _l("Enter a color light enough for dark text, such as #faf7f0."),
    "background_dark": _l("Enter a color dark enough for light text, such as #12131a."),
    "radius_px": _l("Enter a number from 0 to 24."),
    "font": _l("Enter font names between commas, such as “Arial, sans-serif”."),
    **{f"link_{name}": _l("Enter a link such as https://www.example.com/page.") for name in LINKS},
}
_CODE: Final = {"autocapitalize": "none", "spellcheck": "false", "dir": "ltr"}
_TEXT: Final = {"dir": "auto"}
SCENES: Final = {
    "dusk": _p("scene", "Dusk"),
    "daylight": _p("scene", "Daylight"),
    "picture": _p("scene", "Picture"),
    "none": _p("scene", "None"),
}
SHAPES: Final = {
    "square": _p("shape of buttons", "Square"),
    "rounded": _p("shape of buttons", "Rounded"),
    "pill": _p("shape of buttons", "Pill"),
}
_DRAWINGS: Final = {
    "ribbons": _p("drawing", "Ribbons"),
    "ridges": _p("drawing", "Ridges"),
    "tiles": _p("drawing", "Tiles"),
    "orbits": _p("drawing", "Orbits"),
    "stairs": _p("drawing", "Stairs"),
    "gate": _p("drawing", "Gate"),
}


PLACE_NAMES: Final = {
    "sign_in": _p("texts", "Sign-in"),
    "registration": _p("texts", "Sign-up"),
    "recovery": _p("texts", "Forgotten passwords"),
    "account": _p("texts", "Account"),
    "security": _p("texts", "Security"),
    "organizations": _p("texts", "Organizations"),
    "consent": _p("texts", "Consent"),
    "device": _p("texts", "Devices"),
    "mails": _p("texts", "Emails"),
    "text_messages": _p("texts", "Text messages"),
    OTHER: _p("texts", "Several pages"),
}


class LogoField(FileField):
    """A small picture. Its data is a data: address; empty until one is chosen."""

    def process(self, formdata: Any, data: Any = "", extra_filters: Any = None) -> None:  # noqa: ARG002 - WTForms' signature
        """Take the file of the visit's form."""
        self.process_errors = []
        self.file = current_visit().files.get(self.name) if formdata is not None else None
        self.data = ""
        if self.file is not None:
            self.data = f"data:{self.file.media_type};base64,{b64encode(self.file.content).decode()}"

    def pre_validate(self, form: Any) -> None:  # noqa: ARG002 - WTForms' signature
        if self.file is None:
            return
        if self.file.media_type not in _LOGO_KINDS:
            raise Refused(_LOGO_KIND)
        if len(self.file.content) > MAX_LOGO_BYTES:
            raise Refused(_LOGO_SIZE)


def _choices(names: Mapping[str, Any]) -> list[Any]:
    return [SelectChoice(value, name) for value, name in names.items()]


def _choice(label: Any, choices: Mapping[str, Any]) -> Any:
    return SelectField(label, choices=_choices({"": _p("choice", "Default"), **choices}), validate_choice=False)


@dataclass(frozen=True)
class TextPlace:
    """A field of a text, or of one of its plural forms."""

    tag: str
    key: str
    category: str

    @property
    def name(self) -> str:
        return f"text/{self.tag}/{self.key}/{self.category}"

    @classmethod
    def read(cls, name: str) -> TextPlace | None:
        """Return the place of a posted field; None for other fields, and for those of unknown texts."""
        kind, *parts = name.split("/")
        if kind != "text" or len(parts) != len(("tag", "key", "category")):
            return None
        place = cls(*parts)
        return place if place in places_of(place.tag, [place.key]) else None


def places_of(tag: str, keys: Iterable[str]) -> list[TextPlace]:
    """Return the fields of texts in a language."""
    known = text_keys().current
    if tag not in LANGUAGES:
        return []
    return [
        TextPlace(tag, key, category)
        for key in keys
        if key in known
        for category, _ in forms_of(our_wording(known[key], tag))
    ]


def _bounded(most: int) -> Length:
    return Length(max=most, message=too_long(most))


class EditorForm(HubForm):
    """Changes the look. `form_for` adds the fields of sentences and texts."""

    key: str = ""
    """The token of the editor's address."""
    stored: ClassVar[ThemeEditorView]
    """The newest version."""
    places: ClassVar[tuple[TextPlace, ...]] = ()
    sentence_tags: ClassVar[tuple[str, ...]] = ()

    base = HiddenField()
    display_name = StringField(_l("Display name"), [_bounded(MAX_DISPLAY_NAME)], render_kw=_TEXT)
    color = StringField(_l("Color"), render_kw=_CODE)
    logo = LogoField(_l("Logo"), render_kw={"accept": ",".join(_LOGO_KINDS)})
    no_logo = BooleanField(_l("Remove the logo"))
    background = StringField(_l("Background, light mode"), render_kw=_CODE)
    background_dark = StringField(_l("Background, dark mode"), render_kw=_CODE)
    radius_px = StringField(_l("Corner radius in pixels"), render_kw={**_CODE, "inputmode": "numeric"})
    button_shape = _choice(_l("Buttons"), SHAPES)
    font = StringField(_l("Font"), [Length(max=200, message=too_long(200))], render_kw=_CODE)
    scene = _choice(_l("Scene"), SCENES)
    drawing = _choice(_l("Drawing"), _DRAWINGS)
    signature = StringField(_l("Signature"), [_bounded(MAX_TEXT_LENGTH)], render_kw=_TEXT)
    link_privacy = StringField(_l("Privacy notice"), render_kw=_CODE)
    link_terms = StringField(_l("Terms of use"), render_kw=_CODE)
    link_help = StringField(_l("Help"), render_kw=_CODE)
    words = StringField(_l("Words of the text"), [Length(max=100, message=too_long(100))], render_kw=_TEXT)
    place = SelectField(_l("Where"), choices=[], validate_choice=False)
    language = SelectField(_l("Language"), choices=[], validate_choice=False)
    start = HiddenField()
    searched = HiddenField()
    """The search whose texts the form has, as `search` returns it."""
    shown = SelectField(_l("Page"), choices=[], validate_choice=False)

    @property
    def search(self) -> str:
        """The search of the fields, as one text."""
        return " ".join((self[name].data or "").strip() for name in ("language", "place", "words"))

    def to_request(self) -> ThemeEdit:
        text = {name: (self[name].data or "").strip() for name in _MEMBERS}
        logo = "" if self.no_logo.data else self.logo.data or self.stored.look.get("logo")
        base = self.base.data or ""
        given = {
            **{name: value if name in _EMPTY_MEMBERS else value or None for name, value in text.items()},
            "token": self.key,
            "base_version": int(base) if base.isdecimal() and len(base) <= 10 else 0,
            "logo": logo or None,
            "sentence": self._filled({tag: f"sentence/{tag}" for tag in self.sentence_tags}),
            "links": self._filled({name: f"link_{name}" for name in LINKS}),
            "texts": self._changed_texts(),
        }
        return ThemeEdit.model_validate(given)

    def _filled(self, names: Mapping[str, str]) -> dict[str, str]:
        """Return the values of the fields that are not empty, by the keys of `names`."""
        return {key: text for key, name in names.items() if (text := (self[name].data or "").strip())}

    def validate(self, extra_validators: Any = None) -> bool:
        """Check the form, and its texts against their sources."""
        is_valid = super().validate(extra_validators)
        for tag, changes in self._changed_texts().items():
            wrong = {
                key for _, key, _ in problems({tag: {key: text for key, text in changes.items() if text is not None}})
            }
            for place in self.places:
                if place.tag == tag and place.key in wrong:
                    self.add_error(place.name, _text_message(place.key))
                    is_valid = False
        return is_valid

    def add_contract_errors(self, refusal: ValidationError) -> None:
        """Say at its field what a value needs."""
        for problem in refusal.errors(include_url=False, include_input=False):
            member, *within = (str(part) for part in problem["loc"])
            name = next(
                (name for name in _MEMBERS if name.replace("_", "") == member.lower().replace("_", "")), member.lower()
            )
            name = f"link_{within[0]}" if name == "links" and within else name
            self.add_error(name, _MESSAGES.get(name, _OTHER))

    def is_changed(self, place: TextPlace) -> bool:
        """Return whether the field of a text has another value than is stored."""
        return (self[place.name].data or "").strip() != stored_text(self.stored, place)

    def _changed_texts(self) -> dict[str, dict[str, Wording | None]]:
        """Return the texts that differ from the stored ones; None for one that is empty now."""
        changed: dict[str, dict[str, Wording | None]] = {}
        for tag, key in dict.fromkeys((place.tag, place.key) for place in self.places if self.is_changed(place)):
            forms = {
                place.category: (self[place.name].data or "").strip()
                for place in self.places
                if (place.tag, place.key) == (tag, key)
            }
            text = forms.get("", forms)
            changed.setdefault(tag, {})[key] = cast(Wording, text) if any(forms.values()) else None
        return changed


_MEMBERS: Final = (
    "display_name", "color", "background", "background_dark", "radius_px", "button_shape", "font", "scene", "drawing", "signature",
)  # fmt: skip
"""The members of a look with a text field each."""
_EMPTY_MEMBERS: Final = ("display_name", "signature")
"""Those that are empty, not null, where they set nothing."""
_OTHER: Final = _l("That doesn’t look right. Check it and try again.")


def _text_message(key: str) -> Any:
    names = sorted(text_keys().current[key].placeholders)
    if names:
        return _l(
            "Write one line of up to 600 characters, and keep %(names)s.",
            names=", ".join(f"{{{name}}}" for name in names),
        )
    return _l("Write one line of up to 600 characters, without braces.")


def stored_text(view: ThemeEditorView, place: TextPlace) -> str:
    """Return the tenant's own text at a place; empty if it has ours."""
    wording = view.texts.get(place.tag, {}).get(place.key, "")
    return dict(forms_of(wording)).get(place.category, "")


def our_text(place: TextPlace) -> str:
    """Return our text at a place."""
    return dict(forms_of(our_wording(text_keys().current[place.key], place.tag)))[place.category]


def form_for(
    view: ThemeEditorView,
    languages: tuple[str, ...],
    places: Iterable[TextPlace],
    pages: Mapping[str, Any],
    **options: Any,
) -> EditorForm:
    """Return the form with a sentence for each language, and a field for each place of a text.

    Args:
        pages: the pages to choose from for the preview, by value.
        options: of the form; without any, it has the values that were posted.
    """
    chosen = tuple(dict.fromkeys(places))
    tags = tuple(dict.fromkeys((*languages, *view.look.get("sentence", {}))))
    added: dict[str, Field] = {
        f"sentence/{tag}": StringField(
            _l("Sentence beside the form, in %(language)s", language=LANGUAGES[tag].name),
            [_bounded(MAX_TEXT_LENGTH)],
            id=f"sentence-{tag}",
            render_kw=_TEXT,
        )
        for tag in tags
    }
    for number, place in enumerate(chosen):
        direction = {"lang": place.tag, "dir": LANGUAGES[place.tag].direction, "translate": "no"}
        added[place.name] = StringField(our_text(place), id=f"text-{number}", render_kw=direction)
    kind = type("ThemeEditorForm", (EditorForm,), {**added, "stored": view, "places": chosen, "sentence_tags": tags})
    form: EditorForm = kind(**options)
    form.place.choices = _choices({"": _p("texts", "Everywhere"), **PLACE_NAMES})
    form.language.choices = _choices({tag: LANGUAGES[tag].name for tag in languages})
    form.shown.choices = _choices(pages)
    if not view.has_picture:
        form.scene.choices = [choice for choice in form.scene.choices if choice.value != "picture"]
    return form


def stored_values(view: ThemeEditorView, places: Iterable[TextPlace]) -> dict[str, Any]:
    """Return the values of the fields as they are stored."""
    look = view.look
    values = {name: str(look[name]) for name in _MEMBERS if look.get(name) is not None}
    values |= {f"link_{name}": address for name, address in look.get("links", {}).items()}
    values |= {f"sentence/{tag}": text for tag, text in look.get("sentence", {}).items()}
    values |= {place.name: stored_text(view, place) for place in places}
    return {**values, "base": str(view.version)}
