"""The third step of the guide: what to do in the product, and what to paste back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Response
from wtforms import StringField, TextAreaField
from wtforms.validators import Length

from app.contract import errors
from app.contract.organizations import setup_operations
from app.contract.organizations.setup_operations import MAX_METADATA, SaveSetupEntries, SetupGuide
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.form import HubForm, too_long
from app.hub.setup_guide.guide import (
    CHOSEN,
    CONFIGURED,
    INVALID,
    MISSING,
    SAML,
    SetupPage,
    address_of,
    go_on,
    session,
    step_view,
)
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.kit.operations.errors import ApiError

_MAX_LENGTH: Final = 2_000
_CODE: Final = {"autocapitalize": "none", "spellcheck": "false", "dir": "ltr"}
_REASONS: Final = {
    "missing": MISSING,
    "malformed": INVALID,
    "unreadable": _l(
        "We couldn’t read a sign-in configuration there. Copy the value again, and check that it’s reachable."
    ),
    "shared": _l("Anyone can have an account there. Enter your organization’s own provider."),
    "expired": _l("The certificate in this metadata expired. Renew it at your provider, then copy the metadata again."),
}
"""What an entry that cannot be used lacks, by the reason."""


class SetupConnectionForm(HubForm):
    """What to paste back. `form_for` leaves the fields of the product, under its own names."""

    issuer = StringField(_l("Issuer"), [Length(max=_MAX_LENGTH, message=too_long(_MAX_LENGTH))], render_kw=_CODE)
    client_id = StringField(_l("Client ID"), [Length(max=_MAX_LENGTH, message=too_long(_MAX_LENGTH))], render_kw=_CODE)
    client_secret = StringField(
        _l("Client secret"), [Length(max=_MAX_LENGTH, message=too_long(_MAX_LENGTH))], render_kw=_CODE
    )
    metadata_url = StringField(
        _l("Metadata link"), [Length(max=_MAX_LENGTH, message=too_long(_MAX_LENGTH))], render_kw=_CODE
    )
    metadata = TextAreaField(
        _l("Metadata XML"),
        [Length(max=MAX_METADATA, message=too_long(MAX_METADATA))],
        render_kw={**_CODE, "rows": "6"},
    )

    def to_request(self) -> SaveSetupEntries:
        names = ("issuer", "client_id", "client_secret", "metadata_url", "metadata")
        given = {name: (self[name].data or "").strip() for name in names if name in self._fields}
        return SaveSetupEntries(session=session() or "-", **given)

    def add_refusal(self, refusal: ApiError) -> bool:
        """Say at the field why its value cannot be used."""
        for name, reason in refusal.problems or ():
            self.add_error(name, self._sentence(name, reason))
        return bool(refusal.problems)

    def _sentence(self, name: str, reason: str) -> Any:
        """Return what a field lacks: of a malformed value the name and an example of what belongs there."""
        field = self._fields.get(name)
        example = (field.render_kw or {}).get("placeholder") if field is not None else None
        if reason != "malformed" or field is None or not example:
            return _REASONS.get(reason, INVALID)
        return _l("Enter your %(name)s, such as %(example)s", name=field.label.text, example=example)


def form_for(guide: SetupGuide, **options: Any) -> SetupConnectionForm:
    """Return the form with the fields of the chosen product, labelled as there; without options, with the posted values."""
    form = SetupConnectionForm(**options)
    wanted = {item.name: item for item in guide.fields}
    for name in ("issuer", "client_id", "client_secret", "metadata_url", "metadata"):
        if name not in wanted:
            del form[name]
        elif wanted[name].label:
            form[name].label.text = wanted[name].label
        if name in form and wanted[name].example:
            form[name].render_kw = {**(form[name].render_kw or {}), "placeholder": wanted[name].example}
    return form


@dataclass(frozen=True)
class SetupConnectionPage(SetupPage):
    """Shows the product's own steps, and takes what they result in."""

    template = "pages/organizations/setup/connection.html"
    step = "connection"

    form: SetupConnectionForm

    @property
    def other_protocol(self) -> str:
        """The other protocol of the product; empty if it has one alone."""
        protocols = self.guide.product.protocols if self.guide.product else []
        return next((name for name in protocols if name != self.guide.protocol), "")

    @property
    def has_secret(self) -> bool:
        return any(item.has_secret for item in self.guide.fields)

    @classmethod
    def samples(cls) -> Mapping[str, SetupConnectionPage]:
        fresh = cls(form_for(CHOSEN), CHOSEN)
        wrong = form_for(CHOSEN, data={"issuer": "okta", "client_id": "0oa1b2c3d4"})
        wrong.add_refusal(errors.SetupEntryRefused(problems=[("issuer", "malformed")]))
        missing = form_for(CHOSEN)
        for name in ("issuer", "client_id", "client_secret"):
            missing.add_error(name, MISSING)
        expired = form_for(SAML, data={"metadata": "<EntityDescriptor/>"})
        expired.add_refusal(errors.SetupEntryRefused(problems=[("metadata", "expired")]))
        return {
            "fresh": fresh,
            "saved": cls(form_for(CONFIGURED, data=_stored(CONFIGURED)), CONFIGURED),
            "wrong": cls(wrong, CHOSEN),
            "empty": cls(missing, CHOSEN),
            "saml": cls(form_for(SAML), SAML),
            "expired certificate": cls(expired, SAML),
            "token": replace(fresh, form=form_for(CHOSEN).with_token_error()),
        }


@step_view("connection")
def show(guide: SetupGuide) -> Response:
    return SetupConnectionPage(form_for(guide, formdata=None, data=_stored(guide)), guide).render()


@step_view("connection")
def submit(guide: SetupGuide) -> Response:
    form = form_for(guide)
    if not form.validate():
        return SetupConnectionPage(form, guide).render(form.error_status)
    try:
        api()(setup_operations.save_entries, form.to_request())
    except errors.SetupIncomplete:
        return go_on()
    except (errors.SetupEntryRefused, errors.TooManyRequests) as refusal:
        return SetupConnectionPage(form, guide).render_refusal(refusal)
    return redirect_to(address_of("test"))


def _stored(guide: SetupGuide) -> dict[str, str]:
    return {item.name: item.text for item in guide.fields}
