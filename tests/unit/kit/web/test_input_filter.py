"""The input filter: which values are dangerous, in one pass over the text."""

import json

import pytest

from app.kit.text import input_filter

ACTIVE = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//x>",
    "Ada</script >",
    "<style>*{}",
    "<script",
    "<img src=x onerror=alert(1)>",
    '<img alt="<" onerror = alert(1)>',
    "<svg/onload=alert(1)>",
    "<a href='javascript:alert(1)'>Ada</a>",
    "<iframe\nsrcdoc=x>",
    "<base href=//x>",
    '<meta http-equiv="refresh" content=0>',
    "<p style=position:fixed>",
    "<svg><a><animate attributeName=href values=javascript:x>",
    "<\u017fcript>",  # a long s becomes an S in upper case
]
ORDINARY = [
    "I <3 you & them",
    "a < b && c > d",
    "if a<b then c>d",
    "x<y",
    "List<String> names = of()",
    "R&D <lab@example.com>",
    "<- back",
    "5<6<7",
    "see <link here>",
    "<https://example.com/?src=1&href=2>",
    "&lt;b&gt; &amp;",
    "JavaScript: The Good Parts",
    "onclick = 1",
    "href=x src=y",
    "<b>bold</b>",
    "scripted <scripture>",
    "\u202e <\u4e2d>",
]


@pytest.mark.parametrize("text", ACTIVE)
def test_markup_that_browsers_run_or_load_is_dangerous(text: str) -> None:
    assert input_filter.has_active_markup(text)
    for body in ({"FirstName": text}, {"A": [{"B": text}]}, {"CustomFields": {text: "x"}}):
        assert input_filter.is_dangerous(body, with_markup=True)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_not_dangerous(text: str) -> None:
    assert not input_filter.is_dangerous({"About": text}, with_markup=True)


@pytest.mark.parametrize(
    "name",
    ["password", "NewPassword", "confirm_password", "client_secret", "securityanswer", "PIN", "oldpin", "new_pin"],
)
def test_secrets_are_not_searched_for_markup(name: str) -> None:
    for text in ACTIVE:
        assert not input_filter.is_dangerous({name: text}, with_markup=True)
        assert not input_filter.is_dangerous({name: {"q1": [text]}}, with_markup=True)
    assert input_filter.is_dangerous({name: "a\x00b"}, with_markup=True)


@pytest.mark.parametrize("name", ["Spinner", "Shipping", "passenger"])
def test_name_similar_to_a_secret_field_is_searched(name: str) -> None:
    assert input_filter.is_dangerous({name: ACTIVE[0]}, with_markup=True)


@pytest.mark.parametrize(
    "piece", ["<a ", "<a on", "<a onaaaa ", "<a/src", "<", "<script", " onx   ", '"on', "</", "<a href \t\n"]
)
def test_hostile_text_of_a_megabyte_is_read_in_one_pass(piece: str) -> None:
    text = "<a" + piece * (1_000_000 // len(piece)) + "!"
    assert (
        not input_filter.has_active_markup(text) or "script" in piece
    )  # were it quadratic, the test would not come back


@pytest.mark.parametrize(
    "character", [chr(number) for number in range(32) if chr(number) not in "\t\n\r"] + ["\x7f", "\ud800"], ids=ascii
)
def test_control_character_is_found_however_it_is_written(character: str) -> None:
    texts = {json.dumps({"A": character}), json.dumps({"A": character}, ensure_ascii=not character.isascii())}
    texts |= {text.replace("\\ud", "\\uD") for text in texts}
    for text in texts:
        assert input_filter.may_be_dangerous(text.encode("utf-8", "surrogatepass"))
    assert input_filter.are_fields_dangerous([("A", "b"), ("C", f"d{character}")], with_markup=False)
    assert input_filter.are_fields_dangerous([("A", "b"), (f"C{character}", "d")], with_markup=False)


@pytest.mark.parametrize("text", [*ACTIVE, *ORDINARY])
def test_fields_together_are_as_dangerous_as_each(text: str) -> None:
    for field in (("FirstName", text), (text, "x"), ("password", text)):
        is_dangerous = input_filter.is_dangerous(dict([field]), with_markup=True)
        assert input_filter.are_fields_dangerous([("A", "<"), field], with_markup=True) is is_dangerous
        assert not input_filter.are_fields_dangerous([("A", "<"), field], with_markup=False)
