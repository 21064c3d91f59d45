"""Backup codes: generated on request, shown once, to be printed or saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from flask import Response

from app.contract import errors as e
from app.contract import hub_second_factors as contract
from app.contract.hub_account import WithPassword
from app.hub import journey, oidc_client
from app.hub.forms.account import PasswordConfirmationForm, confirmation_data, refusal_notice, require_confirmation
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.parts.account import read_factors
from app.hub.services import api
from app.hub.visit import current_visit
from app.kit.errors import ApiError

ADDRESS: Final = "/backup-codes"
_SAMPLE: Final = tuple(f"{n:05x}-{n * 7:05x}" for n in range(11111, 111111, 10000))


class GenerateForm(PasswordConfirmationForm):
    """A button, with the password if required."""

    def to_request(self) -> WithPassword:
        return WithPassword(password=self.current_password)


@dataclass(frozen=True)
class BackupCodesPage(Page):
    """Explains the backup codes, then shows them once."""

    template = "pages/backup_codes.html"
    scripts = (*Page.scripts, "print", "reveal")

    form: GenerateForm
    codes: tuple[str, ...] = ()
    person: str = ""
    problem: Notice | None = None

    @property
    def continue_url(self) -> str:
        """The next address: the sign-in in progress, else the account's factors."""
        interaction = current_visit().interaction
        return f"/login?attempt={interaction.id}" if interaction else "/second-factors"

    @property
    def file(self) -> str:
        """The codes as a text file in a data URL, which needs no request."""
        return "data:text/plain;charset=utf-8," + quote("\r\n".join(self.codes) + "\r\n")

    @classmethod
    def samples(cls) -> Mapping[str, BackupCodesPage]:
        with_password = GenerateForm(data={"account": "ada@example.com"})
        with_password.add_refusal(e.WrongCurrentPassword())
        return {
            "with the password": cls(with_password),
            "before": cls(GenerateForm()),
            "made": cls(GenerateForm(), _SAMPLE, "ada@example.com"),
            "token": cls(GenerateForm().with_token_error()),
        }


@pages.get(ADDRESS)
def show_backup_codes() -> Response:
    """Render the page; within a sign-in it is the same for every account and makes no API call."""
    visit = current_visit()
    if visit.session and visit.interaction:
        return BackupCodesPage(GenerateForm(formdata=None)).render()
    try:
        view = read_factors()
    except e.TwoFactorOff:
        return journey.redirect_to("/security")
    if view is None:
        return oidc_client.start_login(ADDRESS)
    if not view.held or view.backup_codes is None:
        return journey.redirect_to("/second-factors")
    form = GenerateForm(formdata=None, data=confirmation_data(view))
    return require_confirmation(view, ADDRESS) or BackupCodesPage(form).render()


@pages.post(ADDRESS)
def generate_backup_codes() -> Response:
    """Generate new codes, which invalidates the old ones, and show them."""
    form = GenerateForm()
    if not form.validate():
        return BackupCodesPage(form).render(form.error_status)
    try:
        generated = api()(contract.create_backup_codes, form.to_request())
    except e.NotAuthenticated:
        return oidc_client.start_login(ADDRESS)
    except (e.NoSecondFactor, e.NoBackupCodes):
        return journey.redirect_to("/second-factors")
    except ApiError as refusal:
        problem = None if form.add_refusal(refusal) else refusal_notice(refusal)
        return BackupCodesPage(form, problem=problem).render(refusal.status)
    current_visit().renew(generated.session)
    return BackupCodesPage(GenerateForm(formdata=None), tuple(generated.codes), generated.person).render()
