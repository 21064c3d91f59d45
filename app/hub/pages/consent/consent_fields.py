"""A tenant's consent forms as form fields: one checkbox per option."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from wtforms import BooleanField

from app.contract.consents.forms import ConsentForm, ConsentOption
from app.hub.forms.registration_fields import localized
from app.hub.forms.tenant_forms import tenant_form
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.form import HubForm
from app.hub.web.visit import current_visit
from app.kit.web.urls import is_web_url

_PREFIX: Final = "agree-"


@dataclass(frozen=True)
class Box:
    """An option with its checkbox, if it has one."""

    id: str
    title: str
    description: str = ""
    link: str = ""
    is_mandatory: bool = False
    field: Any = None


@dataclass(frozen=True)
class Section:
    """A consent form: title, text, checkboxes."""

    title: str
    text: str
    boxes: tuple[Box, ...]


class BoxesForm(HubForm):
    """A form with a checkbox per option, of a subclass that `of` makes once per set of options."""

    options: tuple[ConsentOption, ...] = ()

    @classmethod
    def of(cls, options: Iterable[ConsentOption], agreed: Iterable[str] = (), **form_arguments: Any) -> BoxesForm:
        """Return the form with these options; those agreed to are checked."""
        by_id = {option.id: option for option in options}
        ticked = {_PREFIX + option for option in agreed}

        def boxes() -> dict[str, Any]:
            return {_PREFIX + option: BooleanField(default=_PREFIX + option in ticked) for option in by_id}

        form = tenant_form(cls, (), boxes, *by_id, frozenset(ticked))(**form_arguments)
        form.options = tuple(by_id.values())
        return form

    @property
    def ticked(self) -> dict[str, bool]:
        """Whether each option is checked, by its id."""
        return {option.id: bool(self[_PREFIX + option.id].data) for option in self.options}

    def box(self, option: ConsentOption) -> Any:
        """Return the checkbox of an option; None if there is none."""
        return self._fields.get(_PREFIX + option.id)

    def refuse_unticked(self) -> bool:
        """Add an error to each mandatory option that is not checked; return whether there is one."""
        missing = [option for option in self.options if option.mandatory and not self.ticked[option.id]]
        for option in missing:
            what = localized(option.title)
            self.add_error(_PREFIX + option.id, _l("Select “%(what)s” to continue.", what=what))
        return bool(missing)


def forms_of(events: Iterable[str]) -> tuple[ConsentForm, ...]:
    """Return the tenant's consent forms for these events, in the tenant's order."""
    requested = set(events)
    return tuple(form for form in current_visit().tenant.consent_forms if form.event in requested)


def options_of(forms: Iterable[ConsentForm]) -> tuple[ConsentOption, ...]:
    """Return the options of the forms, each once; mandatory if any form says so."""
    options_by_name: dict[str, ConsentOption] = {}
    for option in (option for form in forms for option in form.options):
        known = options_by_name.get(option.id, option)
        options_by_name[option.id] = known.model_copy(update={"mandatory": known.mandatory or option.mandatory})
    return tuple(options_by_name.values())


def sections(forms: Iterable[ConsentForm], form: BoxesForm) -> tuple[Section, ...]:
    """Return the sections to render; an option of several forms is shown with the first."""
    rendered: set[str] = set()
    all_sections = []
    for item in forms:
        options = [option for option in options_of([item]) if option.id not in rendered]
        rendered |= {option.id for option in options}
        texts = localized(item.title), localized(item.text)
        all_sections.append(Section(*texts, tuple(_box(option, form.box(option)) for option in options)))
    return tuple(section for section in all_sections if section.boxes)


def titles(forms: Iterable[ConsentForm]) -> Mapping[str, str]:
    """Return the title of each option by id."""
    return {option.id: localized(option.title) for option in options_of(forms)}


def _box(option: ConsentOption, field: Any) -> Box:
    link = option.link if option.link and is_web_url(option.link) else ""
    title, description = localized(option.title), localized(option.description)
    return Box(option.id, title, description, link, option.mandatory, field)


def _sample(name: str, mandatory: bool, **texts: str) -> ConsentOption:
    return ConsentOption(id=name, title=texts, mandatory=mandatory)


_AGE: Final = {"en": "I am 16 or older", "de": "Ich bin 16 Jahre oder älter", "ar": "عمري 16 عامًا أو أكثر"}


_MAIL: Final = {"en": "Send me news by email", "de": "Schickt mir Neues per E-Mail", "ar": "أرسلوا لي الأخبار بالبريد"}


SAMPLE_SIGN_UP: Final = ConsentForm(
    event="Register",
    title={"en": "Before you begin", "de": "Bevor Sie beginnen", "ar": "قبل أن تبدأ"},
    text={
        "en": "We keep what you order for as long as the law asks.",
        "de": "Wir bewahren Ihre Bestellungen so lange auf, wie es das Gesetz verlangt.",
        "ar": "نحتفظ بطلباتك للمدة التي يطلبها القانون.",
    },
    options=(_sample("age", True, **_AGE), _sample("mail", False, **_MAIL)),
)


SAMPLE_NEWS: Final = ConsentForm(
    event="Login",
    options=(
        ConsentOption(
            id="terms",
            title={"en": "I agree to the terms", "de": "Ich akzeptiere die Bedingungen", "ar": "أوافق على الشروط"},
            description={"en": "In force since May.", "de": "Gültig seit Mai.", "ar": "سارية منذ مايو."},
            link="https://acme.example.com/terms",
            mandatory=True,
        ),
        _sample(
            "news", False, en="Show me offers that fit", de="Zeigt mir passende Angebote", ar="اعرضوا لي عروضًا تناسبني"
        ),
    ),
)
