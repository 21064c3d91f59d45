"""Markdown of descriptions, guides and the changelog as HTML. HTML within the Markdown is left out, as are links that lead nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup  # noqa: TID251 - the renderer escapes texts, and drops HTML and addresses of scripts


class Links(Protocol):
    """The addresses behind the links and the code spans of a text."""

    def of_target(self, target: str) -> str:
        """Return the address behind a link's target; "" if the reference doesn't serve it."""

    def of_code(self, code: str) -> str:
        """Return the address of the operation or the page that a code span names; "" if it names none."""


class _NoLinks:
    def of_target(self, target: str) -> str:
        return target

    def of_code(self, _code: str) -> str:
        return ""


NO_LINKS: Links = _NoLinks()


@dataclass(frozen=True)
class GuideSection:
    """A heading with its anchor, its level and the words up to the next heading."""

    title: str
    anchor: str
    level: int
    text: str


class _Renderer(RendererHTML):
    """Draws code and tables so that they scroll by keyboard; draws no HTML of the text."""

    def html_block(self, *_: Any) -> str:
        return ""

    def html_inline(self, *_: Any) -> str:
        return ""

    def fence(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        named = re.search(r'title="([^"]+)"', tokens[idx].info)
        caption = Markup("<figcaption>{}</figcaption>").format(named[1]) if named else ""
        code = Markup('<pre tabindex="0"><code>{}</code></pre>').format(tokens[idx].content)
        return str(Markup('<figure class="code">{}{}</figure>\n').format(caption, code))

    def code_block(self, tokens: Sequence[Token], idx: int, *rest: Any) -> str:
        return self.fence(tokens, idx, *rest)

    def table_open(self, *_: Any) -> str:
        return '<div class="table" role="group" aria-label="Table" tabindex="0"><table>\n'

    def table_close(self, *_: Any) -> str:
        return "</table></div>\n"


_MARKDOWN = MarkdownIt("commonmark", {"html": True}, renderer_cls=_Renderer).enable("table")


def render(text: str, links: Links = NO_LINKS) -> Markup:
    """Return a text as HTML; headings have the anchors that GitHub makes."""
    tokens = _MARKDOWN.parse(text)
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor(tokens[place + 1].content))
        if token.children:
            token.children = list(_linked(token.children, links))
    return Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))  # noqa: S704 - see the import


def render_line(text: str, links: Links = NO_LINKS) -> Markup:
    """Return a text of one paragraph as HTML without a paragraph's tags."""
    (token,) = _MARKDOWN.parseInline(text)
    token.children = list(_linked(token.children or [], links))
    return Markup(_MARKDOWN.renderer.render([token], _MARKDOWN.options, {}))  # noqa: S704 - see the import


def sections(text: str) -> tuple[GuideSection, ...]:
    """Return the sections of a text; what precedes the first heading is left out."""
    found: list[tuple[str, int, list[str]]] = []
    tokens = _MARKDOWN.parse(text)
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            found.append((tokens[place + 1].content, int(token.tag[1]), []))
        elif found and token.type in ("inline", "fence") and tokens[place - 1].type != "heading_open":
            found[-1][2].append(_words(token))
    return tuple(GuideSection(plain(title), anchor(title), level, " ".join(words)) for title, level, words in found)


def listed_targets(text: str) -> Iterator[tuple[str, str]]:
    """Yield the target of each link in a list, with the heading above it."""
    heading = ""
    tokens = _MARKDOWN.parse(text)
    for place, token in enumerate(tokens):
        if token.type == "inline" and tokens[place - 1].type == "heading_open":
            heading = token.content
        elif token.type == "inline" and tokens[place - 2].type == "list_item_open":
            for child in token.children or []:
                if child.type == "link_open":
                    yield heading, str(child.attrGet("href"))


def anchor(title: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def plain(text: str) -> str:
    """Return a line of Markdown as plain words."""
    (token,) = _MARKDOWN.parseInline(text)
    return _words(token)


def _words(token: Token) -> str:
    children = token.children
    if children is None:
        return token.content
    return "".join(" " if child.type == "softbreak" else child.content for child in children)


def _linked(children: Sequence[Token], links: Links) -> Iterator[Token]:
    """Yield the tokens of a line with the addresses of its links; a code span outside links may become one."""
    dropped: list[bool] = []
    for child in children:
        if child.type == "link_open":
            address = links.of_target(str(child.attrGet("href")))
            child.attrSet("href", address)
            dropped.append(not address)
        if child.type == "image":
            child.attrSet("src", links.of_target(str(child.attrGet("src"))))
        if child.type in ("link_open", "link_close"):
            is_dropped = dropped[-1] if child.type == "link_open" else dropped.pop()
            if not is_dropped:
                yield child
        elif child.type == "code_inline" and not dropped and (address := links.of_code(child.content)):
            yield Token("link_open", "a", 1, attrs={"href": address})
            yield child
            yield Token("link_close", "a", -1)
        else:
            yield child


def operation_key(code: str) -> str:
    """Return what of a code span such as `GET /v2/accounts?limit=5` names an operation."""
    return re.sub(r"\{\w+\}", "{}", code.partition("?")[0].rstrip("/").lower())
