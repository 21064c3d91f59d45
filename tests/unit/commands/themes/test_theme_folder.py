"""Theme folders: the files and addresses that theme.yaml may name, and the sentences about the others."""

from pathlib import Path

import pytest

from app.contract.tenants.branding import Brand
from app.identity.administration.configuration.file.read_configuration import Configuration, read
from app.identity.administration.configuration.file.theme import read_folder
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.kit.text.source_texts import text_keys
from tests.support.processes.command_line import Run

KEY = "expected the key of a text without plural forms, or of a text of the theme that begins with own."
FILE = b"tenants:\n  - {name: acme, theme: hazel}\n"


@pytest.fixture
def theme(tmp_path: Path) -> Path:
    folder = tmp_path / "hazel"
    folder.mkdir()
    (folder / "logo.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    return folder


def brand(theme: Path, text: str) -> Brand:
    (theme / "theme.yaml").write_text(text)
    return read(FILE, "f.yaml", theme.parent).brands["acme"]


def problem(theme: Path, text: str) -> str:
    with pytest.raises(ConfigurationError) as refused:
        brand(theme, text)
    (found,) = refused.value.problems
    return str(found)


@pytest.mark.parametrize("key", ["logo", "logo_dark"])
@pytest.mark.parametrize("address", ["/theme/logo.png", "https://a.example/x.png", "data:image/png;base64,AAAA"])
def test_address_of_a_logo_stays(theme: Path, key: str, address: str) -> None:
    assert getattr(brand(theme, f"{key}: '{address}'"), key) == address


def test_logos_are_files_of_the_folder(theme: Path) -> None:
    (theme / "logo-dark.png").write_bytes(b"png")
    found = brand(theme, "logo: logo.svg\nlogo_dark: ./logo-dark.png")
    assert (found.logo or "").startswith("data:image/svg+xml;base64,PHN2Zy")
    assert found.logo_dark == "data:image/png;base64,cG5n"


def test_missing_file_is_named_with_its_folder(theme: Path) -> None:
    assert problem(theme, "logo: logo2.svg") == "hazel/theme.yaml:1: logo: there's no file logo2.svg in hazel"


def test_other_files_are_refused_with_all_accepted_forms(theme: Path) -> None:
    (theme / "logo.gif").write_bytes(b"gif")
    sentence = problem(theme, "logo_dark: logo.gif")
    assert (
        "logo_dark: expected an svg, png, webp or jpg file in the theme folder, a file of static/img such as img/logo.svg, a path such as "
        in sentence
    )
    assert sentence.endswith("; found 'logo.gif'")


def test_large_logos_are_refused_with_an_alternative(theme: Path) -> None:
    (theme / "large.png").write_bytes(b"x" * 8_890)
    assert brand(theme, "logo: large.png").logo
    assert problem(theme, "logo: logo.svg\nlogo_dark: large.png") == (
        "hazel/theme.yaml:2: logo_dark: expected at most 8900 bytes for all logo files; found 8931: "
        "put large.png into static/img, and write img/large.png"
    )


def test_unquoted_color_is_explained(theme: Path) -> None:
    expected = "a color such as #3b49d9 (put it in quotes: # begins a comment in YAML); found nothing"
    assert problem(theme, "color: #d9480f") == f"hazel/theme.yaml:1: color: expected {expected}"
    assert problem(theme, "background: red").endswith("expected a color such as #fbfaf7; found 'red'")


def test_misplaced_key_is_not_suggested_for_itself(theme: Path) -> None:
    assert problem(theme, "title: Hazel") == "hazel/theme.yaml:1: title: isn't a known key here"


def test_apply_warns_of_missing_files_and_empty_colors(theme: Path, run: Run) -> None:
    (theme.parent / "acme.yaml").write_bytes(FILE)
    text = "logo: /theme/logo.svg\nfavicon: /theme/a.ico\nfont_file: /theme/a.woff2?v=2\nbackground: #fbfaf7\n"
    (theme / "theme.yaml").write_text(text)
    served = theme.parent / "themes" / "acme"
    served.mkdir(parents=True)
    (served / "logo.svg").write_text("<svg/>")
    done = run("apply", "acme.yaml", theme_files=str(served.parent))
    assert done.exit_code == 0
    assert [line for line in done.stderr.splitlines() if "acme" in line] == [
        "Warning: acme: background is empty. If you wrote a color, put it in quotes: # begins a comment in YAML.",
        f"Warning: acme: favicon is /theme/a.ico, but there's no file {served}/a.ico.",
        f"Warning: acme: font_file is /theme/a.woff2?v=2, but there's no file {served}/a.woff2.",
    ]
    assert "no file" not in run("apply", "acme.yaml").stderr


@pytest.fixture
def texts(theme: Path) -> Path:
    (theme / "texts").mkdir()
    return theme / "texts"


def test_texts_are_a_file_for_each_language(theme: Path, texts: Path) -> None:
    (texts / "de.yaml").write_text("continue: Los\nnum_left: {one: einer, other: '{num}'}")
    (texts / "en.yaml").write_text("")
    assert brand(theme, "color: '#0a7d55'").texts == {
        "de": {"continue": "Los", "num_left": {"one": "einer", "other": "{num}"}}
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: b\ncontinu: Go", "hazel/texts/en.yaml:2: continu: expected a key of a text; did you mean continue?"),
        (
            "a: b\nplaceholder.emial: x",
            "hazel/texts/en.yaml:2: placeholder.emial: expected placeholder. and the label of a field: email, username, ",
        ),
        ("a: b\ncontinue: 5", "hazel/texts/en.yaml:2: continue: expected text (put it in quotes); found 5"),
        ("a: b\ncontinue: [Go]", "hazel/texts/en.yaml:2: continue: expected text; found a list"),
        (
            "a: b\nnum_left:\n  on: x",
            "hazel/texts/en.yaml:3: num_left.on: expected one of zero, one, two, few, many, other",
        ),
        ("- Go", "hazel/texts/en.yaml:1: "),
        ("continue: &go Go", "hazel/texts/en.yaml:1: expected no anchors"),
        ("continue: Go\ncontinue: On", "hazel/texts/en.yaml:2: continue: "),
    ],
)
def test_unusable_text_is_named_with_file_and_line(theme: Path, texts: Path, text: str, expected: str) -> None:
    (texts / "en.yaml").write_text(text)
    with pytest.raises(ConfigurationError) as refused:
        brand(theme, "")
    assert any(str(found).startswith(expected) for found in refused.value.problems), refused.value


@pytest.mark.parametrize("name", ["fr.yaml", "en.yml", "en.json", "EN.yaml"])
def test_other_file_among_the_texts_is_refused(theme: Path, texts: Path, name: str) -> None:
    (texts / name).write_text("continue: Go")
    assert problem(theme, "") == f"hazel/texts/{name}:1: expected a file for each language: en.yaml, de.yaml, ar.yaml"


def test_texts_lie_within_the_folder(theme: Path, texts: Path) -> None:
    outside = theme.parent / "secret.yaml"
    outside.write_text("continue: Go")
    (texts / "en.yaml").symlink_to(outside)
    assert problem(theme, "").startswith("hazel/texts/en.yaml:1: expected a link within the theme folder")


def test_placeholders_are_among_the_texts(theme: Path, texts: Path) -> None:
    (texts / "de.yaml").write_text("placeholder.email: name@firma.example")
    assert brand(theme, "").texts == {"de": {"placeholder.email": "name@firma.example"}}


def test_texts_of_all_files_together_are_bounded(theme: Path, texts: Path) -> None:
    keys = [key for key, source in text_keys().current.items() if not source.plural and not source.placeholders]
    for tag in ("en", "de"):
        (texts / f"{tag}.yaml").write_text("".join(f"{key}: {'x' * 500}\n" for key in keys[:80]))
    assert "at most 64 kB of texts in all languages" in problem(theme, "")


def test_texts_are_in_one_place(theme: Path, texts: Path) -> None:
    (texts / "en.yaml").write_text("continue: Go")
    expected = "hazel/theme.yaml:1: texts: expected no texts here, because hazel/texts has them"
    assert problem(theme, "texts: {en: {continue: On}}") == expected


@pytest.fixture
def layouts(theme: Path) -> Path:
    (theme / "templates" / "layouts").mkdir(parents=True)
    return theme / "templates" / "layouts"


def test_layouts_are_files_of_the_folder(theme: Path, layouts: Path, texts: Path) -> None:
    source = '<p>{{ text("own.slogan") }}</p>{{ content() }}{{ footer() }}'
    (layouts / "split.html").write_text(source)
    (texts / "de.yaml").write_text("own.slogan: Frisch")
    assert brand(theme, "").templates == {"layouts/split.html": source}


def test_problem_of_a_layout_has_its_file_and_line(theme: Path, layouts: Path) -> None:
    (layouts / "split.html").write_text('{{ content() }}\n<p onclick="x">{{ text("own.slogan") }}</p>\n{{ footer() }}')
    with pytest.raises(ConfigurationError) as refused:
        brand(theme, "")
    assert {str(found) for found in refused.value.problems} == {
        f"hazel/templates/layouts/split.html:2: {KEY}; found own.slogan",
        "hazel/templates/layouts/split.html:2: expected no onclick: markup has no scripts",
    }


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("layouts/other.html", "layouts/console.html"),
        ("layouts/splits.html", "layouts/split.html"),
        ("pages/login.html", "pages/sign_in/login.html"),
        ("layouts/split.html.bak", "layouts/split.html"),
        ("a.txt", "layouts/split.html"),
    ],
)
def test_other_template_is_refused(theme: Path, layouts: Path, name: str, near: str) -> None:
    file = layouts.parent / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("x")
    expected = f"expected a template that a theme can replace, such as {near}"
    assert problem(theme, "") == f"hazel/templates/{name}:1: {expected}"


def test_unreadable_layout_is_refused(theme: Path, layouts: Path) -> None:
    (layouts / "split.html").write_bytes(b"\xff\xfe")
    assert problem(theme, "") == "hazel/templates/layouts/split.html:1: expected UTF-8 text"
    (layouts / "split.html").write_text("x" * 40_000)
    assert problem(theme, "") == "hazel/templates/layouts/split.html:1: expected at most 16 kB"
    (layouts / "split.html").unlink()
    (layouts / "split.html").symlink_to("/etc/hostname")
    assert "expected a link within the theme folder" in problem(theme, "")


def test_folder_without_its_file_is_refused(theme: Path) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read_folder.folder_of(theme)
    assert str(refused.value) == f"{theme}/theme.yaml:1: expected this file: every theme folder has it"


def test_layout_in_a_file_of_tenants_is_checked(tmp_path: Path) -> None:
    text = b"tenants:\n  - name: acme\n    brand:\n      templates:\n        layouts/split.html: '{{ footer() }}'\n"
    with pytest.raises(ConfigurationError) as refused:
        read(text, "f.yaml", tmp_path)
    (found,) = refused.value.problems
    expected = "line 1: expected {{ content() }}: The page itself: heading, form, errors and ways out."
    assert str(found) == f"f.yaml:5: tenants[0].brand.templates.layouts/split.html: {expected}"


@pytest.fixture
def sheet(theme: Path) -> Path:
    (theme / "static" / "css").mkdir(parents=True)
    return theme / "static" / "css" / "theme.css"


def test_style_sheet_is_a_file_of_the_folder(theme: Path, sheet: Path) -> None:
    sheet.write_text(".own-a { color: red }")
    assert brand(theme, "").css == ".own-a { color: red }"


def test_problem_of_a_style_sheet_has_its_file_and_line(theme: Path, sheet: Path) -> None:
    sheet.write_text(".own-a { color: red }\n.main { display: none }\n")
    assert problem(theme, "").startswith("hazel/static/css/theme.css:2: expected ")


def test_other_static_file_leads_to_the_folders_of_files(theme: Path, sheet: Path) -> None:
    sheet.with_name("logo.svg").write_text("<svg/>")
    assert problem(theme, "").startswith(
        "hazel/static/css/logo.svg:1: expected css/theme.css, img/NAME with the ending svg"
    )


def test_layout_keeps_the_page_out_of_what_its_style_sheet_hides(theme: Path, layouts: Path, sheet: Path) -> None:
    sheet.write_text(".own-hero { position: relative }\n.own-hero { display: none }")
    (layouts / "split.html").write_text('<div class="own-hero">\n{{ content() }}</div>{{ footer() }}')
    expected = (
        "expected content() outside of .own-hero, which may be hidden, covered or cut by static/css/theme.css, line 2: display: none: "
        "change that rule, or end the element before content()"
    )
    assert problem(theme, "") == f"hazel/templates/layouts/split.html:2: {expected}"


SHOPS = b"""tenants:
  - name: acme
    theme: hazel
    applications:
      - {name: Shop, client_id: shop-1, redirect_uris: ["https://shop.example/cb"]}
"""


def of_application(theme: Path, folder: str, text: str, file: bytes = SHOPS) -> Configuration:
    """Read a file whose theme folder has German texts in a folder below `texts/`."""
    (theme / "theme.yaml").write_text("color: '#0a7d55'")
    (theme / "texts" / folder).mkdir(parents=True)
    (theme / "texts" / folder / "de.yaml").write_text(text)
    return read(file, "f.yaml", theme.parent)


@pytest.mark.parametrize("folder", ["Shop", "shop-1"])
def test_texts_of_an_application_are_a_theme_of_it(theme: Path, folder: str) -> None:
    found = of_application(theme, folder, "continue: Los")
    (tenant,) = found.tenants
    assert found.brands["acme"].texts == {}
    (listed,) = getattr(tenant, "themes")  # noqa: B009 - resources add the key
    assert (listed.name, listed.brand.texts) == (folder, {"de": {"continue": "Los"}})
    assert [each.theme_name for each in tenant.applications or ()] == [folder]


@pytest.mark.parametrize(
    ("folder", "text", "file", "expected"),
    [
        ("desk", "continue: Los", SHOPS, "applications as the folder in texts/; found 'desk'"),
        ("Shop", "continu: Los", SHOPS, "hazel/texts/Shop/de.yaml:1: continu: expected a key of a text"),
        ("Shop", "a: [", SHOPS, "hazel/texts/Shop/de.yaml:2"),
        ("Shop", "continue: Los", SHOPS.replace(b'cb"]', b'cb"], theme_name: Sale'), "theme_name: expected none"),
        ("Shop", "continue: Los", SHOPS + b"    themes: [{name: Shop}]\n", "expected no theme Shop"),
    ],
)
def test_wrong_texts_of_an_application_are_refused(
    theme: Path, folder: str, text: str, file: bytes, expected: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        of_application(theme, folder, text, file)
    assert expected in str(refused.value)


def test_folder_within_that_of_an_application_is_refused(theme: Path) -> None:
    (theme / "texts" / "Shop" / "old").mkdir(parents=True)
    assert "hazel/texts/Shop/old:1: expected a file for each language" in problem(theme, "color: '#0a7d55'")
