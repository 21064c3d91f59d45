"""Templates of tenants: what the language refuses, with the line, and what it accepts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.contract.themes.part_templates import PARTS
from app.kit.templating.compiled import CompiledTemplate
from app.kit.templating.contract import ClassEffects, Dialect, Items, Part, TemplateContract, Value, ValueKind
from app.kit.templating.language import MAX_PROBLEMS, problems
from app.kit.templating.page_classes import OF_LAYOUTS, OF_TEMPLATES, UNPRINTED
from app.kit.templating.page_markup import LINE, REPEATED, WITHIN

CONTRACT = TemplateContract(
    values={
        "name": Value(ValueKind.TEXT, "The tenant's name"),
        "has_scene": Value(ValueKind.FLAG, "Whether there is a scene"),
        "home": Value(ValueKind.ADDRESS, "The application's address"),
        "links": Items(
            {"text": Value(ValueKind.TEXT, "Its text"), "address": Value(ValueKind.ADDRESS, "Its address")}, "The links"
        ),
    },
    parts={
        "content": Part("the page itself", is_required=True),
        "mark": Part("the logo and the name"),
        "footer": Part("languages and links"),
        "languages": Part("links to the other languages", is_required=True),
    },
    instead={"languages": frozenset({"footer"})},
)
EFFECTS = ClassEffects(frozenset({"own-hero"}), frozenset({"own-cover"}))
REST = "{{ content() }}{{ footer() }}"


def found(source: str, *, rest: str = REST) -> list[str]:
    known = {"hello", "own.slogan"}
    return [f"{each.line}: {each.sentence}" for each in problems(source + rest, CONTRACT, known.__contains__, EFFECTS)]


ACCEPTED = [
    "",
    '<div class="own-a card"><p>{{ name }}</p></div>',
    '<p title="{{ name | upper }}">&copy; {{ name }} &amp; 5 > 4</p>',
    '{# a comment #}<img src="/theme/logo.svg" alt="" width="20" height="20" loading="lazy">',
    '<a href="https://acme.example/?a=1&amp;b=2" target="_blank" rel="noopener">x</a>',
    '<a href="{{ home }}">{{ text("hello") }} {{ text(\'own.slogan\') }}</a>',
    '{% if has_scene and not name == "Acme" %}<p>a</p>{% elif name %}<p>b</p>{% else %}<p>c</p>{% endif %}',
    '<ul>{% for link in links %}<li><a href="{{ link.address }}">{{ link.text }}</a></li>{% endfor %}</ul>',
    '<p class="own-a{% if has_scene %} own-b{% endif %}">x</p>',
    '<svg viewBox="0 0 2 2" aria-hidden="true"><path d="M0 0h2" fill="currentColor"/></svg>',
    '<svg><defs><linearGradient id="own-a"><stop offset=".5" stop-color="#fff"/></linearGradient></defs><g fill="url(#own-a)"/></svg>',
    '<svg><clipPath id="own-a"><circle r="2"/></clipPath><path clip-path="url(#own-a)" stroke-dasharray="4 2" opacity=".5"/></svg>',
    '<br><hr>{{ "a" if has_scene else name }}',
    "<details open><summary>a</summary><p>b</p></details>",
    '<h2 id="own-title">a</h2><section aria-labelledby="own-title">b</section>',
    "<p>\n</p>" * 200,
]


@pytest.mark.parametrize("source", ACCEPTED)
def test_plain_template_is_accepted(source: str) -> None:
    assert found(source) == []


HIDDEN = (
    "expected mark() outside of .own-hero, which may be hidden, covered or cut by the theme’s css: "
    "change that rule, or end the element before mark()"
)
STORES = "expected no {% set %}: a template stores nothing"
NOTHING = "expected a value of the view, a part or a text; a template calculates nothing"
WHOLE = "expected complete elements within a condition or a loop: each ends where it began"
OUTSIDE = "expected mark() within aside, div, footer, header, nav, section alone"
BETWEEN = "expected loops between elements, and conditions there or within the quotes of an attribute"
REFUSED = [
    # what runs long or large
    ("{{ 9 ** 9 ** 9 }}", NOTHING),
    ("{{ 'a' * 1000000000 }}", NOTHING),
    ("{{ name ~ name }}", NOTHING),
    ("{{ [name, name] }}", NOTHING),
    ("{{ (name, name) }}", NOTHING),
    ("{{ {'a': name} }}", NOTHING),
    ("{{ 5 }}", NOTHING),
    ("{{ -name }}", NOTHING),
    ("{{ name[0] }}", NOTHING),
    ("{{ name is defined }}", NOTHING),
    ("{% set x = name %}", STORES),
    ("{% set x %}{{ name }}{% endset %}", STORES),
    ("{% macro a() %}{{ a() }}{% endmacro %}", "expected no {% macro %}: write the markup where it stands"),
    ("{% for x in range(9) %}{% endfor %}", "expected a loop over a list of the view: links"),
    ("{% for x in name %}{% endfor %}", "expected a loop over a list of the view: links"),
    ("{% for x in [1] %}{% endfor %}", "expected a loop over a list of the view: links"),
    ("{% for x in links recursive %}{% endfor %}", "expected {% for NAME in LIST %} alone: without if, recursive and else"),
    ("{% for x in links if x.text %}{% endfor %}", "expected {% for NAME in LIST %} alone: without if, recursive and else"),
    ("{% for x, y in links %}{% endfor %}", "expected {% for NAME in LIST %} alone: without if, recursive and else"),
    ("{% for name in links %}{% endfor %}", "expected another name than name, which the view has"),
    (
        "{% for a in links %}{% for b in links %}{% for c in links %}{% endfor %}{% endfor %}{% endfor %}",
        "expected at most 2 loops within each other",
    ),
    ("{% if has_scene %}" * 30 + "{% endif %}" * 30, "expected at most 20 conditions within each other"),
    ("{{ name | center(99999999) }}", "expected one of the filters capitalize, lower, title, upper, without arguments; found center"),
    ("{{ name | upper(1) }}", "expected one of the filters capitalize, lower, title, upper, without arguments; found upper"),
    ("{{ name | replace('a', name) }}", "expected one of the filters capitalize, lower, title, upper, without arguments; found replace"),
    ("{{ name | safe }}", "expected one of the filters capitalize, lower, title, upper, without arguments; found safe"),
    ("{{ name | attr('__class__') }}", "expected one of the filters capitalize, lower, title, upper, without arguments; found attr"),
    ("{% filter upper %}x{% endfilter %}", "expected no {% filter %}"),
    ("x" * 17_000, "expected at most 16 kB; found 17 kB"),
    ("{{ " + "(" * 3000 + "name" + ")" * 3000 + " }}", "expected at most 20 levels within each other"),
    ("{{ name" + " | upper" * 9 + " }}", "expected at most 8 filters and conditions in one value"),
    ("{{ name" + "|upper" * 2500 + " }}", "expected at most 8 filters and conditions in one value"),
    ("{{ " + "name if name else " * 900 + "name }}", "expected at most 8 filters and conditions in one value"),
    ("{% if " + "not " * 3000 + "name %}{% endif %}", "expected at most 20 levels within each other"),
    ("{% if " + "not " * 30 + "name %}{% endif %}", "expected at most 20 levels of a condition"),
    # what leads out of the view
    ("{{ name.__class__ }}", "expected a name of the view, or a member of a loop's item"),
    ("{{ name.upper() }}", "expected parts alone between {{ and }}, and texts as text(\"key\")"),
    ("{{ config }}", "expected a value of the view; found config: name, has_scene, home, links"),
    ("{{ self }}", "expected a value of the view; found self: name, has_scene, home, links"),
    ("{{ nam }}", "expected a value of the view; found nam; did you mean name?"),
    ("{{ loop.index }}", "expected a name of the view, or a member of a loop's item"),
    ("{% for a in links %}{{ a.__init__ }}{% endfor %}", "expected a value of the view; found a.__init__: a.text, a.address"),
    ("{% for a in links %}{{ a }}{% endfor %}", "expected a value of the view; found a: name, has_scene, home, links"),
    ("{{ links }}", "expected a value of the view; found links: name, has_scene, home, links"),
    ("{{ has_scene }}", "expected a text to show: this value is for conditions"),
    ("{{ marc() }}", "expected one of content(), mark(), footer(), languages(), text(\"key\"); found marc(); did you mean mark()?"),
    ("{{ mark(1) }}", "expected mark() without arguments"),
    ("{{ mark(**links) }}", "expected mark() without arguments"),
    ("{{ text(name) }}", "expected a key in quotes: text(\"key\")"),
    ("{{ text('zzz') }}", "expected the key of a text without plural forms, or of a text of the theme that begins with own.; found zzz"),
    ("{% include 'pages/login.html' %}", "expected no {% include %}: a template is one file"),
    ("{% import 'a' as b %}", "expected no {% import %}: a template is one file"),
    ("{% from 'a' import b %}", "expected no {% from %}: a template is one file"),
    ("{% extends 'a' %}", "expected no {% extends %}: the file replaces the built-in one, or its blocks"),
    ("{% block a %}{% endblock %}", "expected no {% block %} here: a layout has none, and those of a page stand beside each other"),
    ("{% call mark() %}{% endcall %}", "expected no {% call %}"),
    ("{% if name in links %}{% endif %}", "expected a comparison of one name with one word: name == \"word\""),
    ("{% if name == name %}{% endif %}", "expected a comparison of one name with one word: name == \"word\""),
    ("{% if name|upper %}{% endif %}", "expected a condition of names, not, and, or, == and !="),
    ("{% if mark() %}{% endif %}", "expected a condition of names, not, and, or, == and !="),
    ("{{ name ", "expected valid Jinja: expected token 'end of print statement', got '{'"),
    ("{% debug %}", "expected valid Jinja: Encountered unknown tag 'debug'."),
    ("{% autoescape false %}{{ name }}{% endautoescape %}", "expected no {% autoescape %}: values are always escaped"),
    ("a\x00b", "expected text without control characters"),
    # what runs, sends, covers or breaks the page
    ("<script>alert(1)</script>", "expected no <script>: name the script in scripts of theme.yaml, where the operator allows its origin"),
    ("<SCRIPT>", "expected an element that themes may use; found <SCRIPT>"),
    ("<DIV></DIV>", "expected an element that themes may use; found <DIV> (names are in lower case)"),
    ("<style>a{}</style>", "expected no <style>: put rules into the theme's css"),
    ("<form action=\"https://evil.example\">", "expected no <form>: the page has its own"),
    ("<input name=\"password\">", "expected no <input>: the page has its own fields"),
    ("<iframe src=\"https://evil.example\">", "expected an element that themes may use; found <iframe>"),
    ("<base href=\"https://evil.example\">", "expected an element that themes may use; found <base>"),
    ("<meta>", "expected an element that themes may use; found <meta>"),
    ("<template>", "expected an element that themes may use; found <template>"),
    ("<math>", "expected an element that themes may use; found <math>"),
    ("<svg><foreignObject></foreignObject></svg>", "expected an element that themes may use; found <foreignObject>"),
    ("<svg><use href=\"/theme/a.svg\"/></svg>", "expected the shapes themselves; themes have no <use> and no <symbol>"),
    ("<svg><p>a</p></svg>", "expected shapes alone within <svg>; found <p>"),
    ("<svg><svg></svg></svg>", "expected shapes alone within <svg>; found <svg>"),
    ("<title>a</title>", "expected <title> within <svg>"),
    ("<path d=\"M0 0\"/>", "expected <path> within <svg>"),
    ("<h1>a</h1>", "expected no <h1>: each page has its own; use <h2>"),
    ("<p onclick=\"alert(1)\">", "expected no onclick: markup has no scripts"),
    ("<p ONCLICK=\"alert(1)\">", "expected no ONCLICK: markup has no scripts"),
    ("<p style=\"position:fixed\">", "expected no style attribute: put rules into the theme's css"),
    ("<p data-busy=\"x\">", "expected an attribute that <p> may have; found data-busy"),
    ("<p slot=\"x\">", "expected an attribute that <p> may have; found slot"),
    ("<p name=\"x\">", "expected an attribute that <p> may have; found name"),
    ("<p class=a>", "expected double quotes: class=\"…\""),
    ("<p class='a'>", "expected double quotes: class=\"…\""),
    ("<p class={{ name }}>", "expected double quotes: class=\"…\""),
    ("<p {{ name }}>", "expected values in text or within the quotes of an attribute"),
    ("<{{ name }}>", "expected &lt; for a < that begins no tag"),
    ("<p class=\"a\" class=\"b\">x</p>", "expected class once in <p>"),
    ("<p class=\"a<b\">", "expected the closing \" of class before a <"),
    ("<!-- a -->", "expected comments as {# … #}"),
    ("<!doctype html>", "expected comments as {# … #}"),
    ("<?php ?>", "expected &lt; for a < that begins no tag"),
    ("a < b", "expected &lt; for a < that begins no tag"),
    ("<a href=\"javascript:alert(1)\">x</a>", "expected an https address, /path, mailto:, tel: or #own-id as href"),
    ("<a href=\"JavaScript:alert(1)\">x</a>", "expected an https address, /path, mailto:, tel: or #own-id as href"),
    ("<a href=\"//evil.example\">x</a>", "expected an https address, /path, mailto:, tel: or #own-id as href"),
    ("<a href=\"/\\evil.example\">x</a>", "expected an https address, /path, mailto:, tel: or #own-id as href"),
    ("<a href=\"java&#115;cript:1\">x</a>", "expected an https address, /path, mailto:, tel: or #own-id as href"),
    ("<a href=\"{{ name }}\">x</a>", "expected an address of the view alone as href, or a fixed one"),
    ("<a href=\"/a?{{ home }}\">x</a>", "expected an address of the view alone as href, or a fixed one"),
    ("<a href=\"{% if has_scene %}/a{% endif %}javascript:1\">x</a>", "expected href without a condition within its quotes"),
    ("<a href=\"{% if has_scene %}/a\" title=\"{% endif %}javascript:1\">x</a>", WHOLE),
    ("<p {% if has_scene %}class=\"a\"{% endif %}>x</p>", BETWEEN),
    ("<p class=\"{% for a in links %}b{% endfor %}\">x</p>", BETWEEN),
    ("<img src=\"https://evil.example/a.png\">", "expected a file of the tenant such as img/logo.svg as src"),
    ("<img src=\"/theme/../a.png\">", "expected a file of the tenant such as img/logo.svg as src"),
    ("<img src=\"data:image/svg+xml,x\">", "expected a file of the tenant such as img/logo.svg as src"),
    ("<img src=\"{{ home }}\">", "expected an address of the view alone as src, or a fixed one"),
    ("<p id=\"password\">x</p>", "expected an id of its own that begins with own-"),
    ("<p id=\"own-a\">x</p><p id=\"own-a\">x</p>", "expected an id of its own that begins with own-"),
    ("<p id=\"own-{{ name }}\">x</p>", "expected an id of its own that begins with own-"),
    ("<a target=\"_top\">x</a>", "expected one of _blank for target; found '_top'"),
    ("<div>", "expected </div> for this <div>"),
    ("</div>", "expected no end without a beginning; found </div>"),
    ("<div><p></div></p>", "expected </p> first; found </div>"),
    ("<div/>", "expected <div></div>: browsers ignore the / at its end"),
    ("{% if has_scene %}<div>{% endif %}</div>", WHOLE),
    ("<div>{% if has_scene %}</div><div>{% endif %}</div>", "expected no end without a beginning; found </div>"),
    ("<div>" * 41 + "</div>" * 41, "expected at most 40 elements within each other"),
    ("<a href=\"/\">{{ mark() }}</a>", OUTSIDE),
    ("<p title=\"{{ mark() }}\">x</p>", "expected mark() between elements, because it is markup"),
    ("<details><summary>a</summary>{{ mark() }}</details>", OUTSIDE),
    ("<small>{{ mark() }}</small>", OUTSIDE),
    ("<ul><li>{{ mark() }}</li></ul>", OUTSIDE),
    ("<div role=\"img\">{{ mark() }}</div>", "expected mark() outside of elements with aria-hidden or role"),
    ("<div aria-hidden=\"true\"><section>{{ mark() }}</section></div>", "expected mark() outside of elements with aria-hidden or role"),
    ("<div class=\"unseen\">x</div>", f"expected classes that begin with own-, or one of {', '.join(sorted(OF_TEMPLATES))}; found unseen"),
    ("<div class=\"scene\">x</div>", f"expected classes that begin with own-, or one of {', '.join(sorted(OF_TEMPLATES))}; found scene"),
    ("<p class=\"{{ name }}\">x</p>", "expected class names as they are, with conditions where they differ"),
    ("<div class=\"own-hero\"><div>{{ mark() }}</div></div>", HIDDEN),
    ("{% for a in links %}{{ mark() }}{% endfor %}", "expected mark() outside of loops"),
    ("{{ mark() }}{{ mark() }}", "expected mark() at most once on each way through the conditions"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "sentence"), REFUSED)
def test_template_is_refused_with_what_is_expected(source: str, sentence: str) -> None:
    assert f"1: {sentence}" in found(source)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("{{ footer() }}", "1: expected {{ content() }}: the page itself"),
        ("{{ content() }}", "1: expected {{ languages() }}, or footer() in its place: links to the other languages"),
        ("{% if has_scene %}{{ content() }}{% endif %}{{ footer() }}", "1: expected {{ content() }}: the page itself"),
        ("{{ content() }}{{ footer() }}{{ languages() }}", "1: expected languages() or footer(), not both"),
        (
            "{{ content() }}{% if has_scene %}{{ content() }}{% endif %}{{ footer() }}",
            "1: expected content() at most once on each way through the conditions",
        ),
    ],
)  # fmt: skip
def test_required_parts_stand_once_in_each_branch(source: str, sentence: str) -> None:
    assert sentence in found(source, rest="")


@pytest.mark.parametrize(
    "source",
    [
        "{% if has_scene %}{{ content() }}{% else %}<div>{{ content() }}</div>{% endif %}{{ languages() }}",
        "{{ content() }}{% if has_scene %}{{ footer() }}{% else %}{{ footer() }}{% endif %}",
    ],
)
def test_required_part_may_stand_in_either_branch(source: str) -> None:
    assert found(source, rest="") == []


def test_unfinished_tag_is_refused() -> None:
    assert "1: expected the end of the tag <p" in found("<p", rest="")


def test_problem_has_its_line() -> None:
    assert found('<p>\n{{ nam }}\n</p>\n<p\n  class="own-a"\n  onclick="b">') == [
        "2: expected a value of the view; found nam; did you mean name?",
        "6: expected no onclick: markup has no scripts",
    ]


def test_every_accepted_template_compiles() -> None:
    deepest = "{% if has_scene %}" * 20 + "{{ name" + " | upper" * 8 + " }}" + "{% endif %}" * 20
    longest = "{% if has_scene %}a{% elif name %}b" + "{% elif name %}c" * 290 + "{% endif %}"
    condition = "{% if " + "not (" * 19 + "name" + ")" * 19 + " %}x{% endif %}"
    for source in (*ACCEPTED, deepest, longest, condition):
        assert found(source) == []
        CompiledTemplate(source + REST, CONTRACT)


PRESENT = TemplateContract(
    values={
        name: Value(ValueKind.FLAG, "Whether the part has anything") for name in ("has_more", "has_mark", "has_nothing")
    },
    parts={"more": Part("other ways", is_required=True), "mark": Part("the logo")},
)


@pytest.mark.parametrize(
    ("source", "is_accepted"),
    [
        ("{{ more() }}", True),
        ("{% if has_more %}<div>{{ more() }}</div>{% endif %}", True),
        ("{% if has_more %}{{ more() }}{% else %}{{ mark() }}{% endif %}", True),
        ("{% if has_more %}{{ more() }}{% elif has_mark %}{{ mark() }}{% endif %}", True),
        ("{% if has_mark %}{{ more() }}{% endif %}", False),
        ("{% if has_mark %}{{ mark() }}{% elif has_more %}{{ more() }}{% endif %}", False),
        ("{% if has_more %}<p>x</p>{% endif %}", False),
        ("{% if not has_more %}{{ more() }}{% endif %}", False),
        ("{% if has_more and has_mark %}{{ more() }}{% endif %}", False),
        ("{% if has_more %}{{ more() }}{% endif %}{{ more() }}", False),
        ("{% if has_nothing %}{{ more() }}{% endif %}", False),
    ],
)
def test_empty_part_may_be_left_out(source: str, is_accepted: bool) -> None:
    assert (not problems(source, PRESENT, lambda _: True)) == is_accepted


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("text('sign_in_to_name', name=name)", None),
        ("text('sign_in_to_name', name=name | upper)", None),
        ("text('sign_in_to_name', name='Acme')", None),
        ("text('sign_in_to_name')", "expected text('sign_in_to_name', name=…), with a value for each placeholder"),
        (
            "text('sign_in_to_name', other=name)",
            "expected text('sign_in_to_name', name=…), with a value for each placeholder",
        ),
        ("text('create_account', name=name)", "expected text('create_account'), with a value for each placeholder"),
        ("text('sign_in_to_name', name=has_scene)", "expected a text to show: this value is for conditions"),
        (
            "text('sign_in_to_name', name=name ~ name)",
            "expected a value of the view, a part or a text; a template calculates nothing",
        ),
        ("text('sign_in_to_name', **links)", 'expected parts alone between {{ and }}, and texts as text("key")'),
    ],
)
def test_text_has_the_values_of_its_placeholders(call: str, sentence: str | None) -> None:
    got = [each.sentence for each in problems(f"<p>{{{{ {call} }}}}</p>{REST}", CONTRACT, lambda _: True)]
    assert got == ([sentence] if sentence else [])


def test_element_that_may_cover_the_page_is_for_layouts_alone() -> None:
    source = '<div class="own-cover"></div>{{ content() }}{{ footer() }}'
    within = replace(CONTRACT, is_within_page=True)
    assert problems(source, CONTRACT, lambda _: True, EFFECTS) == []
    (problem,) = problems(source, within, lambda _: True, EFFECTS)
    assert problem.sentence.startswith(
        "expected no .own-cover here, which may be placed over the page by the theme’s css"
    )


@pytest.mark.parametrize("name", sorted(UNPRINTED))
def test_content_stands_where_it_is_printed(name: str) -> None:
    around = f'<div class="{name}">{{{{ footer() }}}}</div>{{{{ content() }}}}'
    assert problems(around, CONTRACT, lambda _: True) == []
    (problem,) = problems(
        f'{{{{ footer() }}}}<div class="{name}"><p>a</p>{{{{ content() }}}}</div>', CONTRACT, lambda _: True
    )
    assert problem.sentence == (
        f"expected content() outside of .{name}, which isn’t printed: end the element before content()"
    )
    for dialect in (WITHIN, REPEATED):
        within = replace(CONTRACT, dialect=dialect, is_within_page=True)
        assert "footer() outside of" in problems(around, within, lambda _: True)[0].sentence


@pytest.mark.parametrize("name", sorted(OF_LAYOUTS))
@pytest.mark.parametrize("dialect", [WITHIN, REPEATED, LINE])
def test_classes_of_layouts_are_for_layouts_alone(name: str, dialect: Dialect) -> None:
    source = f'<span class="{name}">a</span>{REST}'
    assert problems(source, CONTRACT, lambda _: True) == []
    (problem,) = problems(source, replace(CONTRACT, dialect=dialect), lambda _: True)
    assert problem.sentence.endswith(f"found {name}, which is for layouts alone")


def test_class_of_a_part_holds_that_part_alone() -> None:
    contract = TemplateContract({}, {"beside": Part("b"), "label": Part("l", is_required=True)}, dialect=REPEATED)
    held = '{{ label() }}<div class="top"><div class="beside">{{ beside() }}</div></div>'
    assert problems(held, contract, lambda _: True) == []
    (problem,) = problems('<div class="beside">{{ label() }}</div>', contract, lambda _: True)
    assert problem.sentence == "expected beside() alone within .beside: end the element before label()"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("{{ label() }}{{ control() }}{{ note() }}{{ beside() }}", None),
        ("<div><span>{{ label() }}{{ beside() }}</span>{{ problem() }}</div>{{ control() }}{{ hint() }}", None),
        ("{{ label() }}{{ control() }}{{ hint() }}{{ beside() }}", "{{ problem() }}, or note() in its place"),
        ("{{ label() }}{{ problem() }}{{ control() }}{{ note() }}{{ beside() }}", "problem() or note(), not both"),
        ("{{ label() }}<span>{{ control() }}</span>{{ note() }}{{ beside() }}", "control() within aside, div"),
    ],
)
def test_field_has_its_error_by_itself_or_in_the_note(source: str, sentence: str | None) -> None:
    got = [each.sentence for each in problems(source, PARTS["macros/field.html"], lambda _: True)]
    assert len(got) == (0 if sentence is None else 1)
    assert all(each.startswith(f"expected {sentence}") for each in got)


def test_part_stands_within_one_small_alone() -> None:
    contract = TemplateContract({}, {"hint": Part("h", is_required=True)}, dialect=LINE)
    assert problems("<small>{{ hint() }}</small>", contract, lambda _: True) == []
    (problem,) = problems("<small><b><small>{{ hint() }}</small></b></small>", contract, lambda _: True)
    assert problem.sentence == "expected hint() within one <small> alone"


def test_problems_of_a_template_are_bounded() -> None:
    source = "\n".join(f"{{{{ a{number} }}}}" for number in range(300))
    assert len(problems(source, CONTRACT, lambda _: True)) == MAX_PROBLEMS
