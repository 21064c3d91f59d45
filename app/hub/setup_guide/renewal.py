"""The page of a link that renews certificates: those that the connection trusts, and a field for the next one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from flask import Response
from wtforms import TextAreaField
from wtforms.validators import Length

from app.contract import errors
from app.contract.organizations import setup_operations
from app.contract.organizations.setup_operations import (
    MAX_METADATA,
    AddRenewedCertificate,
    Renewal,
    RenewalCertificate,
    SetupSession,
)
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.form import HubForm, too_long
from app.hub.rendering.formatting import format_day
from app.hub.rendering.page import Notice, Page
from app.hub.setup_guide import guide
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

_ADDED: Final = "added"
_REASONS: Final = {
    "missing": guide.MISSING,
    "unreadable": _l("We couldn’t read a certificate there. Copy the whole certificate or metadata file again."),
    "expired": _l("This certificate expired. Paste the new one."),
    "weak": _l("This certificate is too weak. Use an RSA key of 2048 bits or more, signed with SHA-256."),
    "known": _l("This certificate is already trusted. Paste the new one."),
    "foreign": _l("This metadata is from another provider. Paste that of the provider shown above."),
    "many": _l("These are too many certificates. Paste only the new one."),
}
"""What a certificate that cannot be used lacks, by the reason."""


class RenewalForm(HubForm):
    """The next certificate."""

    certificate = TextAreaField(
        _l("New certificate or metadata"),
        [Length(max=MAX_METADATA, message=too_long(MAX_METADATA))],
        render_kw={"autocapitalize": "none", "spellcheck": "false", "dir": "ltr", "rows": "8", "autocomplete": "off"},
    )

    def to_request(self) -> AddRenewedCertificate:
        return AddRenewedCertificate(session=guide.session(), certificate=(self.certificate.data or "").strip())

    def add_refusal(self, refusal: ApiError) -> bool:
        """Say at the field why the certificate cannot be used."""
        for name, reason in refusal.problems or ():
            self.add_error(name, _REASONS.get(reason, guide.INVALID))
        return bool(refusal.problems)


@dataclass(frozen=True)
class CertificateRenewalPage(Page):
    """Shows which connection it is and what it trusts, and takes the next certificate."""

    template = "pages/organizations/setup/certificate.html"
    own_rules = ("guide",)
    query = {_ADDED: 1}

    form: RenewalForm
    renewal: Renewal

    @property
    def certificates(self) -> list[tuple[RenewalCertificate, str]]:
        """Each certificate that is trusted, and the day on which it expires."""
        return [(one, format_day(one.ends_at)) for one in self.renewal.certificates]

    @classmethod
    def samples(cls) -> Mapping[str, CertificateRenewalPage]:
        present = RenewalCertificate(fingerprint="3f9a" * 16, ends_at="2026-12-20T10:00:00.000Z")
        old = RenewalCertificate(fingerprint="70c1" * 16, ends_at="2026-11-01T10:00:00.000Z", is_expired=True)
        shown = Renewal(
            organization="Globex Gardens",
            connection="globex-sso",
            entity_id="https://idp.globex.example/saml",
            certificates=[present],
        )
        fresh = cls(RenewalForm(), shown)
        wrong = RenewalForm(data={"certificate": "MIID"})
        wrong.add_refusal(errors.SetupEntryRefused(problems=[("certificate", "unreadable")]))
        foreign = RenewalForm(data={"certificate": "<EntityDescriptor/>"})
        foreign.add_refusal(errors.SetupEntryRefused(problems=[("certificate", "foreign")]))
        several = shown.model_copy(update={"certificates": [present, old], "reads_metadata": True})
        return {
            "fresh": fresh,
            "several": cls(RenewalForm(), several),
            "wrong": cls(wrong, shown),
            "foreign": cls(foreign, several),
            "added": replace(fresh, renewal=several, page_notice=_DONE),
            "token": replace(fresh, form=RenewalForm().with_token_error()),
        }


_DONE: Final = Notice(_l("Certificate added"), _l("You can switch your provider to it now."), "ok")


def show() -> Response:
    return _answer(RenewalForm(formdata=None))


def submit() -> Response:
    return _answer(RenewalForm(), is_posted=True)


def _answer(form: RenewalForm, *, is_posted: bool = False) -> Response:
    """Return the page, or what the posted form leads to; a session of the guide goes on there."""
    try:
        read = guide.read()
        if not read.renews:
            return guide.go_on(read)
        renewal = api()(setup_operations.read_renewal, SetupSession(session=guide.session()))
        return _added(form, renewal) if is_posted else _shown(form, renewal)
    except (errors.SetupSessionOver, errors.ClosedSetupLink):
        return guide.over()


def _shown(form: RenewalForm, renewal: Renewal) -> Response:
    notice = _DONE if current_visit().query.get(_ADDED) else None
    return CertificateRenewalPage(form, renewal, page_notice=notice).render()


def _added(form: RenewalForm, renewal: Renewal) -> Response:
    page = CertificateRenewalPage(form, renewal)
    if not form.validate():
        return page.render(form.error_status)
    try:
        api()(setup_operations.add_certificate, form.to_request())
    except (errors.SetupEntryRefused, errors.TooManyRequests) as refusal:
        return page.render_refusal(refusal)
    return redirect_to(f"{guide.RENEWAL}?{_ADDED}=1")
