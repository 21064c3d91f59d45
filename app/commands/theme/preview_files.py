"""The files of a theme's preview: an index in each language, every page in every state, the messages, and what they load."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import groupby
from typing import Any, Final

from flask import render_template

from app.commands.errors import CommandError
from app.commands.prompts import counted
from app.commands.theme.offline_page import offline_css, offline_page
from app.contract.tenants.branding import Brand
from app.contract.tenants.tenant_pages import MailPreview
from app.hub.gallery import all_samples
from app.hub.tenants.tenant import HubTenant
from app.hub.theme_check.review import PagePlace, page_places
from app.hub.theme_check.samples import SAMPLE_DOMAIN, NotRendered, SamplePages
from app.hub.theme_preview import mails_by_kind
from app.hub.thumbnails import GROUPS, Thumbnail, thumbnails
from app.identity.messaging import gallery
from app.identity.messaging.message import Branding
from app.kit.clock import FixedClock
from app.kit.text.languages import LANGUAGES

_AT: Final = datetime(2026, 11, 22, 16, 0, tzinfo=UTC)
"""The time on all pages, soon after the events in the samples of messages."""
_OF_PAGES, _OF_MAILS = "../../../", "../../"
_NOT_A_LETTER: Final = re.compile(r"[^a-z0-9]+")
_MAIL_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file: data: https:; form-action 'none'"
)
_HEAD: Final = re.compile(r"<head(\s[^>]*)?>", re.IGNORECASE)


@dataclass
class PreviewFiles:
    """What the zip file has.

    Args:
        brand: the theme.
        tenant: the same, as the hub has it.
        folder: with a folder of files for each tenant; empty for none.
        own: the contents of the theme's own pictures and fonts by their addresses.
    """

    brand: Brand
    tenant: HubTenant
    folder: str = ""
    own: Mapping[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pages = SamplePages({SAMPLE_DOMAIN: self.tenant}, clock=FixedClock(_AT), files=self.folder)
        self._loaded: dict[str, bytes | None] = {}
        self._failures: dict[tuple[str, str], int] = {}

    def places(self, words: Iterable[str]) -> list[PagePlace]:
        """Return the pages whose name has one of the words, in each state and language; all without words."""
        return page_places(words, self.pages.names)

    def all_files(
        self, places: list[PagePlace], progress: Callable[[list[PagePlace]], Iterable[PagePlace]]
    ) -> Iterator[tuple[str, bytes]]:
        """Yield the name and the content of each file. Raises CommandError for a page that is none."""
        chosen = {(page, state) for page, state, _ in places}
        for tag in LANGUAGES:
            yield _index(tag), self._render("pages", tag, groups=self._groups(chosen)).encode()
            yield _index(tag, "emails"), self._render("messages", tag, **self._messages(tag)).encode()
            yield from self._mail_files(tag)
        for page, state, tag in progress(places):
            yield self.address(page, state, tag), self._page(page, state, tag).encode()
        yield from self._loaded_files()

    def warnings(self) -> Iterator[str]:
        """Yield what the preview has not, or has ours in place of."""
        for path, content in sorted(self._loaded.items()):
            if content is None:
                yield f"there’s no file {path}: put it into the tenant’s folder in --files."
        for (file, reason), count in self._failures.items():
            yield f"{file} failed, so {counted(count, 'page')} have ours: {reason}"

    def _page(self, page: str, state: str, tag: str) -> str:
        try:
            sample = self.pages.render(page, state, tag)
        except NotRendered as problem:
            raise CommandError(f"{page} {state} {tag}: {problem}") from None
        for failure in sample.failures:
            self._failures[failure] = self._failures.get(failure, 0) + 1
        return offline_page(sample.html, sample.policy, _OF_PAGES, self.address(page, state, "{}"), self._file)

    @cached_property
    def _names(self) -> dict[tuple[str, str], str]:
        """The file's name of each state of each page; states whose letters are the same are numbered."""
        found: dict[tuple[str, str], str] = {}
        for page, state in self.pages.names:
            name, taken = _slug(state), {found[each] for each in found if each[0] == page}
            number = sum(1 for each in taken if each == name or re.fullmatch(rf"{name}-\d+", each)) + 1
            found[page, state] = name if name not in taken else f"{name}-{number}"
        return found

    def address(self, page: str, state: str, tag: str) -> str:
        """Return the name of the file of a page in a state and a language."""
        return f"pages/{tag}/{page}/{self._names[page, state]}.html"

    def _file(self, path: str) -> str:
        """Return the address of a file of the host, which is then one of the zip; empty without such a file."""
        if path not in self._loaded:
            own = self.own.get(path)
            self._loaded[path] = self.pages.file(path) if own is None else own
        return path[1:] if self._loaded[path] is not None else ""

    def _loaded_files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the files that pages load, and those that the theme's style sheet does."""
        for path, content in sorted(self._loaded.items()):
            if content is not None and path.endswith(".css"):
                css = offline_css(content.decode(), lambda name: self._file(name).rpartition("/")[2] or "data:,")
                self._loaded[path] = css.encode()
        yield from ((path[1:], content) for path, content in sorted(self._loaded.items()) if content is not None)

    def _groups(self, chosen: set[tuple[str, str]]) -> list[tuple[str, list[tuple[str, list[Thumbnail]]]]]:
        """Return the groups of the gallery: each with its pages, and these with their states."""
        with self.pages.app.app_context():
            found = [each for each in thumbnails(all_samples()) if (each.page, each.state) in chosen]
        return [
            (GROUPS[group], [(title, list(states)) for title, states in groupby(pages, lambda each: each.title)])
            for group, pages in groupby(found, lambda each: each.group)
        ]

    def _render(self, content: str, tag: str, **values: Any) -> str:
        """Return an index in the look of the theme, with its own policy."""
        assets = self.pages.app.extensions["gatehouse.assets"]
        with self.pages.app.test_request_context(base_url=f"http://{SAMPLE_DOMAIN}"):
            html = render_template(
                "theme_preview.html",
                content=content,
                title="",
                nonce="",
                brand=self.tenant.brand,
                style=f"/static/{assets.style('console').name}",
                tag=tag,
                languages=LANGUAGES,
                index=_index,
                address=self.address,
                **values,
            )
        policy = "default-src 'none'; img-src 'self' data:; font-src 'self'; frame-src 'self' file:; base-uri 'none'"
        return offline_page(html, policy, "", "", self._file)

    @cached_property
    def _branding(self) -> Branding:
        return Branding(self.brand.display_name or self.tenant.brand.name, self.brand, _OF_MAILS.removesuffix("/"))

    def _messages(self, tag: str) -> dict[str, Any]:
        found = gallery.previews(self._branding, LANGUAGES[tag])
        return {"mails": mails_by_kind(found.mails), "texts": found.texts, "mail_address": partial(_mail, tag)}

    def _mail_files(self, tag: str) -> Iterator[tuple[str, bytes]]:
        head = f'<meta http-equiv="Content-Security-Policy" content="{_MAIL_POLICY}">'
        for kind, state in gallery.mail_samples():
            message = gallery.mail(self._branding, LANGUAGES[tag], kind, state)
            for path in re.findall(rf'(?<="{_OF_MAILS[:-1]})/theme/[^"]+', message.html):
                self._file(path)
            yield _mail_name(tag, kind, state), _HEAD.sub(lambda found: found[0] + head, message.html, count=1).encode()


def _index(tag: str, name: str = "index") -> str:
    return f"{name}.html" if tag == next(iter(LANGUAGES)) else f"{name}.{tag}.html"


def _mail(tag: str, each: MailPreview) -> str:
    return _mail_name(tag, each.kind, each.state)


def _mail_name(tag: str, kind: str, state: str) -> str:
    return f"emails/{tag}/{kind}.{_slug(state)}.html"


def _slug(state: str) -> str:
    return _NOT_A_LETTER.sub("-", state.lower()).strip("-")
