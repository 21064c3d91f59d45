"""gatehouse theme new: writes a small theme to begin with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import click

from app.commands.errors import CommandError, as_command_errors

_THEME: Final = """\
# The look of the sign-in pages. All keys: docs/configuration.md#brand
display_name: {name}
color: {color} # buttons, links and the scene; in quotes, because # begins a comment
radius_px: 10
button_shape: rounded # square, rounded or pill
scene: daylight # dusk, daylight, picture or none
sentence:
  en: Good to see you.
"""
_TEXTS: Final = """\
# Texts by their keys: find keys with `gatehouse theme texts WORDS`. Keys of your own begin with own.
own.tagline: One account for everything here
"""
_LAYOUT: Final = """\
{# What surrounds every page of a sign-in. content() is the page itself: docs/theming.md#replace-a-layout #}
<div class="split">
<div class="pane">
<header class="head">{{ mark() }}{{ application() }}</header>
<p class="own-tagline">{{ text("own.tagline") }}</p>
{{ content() }}
{{ footer() }}
</div>
{{ scene() }}
</div>
"""
_BUTTON: Final = """\
{# The inside of every button; docs/theme-contract.md#parts has the other parts of pages #}
{{ label() }}{% if not is_plain and not is_small %} <span aria-hidden="true">›</span>{% endif %}
"""
_CSS: Final = """\
/* Your own classes begin with own-. Colors of the theme, such as var(--tint), have a dark mode. */
.own-tagline {
  inline-size: 100%;
  max-inline-size: var(--column);
  margin: 8px auto 0;
  padding-inline-start: 12px;
  border-inline-start: 3px solid var(--link);
  color: var(--muted);
  font-size: .875rem;
}
"""


@click.command("new")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--color", default="#3b49d9", show_default=True, help="The color of buttons and links, such as #0a7d55.")
@click.option("--name", default="", help="The name on the pages. By default, the folder’s.")
@click.option(
    "--parts", is_flag=True, help="Write our inside of every part, too: of fields, buttons, rows and messages."
)
def theme_new(folder: Path, color: str, name: str, parts: bool) -> None:
    """Write a small theme into a new FOLDER."""
    from app.contract.themes.part_bodies import OUR_BODIES
    from app.kit.design.colour import Colour, NotAColour

    try:
        shown = str(Colour.parse(color))
    except NotAColour:
        raise CommandError(f"Expected a color such as #3b49d9; found {color!r}.") from None
    if folder.exists() and any(folder.iterdir()):
        raise CommandError(f"{folder} isn’t empty. Name a new folder.")
    title = name or folder.resolve().name.replace("-", " ").title()
    files = {
        "theme.yaml": _THEME.format(name=json.dumps(title, ensure_ascii=False), color=json.dumps(shown)),
        "texts/en.yaml": _TEXTS,
        "templates/layouts/split.html": _LAYOUT,
        "templates/macros/button.html": _BUTTON,
        "static/css/theme.css": _CSS,
    }
    if parts:
        files |= {f"templates/{part}": body for part, body in OUR_BODIES.items()}
    with as_command_errors():
        for place, content in files.items():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_text(content, "utf-8")
    click.echo(f"Wrote {len(files)} files into {folder}. Check them with 'gatehouse theme check {folder}'.")
