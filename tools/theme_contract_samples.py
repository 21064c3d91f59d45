"""Samples of the values that templates of themes have, from the samples of pages and emails."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from app.contract.tenants.branding import Brand
from app.contract.themes import layout_templates, mail_templates
from app.contract.themes.page_templates import EVERYWHERE
from app.hub.gallery import TENANTS, pages_by_name, use_sample_tenant
from app.hub.rendering.own_layouts import shared_values
from app.hub.rendering.own_pages import shown
from app.hub.theme_check.samples import SAMPLE_DOMAIN, SamplePages, sample_address
from app.identity.messaging import rendering, theme_mails
from app.identity.messaging.message import Branding
from app.identity.messaging.samples import EMAIL_SAMPLES
from app.kit.clock import FixedClock
from app.kit.templating.contract import Items, Value, ValueKind
from app.kit.text.languages import LANGUAGES, SOURCE

MOST: Final = 2
MAX_LENGTH: Final = 60
_CUT: Final = "…"
_SPACES: Final = re.compile(r"\s+")
_LOOK: Final = "acme"
_Values = Mapping[str, Value | Items]
_Samples = dict[str, list[Any]]
EVERY_PAGE, EVERY_MAIL = "pages", "mails"
"""In place of a template: the values that every page or every email has."""


def samples(pages: Mapping[str, Mapping[str, Value | Items]]) -> dict[str, _Samples]:
    """Return up to two samples of each text and each list of a template, by the template's name.

    A flag has none, nor has what the samples never fill. A list has its first row.

    Args:
        pages: the values of each page's template beside those of every page.
    """
    found = {EVERY_PAGE: _Collected(EVERYWHERE), **{name: _Collected(values) for name, values in pages.items()}}
    layouts = {name: _Collected(contract.values) for name, contract in layout_templates.LAYOUTS.items()}
    hub = SamplePages(clock=FixedClock()).app
    address = sample_address("LoginPage", "fresh", SOURCE.tag, _LOOK)
    with hub.test_request_context(address, base_url=f"http://{SAMPLE_DOMAIN}"):
        use_sample_tenant(_LOOK, SOURCE.tag)
        for values in (_of_every_page(), _of_every_page(organization="Globex Gardens")):
            for each in (found[EVERY_PAGE], *layouts.values()):
                each.add(values)
        for page in pages_by_name().values():
            if page.template in pages:
                for sample in page.samples().values():
                    found[page.template].add_attributes(sample)
    return {name: each.found for name, each in {**layouts, **found, **_of_mails()}.items() if each.found}


def _of_every_page(**changed: str) -> dict[str, Any]:
    """Return what every page and every layout has, for the look of the samples."""
    brand = TENANTS[_LOOK]
    lines = {"sentence": brand.sentence[0][1], "signature": brand.signature[0][1]}
    return {**shared_values(brand, SOURCE), **lines, "application": "Acme Shop", "section": "profile", **changed}


def _of_mails() -> dict[str, _Collected]:
    brand = Brand.model_validate(
        {
            "display_name": "Acme",
            "sentence": {SOURCE.tag: "Everything your team ships, behind one door."},
            "signature": "Acme Platform",
            "links": {"help": "https://acme.example.com/help"},
        }
    )
    branding, language = Branding("Acme", brand, "https://acme.example.com"), LANGUAGES[SOURCE.tag]
    every = mail_templates.values_of_every_mail()
    layout, of_every = _Collected(mail_templates.LAYOUT_CONTRACT.values), _Collected(every)
    found = {mail_templates.LAYOUT: layout, EVERY_MAIL: of_every}
    for name, kind in mail_templates.mails().items():
        own = mail_templates.block_contract(kind, "intro").values
        found[name] = _Collected({key: value for key, value in own.items() if key not in every})
        for facts in EMAIL_SAMPLES[kind].values():
            values = rendering.values_of(kind, branding, facts, language)
            view = theme_mails.view_of(branding, facts, language, values)
            for each in (found[name], of_every):
                each.add(view)
            layout.add(theme_mails.layout_view(branding, language, values["links"]))
    return found


class _Collected:
    """The samples of a template's values: the first ones that differ, in the order of its states."""

    def __init__(self, values: _Values) -> None:
        self._values = values
        self._found: _Samples = {}

    @property
    def found(self) -> _Samples:
        return {name: self._found[name] for name in self._values if name in self._found}

    def add_attributes(self, page: object) -> None:
        self.add({name: shown(getattr(page, name), value) for name, value in self._values.items()})

    def add(self, view: Mapping[str, Any]) -> None:
        for name, value in self._values.items():
            if isinstance(value, Items):
                self._add(name, (_row(row) for row in view[name]), 1)
            elif value.kind is not ValueKind.FLAG:
                self._add(name, filter(None, (_short(view.get(name, "")),)), MOST)

    def _add(self, name: str, seen: Iterable[Any], most: int) -> None:
        known = self._found.get(name, [])
        for each in seen:
            is_cut = isinstance(each, str) and each.endswith(_CUT)
            if len(known) < most and each not in known and not (is_cut and known):
                known = self._found[name] = [*known, each]


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: member if isinstance(member, bool) else _short(member) for name, member in row.items()}


def _short(value: object) -> str:
    """Return a value on one line with plain spaces and nothing invisible, cut to a bounded length."""
    text = "".join(each for each in _SPACES.sub(" ", str(value)) if each.isprintable()).strip()
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + _CUT
