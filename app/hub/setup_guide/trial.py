"""The fourth step of the guide: a sign-in that tries the connection and signs nobody in, and the claims that it brought."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Response
from wtforms import SelectField
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # newer than its stubs

from app.contract import errors
from app.contract.organizations import setup_operations
from app.contract.organizations.setup_operations import MAPPED, SaveSetupMapping, SetupGuide
from app.hub.components.form_post import FormPostPage
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Notice, provider_redirect_targets
from app.hub.setup_guide.guide import (
    CONFIGURED,
    REFUSED,
    SAML_REFUSED,
    SAML_TRIED,
    TRIED,
    SetupPage,
    address_of,
    go_on,
    over,
    session,
    step_view,
)
from app.hub.setup_guide.trial_finding import Mismatch, mismatch_of, translated
from app.hub.web.responses import redirect, redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit

_FIELDS: Final = {"ID": "id", "Email": "email", "FirstName": "first_name", "LastName": "last_name", "Groups": "groups"}
"""The form's field of each member of the mapping."""
_MAX_PARAMETER: Final = 4_000


def _choice(label: Any) -> Any:
    return SelectField(label, choices=[], validate_choice=False)


class SetupTestForm(HubForm):
    """Starts the test, and maps its claims."""

    id = _choice(_l("Account ID"))
    email = _choice(_l("Email"))
    first_name = _choice(_l("First name"))
    last_name = _choice(_l("Last name"))
    groups = _choice(_l("Groups"))

    def to_request(self) -> SaveSetupMapping:
        given = {name: (self[field].data or "")[:200] for name, field in _FIELDS.items()}
        return SaveSetupMapping(
            session=session() or "-", attributes={name: text for name, text in given.items() if text}
        )


def form_for(guide: SetupGuide, **options: Any) -> SetupTestForm:
    """Return the form with the claims of the last test to choose from, each with its value."""
    form = SetupTestForm(**options)
    claims = {item.name: item.text for item in guide.trial.claims} if guide.trial else {}
    for name, field in _FIELDS.items():
        current = guide.attributes.get(name, "")
        missing = [] if current in claims else [SelectChoice(current, _l("%(name)s (not received)", name=current))]
        short = _short_names(claims)
        received = [
            SelectChoice(claim, f"{short[claim]}: {text}" if text else short[claim]) for claim, text in claims.items()
        ]
        form[field].choices = [*missing, *received]
    return form


def _short_names(claims: Iterable[str]) -> dict[str, str]:
    """Return what to call each claim: of an address such as `http://schemas.…/emailaddress` its end, if no other one has it."""
    ends = {claim: claim.rstrip("/").rpartition("/")[2] if "://" in claim else claim for claim in claims}
    count = Counter(ends.values())
    return {claim: end if count[end] == 1 else claim for claim, end in ends.items()}


@dataclass(frozen=True)
class SetupTestPage(SetupPage):
    """Tries the connection, and shows what came of it."""

    template = "pages/organizations/setup/test.html"
    step = "test"

    form: SetupTestForm

    @property
    def form_targets(self) -> tuple[str, ...]:
        """The form leads to the provider, which may redirect further."""
        return provider_redirect_targets()

    @property
    def has_error(self) -> bool:
        return super().has_error or bool(self.guide.trial and self.guide.trial.problem)

    @property
    def mismatch(self) -> Mismatch | None:
        """The one value of ours that the provider has wrong, if the test found that."""
        return mismatch_of(self.guide)

    @property
    def explanation(self) -> list[tuple[str, bool]]:
        """What went wrong and what to do: each sentence, and whether it is in the page's language."""
        trial = self.guide.trial
        if self.mismatch is not None:
            return [(str(self.mismatch.problem), True), (str(self.mismatch.advice), True)]
        return [translated(text) for text in (trial.problem, trial.advice)] if trial else []

    @property
    def mapped(self) -> list[tuple[str, Any]]:
        """The fields of the mapping, each with the value that the test brought for it."""
        claims = {item.name: item.text for item in self.guide.trial.claims} if self.guide.trial else {}
        return [(claims.get(self.guide.attributes.get(name, ""), ""), self.form[_FIELDS[name]]) for name in MAPPED]

    @classmethod
    def samples(cls) -> Mapping[str, SetupTestPage]:
        stale = REFUSED.model_copy(update={"problem": "", "claims": TRIED.trial.claims if TRIED.trial else []})
        foreign = TRIED.trial.model_copy(update={"has_foreign_email": True, "groups": []}) if TRIED.trial else None
        guides_by_name = {
            "fresh": CONFIGURED,
            "accepted": TRIED,
            "another domain": TRIED.model_copy(update={"trial": foreign}),
            "refused": CONFIGURED.model_copy(update={"trial": REFUSED}),
            "changed since": CONFIGURED.model_copy(update={"trial": stale}),
            "saml": SAML_TRIED,
            "refused by saml": SAML_TRIED.model_copy(update={"trial": SAML_REFUSED}),
        }
        pages = {name: cls(_stored_form(guide), guide) for name, guide in guides_by_name.items()}
        return {**pages, "token": replace(pages["fresh"], form=_stored_form(CONFIGURED).with_token_error())}


@step_view("test")
def show(guide: SetupGuide) -> Response:
    return SetupTestPage(_stored_form(guide), guide).render()


@step_view("test")
def submit(guide: SetupGuide) -> Response:
    form, done = form_for(guide), current_visit().form.get("do", "start")
    if not form.validate():
        return SetupTestPage(form, guide).render(form.error_status)
    if done == "map":
        api()(setup_operations.save_mapping, form.to_request())
        return redirect_to(address_of("activate"))
    try:
        begun = api()(setup_operations.begin_trial, setup_operations.SetupSession(session=session()))
    except errors.SetupIncomplete:
        return go_on()
    except errors.TooManyRequests as refusal:
        return SetupTestPage(form, guide, page_notice=Notice(_l("Too many attempts"))).render(refusal.status)
    if begun.fields:
        title = guide.product.title if guide.product else ""
        return FormPostPage(begun.address, tuple(begun.fields.items()), provider=title).render()
    return redirect(begun.address, 303) if begun.address else redirect_to(address_of("test"))


def finish() -> Response:
    """Take the provider's answer, and show what came of it."""
    query = current_visit().query
    answer = {name: query.get(name, "")[:_MAX_PARAMETER] for name in ("state", "code", "error", "iss")}
    if any(len(query.getlist(name)) > 1 for name in answer):
        answer |= {"code": "", "error": ""}  # two readers could pick different values (RFC 6749 section 3.1)
    if not session():
        return over()
    try:
        request = setup_operations.SetupTrialAnswer(session=session(), **answer)
        api()(setup_operations.finish_trial, request)
    except errors.SetupSessionOver:
        return over()
    except errors.ClosedSetupLink:
        return go_on()
    return redirect_to(address_of("test"))


def _stored_form(guide: SetupGuide) -> SetupTestForm:
    data = {field: guide.attributes.get(name, "") for name, field in _FIELDS.items()}
    return form_for(guide, formdata=None, data=data)
