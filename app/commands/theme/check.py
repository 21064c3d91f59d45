"""gatehouse theme check: says what is wrong in a theme folder and on the pages that it makes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from app.commands.errors import CommandError
from app.commands.prompts import counted
from app.commands.theme.browser import browser_problems, find_chromium, opened_browser
from app.commands.theme.contract import lines_against
from app.commands.theme.folder import as_tenant, read_theme
from app.commands.theme.progress import progress
from app.commands.theme.unused import unpromised, unused

if TYPE_CHECKING:
    from app.contract.tenants.branding import Brand
    from app.hub.tenants.tenant import HubTenant
    from app.hub.theme_check.review import PageProblem, ThemeReview
    from app.identity.administration.configuration.file.theme.read_folder import ThemeFolder

MAX_PRINTED: Final = 50
"""Problems that are printed; the others are counted."""
_FEW: Final = 4
"""Pages with the same problem that are printed one by one; more are printed together."""


@click.command("check")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--pages",
    "words",
    default="",
    metavar="WORD,WORD",
    help="Render only pages and emails with one of these words in their name.",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Check the templates and texts by the contract of another version alone: a file of `gatehouse theme contract`.",
)
@click.option("--browser", "in_browser", is_flag=True, help="Look at the pages in a browser, too. Needs Playwright.")
@click.option(
    "--chromium",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="The browser for --browser: Chromium, Chrome or Edge. By default, the first one in PATH.",
)
def theme_check(folder: Path, words: str, against: Path | None, in_browser: bool, chromium: Path | None) -> None:
    """Say what is wrong in a theme's FOLDER.

    Problems of files have the file and the line. Then every page and email is rendered in every state and language, and problems have
    the page.
    With --browser, a Chromium shows the pages: in narrow windows, by keyboard, in light, dark and forced colors.
    Exits with 2 for problems of files, with 1 for problems of pages, and with 0 without problems.
    """
    from app.hub.theme_check.style import style_problems

    theme, folder = read_theme(folder), folder.resolve()
    brand = theme.brand
    if against is not None:
        _check_against(against, folder, brand)
        return
    tenant = as_tenant(brand, folder.name)
    browser = find_chromium(chromium) if in_browser else ""
    found = _review(theme, tenant, words, browser)
    failed = [*failed_mails(brand, words.split(","))]
    weak = style_problems(brand.css, tenant.brand, found.always_around)
    for problem in weak[:MAX_PRINTED]:
        click.echo(f"{folder}/static/css/theme.css:{problem.line}: {problem.sentence}")
    for line in problem_lines([*found.problems, *failed]):
        click.echo(line)
    for warning in (*unused(folder, brand), *unpromised(brand), *_script_warnings(brand), *_warnings(found)):
        click.echo(f"Warning: {warning}", err=True)
    click.echo(_summary(folder.name, brand, found, len(weak), len(failed)))
    if found.problems or weak or failed:
        sys.exit(1)


def failed_mails(brand: Brand, words: Iterable[str]) -> Iterator[PageProblem]:
    """Yield each state of an email that fails with its samples, so that people would get ours; of those with one of the words."""
    from app.hub.theme_check.review import PageProblem, page_names
    from app.identity.messaging import gallery
    from app.identity.messaging.message import Branding
    from app.kit.text.languages import LANGUAGES

    branding = Branding(brand.display_name or "Acme", brand)
    for tag, language in LANGUAGES.items() if brand.templates else ():
        for name, state in page_names(words, gallery.mail_samples()):
            if failure := gallery.mail(branding, language, name, state).failure:
                yield PageProblem(f"mails/{name}.html", state, tag, str(failure))


def _check_against(contract: Path, folder: Path, brand: Brand) -> None:
    """Check the theme by a file of another version's contract. Raises CommandError for problems."""
    refused = lines_against(contract, folder, brand)
    if refused:
        raise CommandError(f"Found {counted(len(refused), 'problem')}:\n" + "\n".join(refused))
    click.echo(f"{folder.name}: no problems by the contract of {contract.name}.")


def _review(theme: ThemeFolder, tenant: HubTenant, words: str, chromium: str) -> ThemeReview:
    """Render the pages, and look at them in a browser if there is one. Raises CommandError."""
    from app.hub.theme_check.review import page_places, review, review_pages

    pages = review_pages(tenant)
    places = page_places(words.split(","), pages.names)
    if not places:
        raise CommandError(f"No page has a name with {words}.")
    if not chromium:
        return review(pages, places, progress)
    with opened_browser(chromium) as browser:
        found = review(pages, places, progress)
        found.problems += browser_problems(browser, theme, pages, places)
        found.browser = f"Chromium {browser.version}"
    return found


def problem_lines(problems: Iterable[PageProblem]) -> Iterator[str]:
    """Yield the problems grouped by page; one of many pages stands first, and once."""
    by_sentence: dict[str, dict[str, dict[str, list[str]]]] = {}
    for page, state, language, sentence in problems:
        by_sentence.setdefault(sentence, {}).setdefault(page, {}).setdefault(state, []).append(language)
    by_page: dict[str, list[str]] = {}
    for sentence, pages in by_sentence.items():
        if len(pages) > _FEW:
            by_page.setdefault(f"{len(pages)} pages: {', '.join([*pages][:_FEW])} …", []).append(sentence)
            continue
        for page, states in pages.items():
            by_page.setdefault(page, []).append(f"{_states(states)}: {sentence}")
    printed = 0
    for page, lines in sorted(by_page.items()):
        if printed < MAX_PRINTED:
            yield page
        yield from (f"  {line}" for line in lines[: max(MAX_PRINTED - printed, 0)])
        printed += len(lines)
    if printed > MAX_PRINTED:
        yield f"and {printed - MAX_PRINTED} more."


def _states(states: dict[str, list[str]]) -> str:
    """Return the states of a page with their languages, such as `fresh, wrong (en, de)`."""
    names = ", ".join([*states][:_FEW]) + (f" and {len(states) - _FEW} more" if len(states) > _FEW else "")
    languages = dict.fromkeys(tag for tags in states.values() for tag in tags)
    return f"{names} ({', '.join(languages)})"


def _script_warnings(brand: Brand) -> Iterator[str]:
    if not any(brand.scripts.values()):
        return
    from app.contract.themes.theme_scripts import origins_of

    origins = ", ".join(origins_of(brand.scripts)) or "no origin"
    yield (
        f"the theme has scripts, from {origins}. Pages leave them out unless settings.theme_scripts.origins of the tenant has the "
        "origin, and on all hosts but verified custom domains. This check renders pages without them."
    )


def _warnings(found: ThemeReview) -> Iterator[str]:
    from app.hub.theme_check.samples import FIRST_FLIGHT_BYTES

    for words, count in found.left_out.items():
        yield f"{counted(count, 'page')} of ours had {words}; the theme’s templates leave it out."
    if found.heavy_count:
        yield (
            f"{counted(found.heavy_count, 'page')} with style sheets and script have more than {FIRST_FLIGHT_BYTES:,} bytes, compressed. "
            "Visitors on slow networks wait longer for them."
        )


def _summary(name: str, brand: Brand, found: ThemeReview, weak_rules: int, failed_mails: int) -> str:
    texts = sum(len(wordings) for wordings in brand.texts.values())
    languages = f" in {counted(len(brand.texts), 'language')}" if texts else ""
    wrong = len({problem[:3] for problem in found.problems})
    said = f"problems on {wrong:,} of {found.count:,} pages" if wrong else f"no problems on {found.count:,} pages"
    if weak_rules:
        others = said if wrong else f"no others on {found.count:,} pages"
        said = f"{counted(weak_rules, 'problem')} of the style sheet, and {others}"
    if failed_mails:
        said = f"{counted(failed_mails, 'email')} failed, and {said}"
    largest = (
        f" The largest page, {found.largest.name}, has {found.largest.bytes_all_in:,} bytes." if found.largest else ""
    )
    if found.browser:
        said += f", in {found.browser} too"
    return f"{name}: {said}. It has {counted(texts, 'text')}{languages} of its own.{largest}"
