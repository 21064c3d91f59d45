"""The checks of strings: forbidden words, translations that are missing, stale or still English."""

from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message

from tools import translations, words
from tools.words import Rule, VisibleText

pytestmark = pytest.mark.usefixtures("sources_last")

RULES = words.rules()


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    """A catalogue that the checks read in place of the real ones, once `save` wrote it."""
    monkeypatch.setattr(translations, "ROOT", tmp_path)
    monkeypatch.setattr(words, "ROOT", tmp_path)
    monkeypatch.setattr(translations, "FOLDER", tmp_path)
    monkeypatch.setattr(translations, "TEMPLATE", tmp_path / "messages.pot")
    catalog = Catalog(locale="de")
    monkeypatch.setattr(translations, "extracted", lambda: catalog)
    return catalog


def save(catalog: Catalog, *, more: str = "") -> None:
    file = translations.FOLDER / "de" / "LC_MESSAGES" / "messages.po"
    file.parent.mkdir(parents=True)
    for path in (file, translations.TEMPLATE):
        path.write_bytes(translations.written(catalog) + more.encode())


@pytest.mark.parametrize("rule", RULES, ids=[rule.find.pattern[:40] for rule in RULES])
def test_rule_finds_its_example(rule: Rule) -> None:
    place = min(rule.places)
    found = list(words.problems([VisibleText(place, "here", rule.bad)], [rule]))
    assert len(found) == 1
    assert rule.why in found[0]


def test_rule_leaves_its_exceptions_and_other_places_alone() -> None:
    rule = next(rule for rule in RULES if "Bitte wählen" in rule.but)
    assert not list(
        words.problems([VisibleText("de", "here", "Bitte wählen"), VisibleText("pages", "here", rule.bad)], [rule])
    )


def test_placeholder_is_no_word() -> None:
    assert not list(words.problems([VisibleText("de", "here", "%(email)s entfernen")], RULES))


def test_planted_word_on_the_command_line_is_found(tmp_path: Path) -> None:
    planted = {
        "app/commands/planted.py": '@click.command\ndef x():\n    """Please wait."""\n    echo("Sorry, no.")\n',
        "app/kit/planted.py": '"""Please keep this."""\nraise SettingsError(f"{name} is not a mail address.")\n',
    }
    for name, code in planted.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(code)
    found = sorted(words.problems(words.command_line(tmp_path), RULES))
    assert [line.partition(" has ")[2].partition(":")[0] for line in found] == [
        "'Please'",
        "'Sorry'",
        "'is not'",
        "'mail'",
    ]


def test_catalogue_texts_include_mails_pages_and_translations() -> None:
    texts = words.catalogue()
    assert {text.place for text in texts} == {"pages", "de", "ar"}
    assert {"templates/mails/reset.html", "templates/pages/sign_in/login.html"} <= {text.where for text in texts}


def test_english_copy_is_found(german: Catalog) -> None:
    german.add("Sign out", "Sign out")
    german.add("Passkey", "Passkey")
    save(german)
    assert [line.partition("'")[2].partition("'")[0] for line in words.copies()] == ["Sign out"]


@pytest.mark.parametrize(
    ("string", "flags", "problem"),
    [
        ("", (), "is not translated"),
        ("Abmelden", ("fuzzy",), "fuzzy"),
        (("%(num)d Tag",), (), "is not translated"),
    ],
)
def test_unfinished_translation_is_found(
    german: Catalog, string: str | tuple[str, ...], flags: tuple[str, ...], problem: str
) -> None:
    german.add("Sign out" if isinstance(string, str) else ("%(num)d day", "%(num)d days"), string, flags=flags)
    save(german)
    assert any(problem in line for line in translations.problems())


def test_stale_translation_is_found(german: Catalog) -> None:
    german.add("Sign out", "Abmelden")
    save(german, more='\n#~ msgid "Log out"\n#~ msgstr "Ausloggen"\n')
    assert [line for line in translations.problems() if "'Log out' is stale" in line]


def test_swapped_arabic_plurals_are_found() -> None:
    forms = ["لا أيام", "يوم واحد", "يومان", "%(num)d أيام", "%(num)d يوم", "%(num)d يومًا"]
    right = Message(("%(num)d day", "%(num)d days"), tuple(forms))
    swapped = Message(("%(num)d day", "%(num)d days"), (*forms[:4], forms[5], forms[4]))
    assert translations.message_problem(right) is None
    assert "swapped" in str(translations.message_problem(swapped))


def test_strings_have_no_forbidden_words() -> None:
    assert not list(words.problems(words.texts(), RULES))
    assert not list(words.copies())
