"""The form of a hostile theme."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

LOGIN: Final = "templates/pages/sign_in/login.html"
SPLIT: Final = "templates/layouts/split.html"
FIELD: Final = "templates/macros/field.html"
NOTICE: Final = "templates/macros/notice.html"
BUTTON: Final = "templates/macros/button.html"
PASSWORD: Final = "templates/macros/password.html"
RESET: Final = "templates/mails/reset.html"
CSS: Final = "static/css/theme.css"
BRAND: Final = "theme.yaml"
DE: Final = "texts/de.yaml"
WHOLE: Final = "{{ sign() }}{{ heading() }}{{ notice() }}{{ body() }}{{ methods() }}{{ more() }}{{ ways_out() }}"
"""The login page with all of its blocks."""


@dataclass(frozen=True)
class HostileTheme:
    """A theme folder, and what becomes of it."""

    files: Mapping[str, str | bytes]
    links: Mapping[str, str] = field(default_factory=dict)
    """Links in the folder by their target; a pipe where that is empty."""
    problem: str = ""
    """The beginning of a problem, `FILE:LINE: SENTENCE`; empty for a theme that is accepted, and renders harmlessly."""

    def write(self, folder: Path) -> None:
        """Write the folder, with an empty theme.yaml unless the theme has one."""
        default = {} if BRAND in self.links else {BRAND: ""}
        for name, content in {**default, **self.files}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        for name, target in self.links.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if target:
                path.symlink_to(target)
            else:
                os.mkfifo(path)


def in_lead(markup: str) -> dict[str, str | bytes]:
    """The login page with markup below its heading, from the second line."""
    return {LOGIN: f"{{% block lead %}}\n{markup}{{% endblock %}}"}


def in_split(markup: str) -> dict[str, str | bytes]:
    """The layout of a sign-in with markup before the page."""
    return {SPLIT: f"{markup}\n{{{{ content() }}}}{{{{ languages() }}}}"}


def in_css(rules: str) -> dict[str, str | bytes]:
    """A style sheet from its second line."""
    return {CSS: f"\n{rules}"}


def in_mail(block: str, markup: str) -> dict[str, str | bytes]:
    """The mail to reset a password with markup in a block, from the second line."""
    return {RESET: f"{{% block {block} %}}\n{markup}{{% endblock %}}"}
