"""gatehouse theme: checks a theme folder, and finds the keys of texts; its versions are in versions.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from app.commands.errors import CommandError
from app.commands.theme import versions
from app.commands.theme.changes import theme_diff
from app.commands.theme.check import theme_check
from app.commands.theme.contract import theme_contract
from app.commands.theme.preview import theme_preview
from app.commands.theme.starter import theme_new

if TYPE_CHECKING:
    from app.kit.text.source_texts import SourceText


@click.group
def theme() -> None:
    """Write the look and the texts of a tenant's pages."""


for command in (theme_check, theme_contract, theme_diff, theme_new, theme_preview, *versions.COMMANDS):
    theme.add_command(command)


@theme.command("texts")
@click.argument("words", nargs=-1)
@click.option("--language", "tag", default="en", show_default=True, help="The language of the texts: en, de or ar.")
def theme_texts(words: tuple[str, ...], tag: str) -> None:
    """List texts with their keys: all, or those with WORDS.

    The texts of pages, emails and text messages. The lines are YAML, as `texts/LANGUAGE.yaml` of a theme has them.
    """
    from app.kit.text.languages import LANGUAGES
    from app.kit.text.source_texts import text_keys

    if tag not in LANGUAGES:
        raise CommandError(f"There's no language {tag}. Choose one of: {', '.join(LANGUAGES)}.")
    wanted = " ".join(words).casefold()
    for key, source in text_keys().current.items():
        line = f"{key}: {_wording(source, tag)}"
        if wanted in line.casefold() or wanted in source.readable.casefold():
            click.echo(line)


def _wording(source: SourceText, tag: str) -> str:
    """Return our text in a language as YAML."""
    import json

    from app.kit.text.tenant_texts import our_wording

    ours = our_wording(source, tag)
    if isinstance(ours, str):
        return json.dumps(ours, ensure_ascii=False)
    return "{" + ", ".join(f"{name}: {json.dumps(form, ensure_ascii=False)}" for name, form in ours.items()) + "}"
