"""New backup codes: shown once, after an enrolment or on request, and put into use when the person has saved them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from flask import Response
from flask_babel import gettext
from wtforms import HiddenField

from app.contract import errors
from app.contract.page_models import NoParameters
from app.contract.second_factors.pages import second_factor_pages
from app.contract.steps import BackupCodesStep, StepResponse
from app.hub import journey
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.components.sign_in_methods import complete_method
from app.hub.forms.reauthentication import ReauthenticationForm
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Notice, Page
from app.hub.tenants.branding import initials
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/backup-codes"
FILE: Final = f"{PATH}/file"
SAVE, SKIP = "save", "skip"
"""Values of `do`: the codes are saved; the sign-in continues without them."""
_AFTER_ENROLMENT: Final = "after enrolment"
"""The mark of such codes in the encrypted content; no code looks like it."""
_SAMPLE: Final = tuple(f"{n:05x}-{n * 7:05x}" for n in range(11111, 111111, 10000))


@dataclass(frozen=True)
class CodeSheet:
    """New codes, which work once they are saved. The page carries them encrypted, because the server does not store them."""

    codes: tuple[str, ...]
    batch: str
    person: str
    """The label of the account."""
    is_after_enrolment: bool = False
    """Whether they came with the account's first second factor, so that the page says that two-step verification is on."""

    @property
    def encrypted(self) -> str:
        content = [self.batch, self.person, *self.codes, *([_AFTER_ENROLMENT] if self.is_after_enrolment else [])]
        return services().cookie_cipher.encrypt(content, _context())

    @classmethod
    def decrypt(cls, text: str) -> Self | None:
        """Return the codes of a page of this tenant; None for any other text."""
        content = services().cookie_cipher.decrypt(text, _context())
        if not isinstance(content, list):
            return None
        batch, person, *codes = content
        is_after_enrolment = codes[-1:] == [_AFTER_ENROLMENT]
        return cls(tuple(codes[:-1] if is_after_enrolment else codes), batch, person, is_after_enrolment)

    @property
    def text(self) -> str:
        """The codes as a text file."""
        rows = [f"{number:>2}  {code}" for number, code in enumerate(self.codes, 1)]
        heading = gettext("Backup codes for %(name)s", name=current_visit().brand.name)
        note = gettext("Each code works once.")
        return "".join(f"{line}\r\n" for line in (heading, self.person, "", *rows, "", note))


class GenerateForm(ReauthenticationForm):
    """A button, with the password if required."""


class SheetForm(HubForm):
    """The codes of the page, to download or save; none to skip."""

    sheet = HiddenField()

    @property
    def code_sheet(self) -> CodeSheet | None:
        return CodeSheet.decrypt(self.sheet.data or "")


@dataclass(frozen=True)
class BackupCodesPage(Page):
    """Explains the backup codes, then shows them once."""

    template = "pages/security/backup_codes.html"
    scripts = ("focus", "language", "copy", "print", "reveal")
    """Without `once`: the page stays open after a download. The server handles a double submit."""
    query = {**Page.query, "state": 8}
    refusals = CHANGE_REFUSALS

    form: HubForm
    sheet: CodeSheet | None = None
    person: str = ""
    state: str = ""
    """`last`: the last code was just used; `replaced`: newer codes exist than those on the page."""
    is_sign_in: bool = False

    @property
    def own_rules(self) -> tuple[str, ...]:
        return ("backup-codes",) if self.sheet else ()

    @property
    def can_skip(self) -> bool:
        return self.state == "last" or current_visit().tenant.may_skip_backup_codes

    @property
    def initials(self) -> str:
        return initials(self.person)

    @property
    def encrypted(self) -> str:
        return self.sheet.encrypted if self.sheet else ""

    @property
    def notice(self) -> Notice | None:
        return super().notice or (None if self.sheet else _STATES.get(self.state))

    @classmethod
    def samples(cls) -> Mapping[str, BackupCodesPage]:
        name, sheet = "ada@example.com", CodeSheet(_SAMPLE, "sample", "ada@example.com")
        with_password = GenerateForm(data={"account": name})
        with_password.add_refusal(errors.WrongCurrentPassword())
        return {
            "with the password": cls(with_password),
            "before": cls(GenerateForm()),
            "made": cls(SheetForm(), sheet, name),
            "after an enrolment": cls(SheetForm(), replace(sheet, is_after_enrolment=True), name),
            "at a sign-in": cls(SheetForm(), replace(sheet, is_after_enrolment=True), name, is_sign_in=True),
            "before, at a sign-in": cls(GenerateForm(), person=name, is_sign_in=True),
            **{state: cls(GenerateForm(), person=name, state=state, is_sign_in=True) for state in _STATES},
            "token": cls(GenerateForm().with_token_error()),
        }


_STATES: Final = {
    "last": Notice(_l("You used your last backup code"), _l("Create new ones so you don’t get locked out."), "warn"),
    "replaced": Notice(
        _l("Those codes were replaced"), _l("You’ve created newer codes since. Use those, or create another set."), "note"
    ),
}  # fmt: skip


def follow(response: StepResponse) -> Response:
    """Return the response that leads to a step; after an enrolment the page that shows new codes, without a click."""
    if not shows_new(response):
        return journey.follow(response)
    current_visit().renew(response.session)
    page = show_new()
    if page is None:
        return journey.follow(response)
    journey.set_cookies(page, response.model_copy(update={"session": None}))
    complete_method(page)
    return page


def shows_new(response: StepResponse) -> bool:
    """Return whether `follow` creates the codes and returns their page, instead of a redirect."""
    return isinstance(response.step, BackupCodesStep) and response.step.reason is None


def show_new() -> Response | None:
    """Return the page with new codes; None if the identity service refuses to create them without a password."""
    try:
        created = api()(second_factor_pages.create_backup_codes, NoParameters())
    except ApiError:
        return None
    return page_with(created, is_after_enrolment=True).render()


def page_with(created: second_factor_pages.NewBackupCodes, *, is_after_enrolment: bool = False) -> BackupCodesPage:
    """Return the page that shows new codes."""
    sheet = CodeSheet(tuple(created.codes), created.batch, created.person, is_after_enrolment)
    is_sign_in = current_visit().interaction is not None
    return BackupCodesPage(SheetForm(formdata=None), sheet, created.person, is_sign_in=is_sign_in)


def _context() -> str:
    return f"{current_visit().tenant.name} backup codes"
