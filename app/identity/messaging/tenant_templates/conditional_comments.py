"""Conditional comments: parts of a mail for Outlook for Windows alone, or for all programs but that one.

`<!--[if mso]>…<![endif]-->` is a comment to all other programs; what stands between `<!--[if !mso]><!-->` and `<!--<![endif]-->`
is hidden from Outlook alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from app.identity.messaging.tenant_templates.allowed_html import CONDITION

_COMMENT: Final = re.compile(r"(<!--(?:.*?-->|.*\Z))", re.DOTALL)
_OLD_BEGIN: Final = re.compile(rf"<!{CONDITION}>", re.IGNORECASE)
_OLD_END: Final = re.compile(r"<!\[endif\]>", re.IGNORECASE)
_HIDDEN: Final = re.compile(rf"\s*{CONDITION}>(?P<html>.*)<!\[endif\]\s*", re.DOTALL | re.IGNORECASE)
_BEGIN: Final = re.compile(rf"\s*{CONDITION}><!(?:--\s*)?", re.IGNORECASE)
_END: Final = re.compile(r"\s*<!\[endif\]\s*", re.IGNORECASE)
END: Final = "<!--<![endif]-->"


@dataclass(frozen=True, slots=True)
class ConditionalComment:
    """A comment that Outlook interprets.

    kind: "hidden" has its own `html`, "begin" and "end" are around HTML that other programs show.
    """

    kind: Literal["hidden", "begin", "end"]
    condition: str = ""
    html: str = ""
    line: int = 0
    """The line of `html` in the comment, from 0."""


def read(data: str) -> ConditionalComment | None:
    """Return the conditional comment that has this text between `<!--` and `-->`; None for any other comment."""
    if _END.fullmatch(data):
        return ConditionalComment("end")
    if begin := _BEGIN.fullmatch(data):
        return ConditionalComment("begin", begin["condition"])
    if (hidden := _HIDDEN.fullmatch(data)) and "<!" not in hidden["html"]:
        return ConditionalComment(
            "hidden", hidden["condition"], hidden["html"], data.count("\n", 0, hidden.start("html"))
        )
    return None


def looks_conditional(data: str) -> bool:
    """Return whether a mail program might interpret this comment."""
    return "[if" in data.lower() or "<![" in data


def as_comments(html: str) -> tuple[str, list[int]]:
    """Write the older form `<![if !mso]>…<![endif]>` as comments, because each version of Python's parser reads it differently.

    Returns:
        The HTML, without any other `<![`, and the lines of those.
    """
    pieces, others, line = [], [], 1
    for number, piece in enumerate(_COMMENT.split(html)):
        if number % 2 == 0:
            written = _OLD_END.sub(END, _OLD_BEGIN.sub(r"<!--[if \g<condition>]><!-->", piece))
            # a comment written above has "<![" too
            bare = _COMMENT.sub("", written)
            if "<![" in bare:
                others += [line + bare.count("\n", 0, match.start()) for match in re.finditer(r"<!\[", bare)]
                written = "".join(
                    part if place % 2 else part.replace("<![", "") for place, part in enumerate(_COMMENT.split(written))
                )
            pieces.append(written)
        else:
            pieces.append(piece)
        line += piece.count("\n")
    return "".join(pieces), others
