"""Pages opened by a mailed link: the link's token in the address, and what such pages have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from wtforms import StringField

from app.contract.page_models import MAX_TOKEN_LENGTH, LinkLookup
from app.hub.forms.code_field import CodeField
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Page
from app.hub.web.short_links import PARAMETER, link_url
from app.hub.web.visit import current_visit
from app.kit.web.user_agents import is_automated

QUERY: Final = {PARAMETER: MAX_TOKEN_LENGTH}
"""What the language links repeat of the address."""


WRONG_NUMBER: Final = _l("Wrong number. Check your other device.")


def number_field() -> StringField:
    """Return the field for the number of a page that waits for the link in another browser."""
    return CodeField(_l("Number shown on the other device"))


@dataclass(frozen=True)
class LinkPage(Page):
    """A page opened by a mailed link. A GET does not use the link up."""

    query = {**Page.query, **QUERY}
    path: ClassVar[str]
    """Path of the page."""

    form: HubForm
    state: str
    """`open`, or why the link is refused."""
    label: str = ""
    """The account or address that the link is about."""
    token: str = ""

    @property
    def continues(self) -> bool:
        """Whether the script presses the button once the page is seen, because this browser asked for the link."""
        return False

    @property
    def run(self) -> tuple[str, ...]:
        return (*super().run, "continue") if self.continues else super().run

    @property
    def action(self) -> str:
        """The form's action: the link's address, so that the language links work after a post."""
        return link_url(self.path, self.token)


def link_token() -> str:
    """Return the link's token from the address."""
    return current_visit().query.get(PARAMETER, "")[:MAX_TOKEN_LENGTH]


def link_read(token: str) -> LinkLookup:
    """Return the request for a link's state; it says whether a mail scanner, a preview or a prefetch sent this request."""
    visit = current_visit()
    environ = visit.environ
    purpose = str(environ.get("HTTP_SEC_PURPOSE", environ.get("HTTP_PURPOSE", "")))
    is_machine = environ["REQUEST_METHOD"] == "HEAD" or "prefetch" in purpose or is_automated(visit.agent)
    return LinkLookup(token=token[:MAX_TOKEN_LENGTH], is_machine=is_machine)
