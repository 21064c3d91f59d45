"""The account's profile: its picture and rows, which are edited in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from app.contract import errors
from app.contract.images.image_pages import UPLOADED_IMAGES
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.components.signed_in_account import read_profile
from app.hub.forms.image_field import IMAGE_MESSAGES, ImageField
from app.hub.forms.profile_fields import SAMPLE_FIELDS, FieldsForm
from app.hub.forms.reauthentication import reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.pages.account.email_forms import PrimaryEmailForm
from app.hub.pages.account.profile_rows import (
    ADD_EMAIL,
    EVERY,
    NAME,
    PICTURE,
    Fact,
    Group,
    email_fact,
    form_of,
    format_date,
    groups_of,
    own_fact,
    phone_fact,
    username_fact,
)
from app.hub.rendering.form import HubForm
from app.hub.rendering.formatting import format_month
from app.hub.rendering.page import Notice, Page
from app.hub.tenants.branding import initials
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError
from app.kit.web.urls import is_web_url

_LONG_EMAIL: Final = "countess.of.lovelace@analytical-engines.example.org"
_SAMPLE_PICTURE: Final = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAATklEQVR42mOInv0/YvKv0J6vQa0f/Ote+5Q/8yx46J55hwGrqEvidQasoo5Rlx"
    "iwitoFn2XAKmrtc4IBq6iF62EGrKKmdvsYsIoam+8EAJvtYstiGOd7AAAAAElFTkSuQmCC"
)


class PictureForm(HubForm):
    """Uploads a picture."""

    picture = ImageField(_l("Picture"))
    refusals = {kind: ("picture", message) for kind, message in IMAGE_MESSAGES.items()}


@dataclass(frozen=True)
class ProfilePage(Page):
    """Shows the profile; a row that is open is a form in its place."""

    template = "pages/account/profile.html"
    query = {"landing": 10, "saved": 1, "changed": 8, "edit": 64}
    refusals = {
        **CHANGE_REFUSALS,
        errors.TooManyRequests: Notice(_l("Too many pictures"), _l("Try again in an hour.")),
    }

    name: Any
    account: Any
    initials: Any
    groups: tuple[Group, ...]
    picture: str = ""
    since: Any = ""
    """The month of the registration."""
    is_return_url_refused: bool = False
    """Whether the requested return URL was refused, so that the browser was redirected here."""
    is_saved: bool = False
    is_password_changed: bool = False
    """Whether a forgotten password was just set, which signed the browser in."""
    deletion_days: int = 0
    """How long the deletion of the account can be undone."""
    has_to_do: bool = False
    """Whether the security check-up has something to do."""
    opened: str = ""
    """The row that is open: `PICTURE`, `EVERY` or that of a fact."""
    form: FieldsForm | PictureForm | None = None
    """Of the open row."""
    buttons: PrimaryEmailForm = field(default_factory=lambda: PrimaryEmailForm(formdata=None))
    """Of the buttons that remove the picture and change email addresses."""

    @property
    def notice(self) -> Notice | None:
        if (notice := super().notice) is not None:
            return notice
        if self.is_password_changed:
            return Notice(_l("Your password was changed"), tone="ok")
        return Notice(_l("Saved"), tone="ok") if self.is_saved else None

    @property
    def pictures(self) -> tuple[str, ...]:
        return (self.picture,) if self.picture else ()

    @property
    def own_rules(self) -> tuple[str, ...]:
        return ("profile", "menu") if self._has_menus else ("profile",)

    @property
    def run(self) -> tuple[str, ...]:
        posts = self.form is not None or self.picture or self._has_menus
        own = (("once", posts), ("picture", self.opened == PICTURE), ("menu", self._has_menus))
        return ("focus", *(name for name, is_run in own if is_run), "language")

    @property
    def _has_menus(self) -> bool:
        return any(fact.has_menu for group in self.groups for fact in group.facts)

    @classmethod
    def samples(cls) -> Mapping[str, ProfilePage]:
        about = Group(
            _l("About you"),
            (
                own_fact(_l("Name"), "Ada Lovelace", NAME),
                own_fact(_l("Date of birth"), format_date("12/10/1815"), "birth_date"),
                own_fact(_l("City"), "", "city"),
                own_fact(_l("Language"), "English", "local_language"),
                username_fact("countess"),
            ),
        )
        email = email_fact("ada@example.com", is_verified=True), ADD_EMAIL
        emails = (
            email_fact("ada@example.com", is_verified=True, has_others=True),
            email_fact(_LONG_EMAIL, is_verified=False, is_first=False, has_others=True),
            ADD_EMAIL,
        )
        contact = (*emails, phone_fact("+44 20 7946 0018", is_verified=True)._replace(address="/phone"))
        full, bare = (about, Group(_l("Contact"), contact)), Group(_l("Contact"), email)
        unset = Group(_l("Contact"), (*email, phone_fact("", is_verified=False)))
        consenting = Group(
            about.heading,
            (
                *about.facts[:-1],
                username_fact(""),
                Fact(_l("Consent"), _l("Review or change your consent"), "/consents"),
            ),
        )
        lovelace = cls("Ada Lovelace", "ada@example.com", "AL", full, deletion_days=7)
        return {
            "full": replace(lovelace, since=format_month("2025-03-04")),
            "with a picture": replace(lovelace, picture=_SAMPLE_PICTURE),
            "with things not set": replace(lovelace, groups=(consenting, unset), deletion_days=1),
            "bare": cls("", "ada@example.com", "A", (bare,), has_to_do=True),
            "after a change": replace(lovelace, is_saved=True),
            "after a reset": replace(lovelace, is_password_changed=True),
            "after a refused address": replace(lovelace, is_return_url_refused=True),
            **_open_samples(lovelace),
        }


def _open_samples(page: ProfilePage) -> Mapping[str, ProfilePage]:
    """Return the page with a row open, as it comes and refused."""
    values = {"first_name": "Ada", "last_name": "Lovelace", "birth_date": "1815-12-10", "company": "Analytical Engines"}
    names = FieldsForm.of(SAMPLE_FIELDS[:2], data=values)
    wrong, wrong_picture = FieldsForm.of(SAMPLE_FIELDS, data=values), PictureForm()
    wrong.add_error("birth_date", _l("Enter a valid date."))
    wrong.add_error("first_name", _l("Enter your first name."))
    wrong_picture.add_error("picture", next(iter(IMAGE_MESSAGES.values())))
    return {
        "a row open": replace(page, opened=NAME, form=names),
        "a row of one field open": replace(
            page, opened="birth_date", form=FieldsForm.of(SAMPLE_FIELDS[2:3], data=values)
        ),
        "every row open": replace(page, opened=EVERY, form=FieldsForm.of(SAMPLE_FIELDS, data=values)),
        "rows refused": replace(page, opened=EVERY, form=wrong),
        "change failed": replace(page, opened=NAME, form=names, page_notice=CHANGE_REFUSALS[ApiError]),
        "picture open": replace(page, opened=PICTURE, form=PictureForm()),
        "picture refused": replace(page, opened=PICTURE, form=wrong_picture),
    }


def profile_page(row: str, form: FieldsForm | PictureForm | None = None) -> ProfilePage:
    """Return the page of the signed-in account with a row open; with its form, if it was posted. Raises SignInRequired."""
    view = read_profile(with_checkup=True)
    visit = current_visit()
    if form is None:
        form = PictureForm(formdata=None) if row == PICTURE else form_of(view, visit.tenant, row)
    name = view.person.name
    return ProfilePage(
        name=name,
        account=view.person.label,
        initials=initials(name or view.person.label),
        groups=tuple(group for group in groups_of(view, visit.tenant) if group.facts),
        picture=_picture_of(view.profile.get("ImageUrl")),
        since=format_month(view.registered_at),
        is_return_url_refused=visit.query.get("landing") == "refused",
        is_saved=visit.query.get("saved") == "1",
        is_password_changed=visit.query.get("changed") == "password",
        deletion_days=visit.tenant.deletion_days,
        has_to_do=view.has_to_do,
        opened=row if form is not None else "",
        form=form,
        buttons=PrimaryEmailForm(formdata=None, data=reauthentication_data(view)),
    )


def _picture_of(address: Any) -> str:
    """Return the address of the account's picture as the page loads it; empty for one that it must not load.

    An uploaded picture is loaded from the host of the page: the tenant may have others.
    """
    text = str(address or "")
    _, is_uploaded, name = text.partition(UPLOADED_IMAGES)
    if is_uploaded and text.startswith(current_visit().origin):
        return f"{UPLOADED_IMAGES}{name}"
    return text if text.startswith("https://") and is_web_url(text) else ""
