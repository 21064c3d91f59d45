"""The classes of our pages that the contract of themes promises: style sheets of themes can style them, and templates use some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MEANINGS: Final[Mapping[str, str]] = {
    # What surrounds a page
    "split": "The body of pages for signing in and signing up, and of errors, with our layout.",
    "console": "The body of the account’s pages.",
    "alone": "A `split` without a scene.",
    "own": "The body of pages with your layout.",
    "pane": "The half of `split` with the form.",
    "scene": "The half of `split` with the drawing or the picture.",
    "say": "Sentence and signature on the scene.",
    "by": "The signature on the scene.",
    "bar": "The head of the account’s pages, from edge to edge.",
    "head": "The row with the logo, and what stands beside it.",
    "mark": "Logo and name.",
    "end": "The end of a row: the ways out in `bar`, the links of a fact in `details`.",
    "area": "The account’s tabs and page beside each other.",
    "tabs": "The links to the sections of the account. The current one has `[aria-current]`.",
    "dot": "The mark of a tab with something to do.",
    "subtabs": "The links to the parts of an organization. The current one has `[aria-current]`.",
    "foot": "The row with the languages and the links.",
    "lang": "The languages.",
    "skip": "The link to the content, seen when it has the focus.",
    "main": "The page itself.",
    "narrow": "The column of a page of the account with a form alone.",
    "section": "A part of a page of the account, with its heading.",
    # Texts and messages
    "lead": "The sentence below the heading.",
    "fix": "The links to the fields with errors, in the place of `lead`.",
    "quiet": "A small text beside others.",
    "notice": "A message. `notice--danger`, `notice--ok` and `notice--warn` are its tones.",
    "notice--danger": "An error.",
    "notice--ok": "A message that something worked.",
    "notice--warn": "A warning.",
    "tag": "A word that marks a row, such as “This device”.",
    "tag--ok": "A tag with good news.",
    "tag--warn": "A tag with a warning.",
    "sign": "The symbol above a heading.",
    "sign--danger": "The symbol of an error.",
    "sign--ok": "The symbol of success.",
    "sign--warn": "The symbol of a warning.",
    "big": "A large symbol above a heading.",
    "chip": "The account that a form is about, above the heading.",
    "face": "The picture of an account, or its initials.",
    "tile": "The logo of an application or an organization, or its initial.",
    "typed": "A value to copy or to type on another device.",
    "user-code": "The code of another device, to compare.",
    "sheet": "The box with the backup codes.",
    "codes": "The backup codes.",
    "empty": "What a list has without rows.",
    # Forms
    "form": "A form with fields.",
    "field": "Label, error, input and hint of a field.",
    "field--wrong": "A field with an error.",
    "top": "The line of a label, or of a heading with a button beside it.",
    "control": "An input.",
    "digits": "An input for a code of six digits, or for the two-digit number of another device. `--code-place` places them.",
    "secret": "The input of a password, with the button that shows it.",
    "note": "The line of a field’s hint; of its error too, where a theme’s template places it.",
    "hint": "A hint.",
    "problem": "The error of a field.",
    "beside": "What belongs to a field, such as “Forgot password?”.",
    "check": "A checkbox or a choice of one, with its label.",
    "rules": "The rules of a new password.",
    "scopes": "What an application asks for.",
    # Buttons and links
    "button": "A button, or a link that looks like one.",
    "button--plain": "A button beside the main one.",
    "button--danger": "A button that deletes.",
    "button--quiet": "A button without a frame.",
    "button--small": "A button in a row.",
    "choices": "Buttons to choose between.",
    "actions": "The buttons below a page’s content.",
    "row-actions": "The buttons of a row.",
    "methods": "The other ways to sign in.",
    "method": "A way to sign in.",
    "or": "The word between two ways to sign in.",
    "more": "A list of further ways that opens.",
    "menu": "A list of links that opens in a row.",
    "aside": "The line with links below a form.",
    "link": "A button that looks like a link.",
    "back": "The link to the page above, or out of the account.",
    # Cards and rows
    "card": "A box with rows.",
    "card--danger": "A box with what deletes or weakens the account.",
    "rows": "The rows of a card.",
    "row": "A row of a card.",
    "what": "The texts of a row.",
    "go": "The mark that a row leads somewhere.",
    "facts": "Short facts in one line.",
    "fact": "A name and its value on a page that asks people to compare them.",
    "details": "The facts of the profile.",
    "add": "The row of `details` that adds something.",
    "edit": "A form in the place of a row, or the word that opens it.",
    "edit-link": "The link that changes a fact.",
    "who": "The row with the picture of the account.",
    "checkup": "The security checkup.",
    "meter": "The bar of the security checkup.",
    "on": "A part of `meter` that is done.",
    "steps": "The list of the security checkup.",
    "done": "A step that is done.",
}  # fmt: skip
"""One line about each, by its name."""
OF_LAYOUTS: Final = frozenset({"alone", "area", "pane", "split"})
"""Those that a layout can use, and no template of a page or a part: they divide the whole window."""
OF_TEMPLATES: Final = OF_LAYOUTS | {
    "aside", "bar", "beside", "button", "button--plain", "button--small", "card", "foot", "head", "lead", "quiet", "tag", "tile", "top",
    "what",
}  # fmt: skip
"""Those that a template can use."""
UNPRINTED: Final = frozenset({"bar", "foot", "head"})
"""Those of them whose elements are not printed."""
APART: Final = frozenset({"button", "button--plain", "button--small", "lead", "tag", "tile"})
"""Those of them whose elements no part can be in: a `tile` has one size, a `tag` one line, a `button` the colors of its text alone, and a
`lead` before an error is hidden."""
