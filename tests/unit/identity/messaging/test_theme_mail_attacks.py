"""Hostile mails of a theme: each is refused, with the file and the line."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from app.contract.tenants.branding import Brand
from app.contract.themes import theme_problems

REASON = "{{ content() }}{{ reason() }}"


def problems_of(name: str, source: str) -> list[str]:
    found = [*theme_problems.problems(Brand(templates={name: source}))]
    assert all(problem.path == ("templates", name) for problem in found)
    return [problem.sentence_with_line for problem in found]


def in_intro(markup: str) -> list[str]:
    return problems_of("mails/reset.html", f"{{% block intro %}}{markup}{{% endblock %}}")


@pytest.mark.parametrize(
    "markup",
    [
        "<script>alert(1)</script>",
        '<p onclick="alert(1)">x</p>',
        '<a href="javascript:alert(1)">x</a>',
        '<a href="JaVaScRiPt:alert(1)">x</a>',
        '<a href="&#106;avascript:alert(1)">x</a>',
        '<a href="data:text/html;base64,PHA+">x</a>',
        '<a href="http://eve.example/">x</a>',
        '<a href="//eve.example/">x</a>',
        '<a href="{{ email }}">x</a>',
        '<a href="{{ url }}">x</a>',
        '<a href="https://eve.example/?{{ email }}">x</a>',
        '<a href="https://eve.example/">{{ super() }}</a>',
        "{{ otp }}",
        "{{ token }}",
        "{{ has_code }}",
        '<img src="https://eve.example/pixel.gif" alt="">',
        '<img src="data:image/png;base64,AAAA" alt="">',
        '<img src="/theme/../login" alt="">',
        '<img src="/theme/{{ email }}.png" alt="">',
        '<table background="/theme/a.png"><tr><td>x</td></tr></table>',
        "<style>.card { display: none }</style>",
        '<base href="https://eve.example/">',
        '<form action="https://eve.example/"><b>x</b></form>',
        '<input name="password">',
        '<iframe src="https://eve.example/"></iframe>',
        '<meta http-equiv="refresh" content="0">',
        '<link rel="stylesheet" href="https://eve.example/a.css">',
        "<svg><title>x</title></svg>",
        "<!--[if mso]><p>x</p><![endif]-->",
        "<!-- x -->",
        "<p>",
        "</p>",
        "</td></tr></table>",
        "<table><p>x</p></table>",
        "<table>x</table>",
        "<table>{{ name }}</table>",
        "<td>x</td>",
        "{% for link in links %}{{ link.text }}{% endfor %}",
        "{{ ''.__class__ }}",
        "{{ name * 1000 }}",
        "{% include 'reset.html' %}",
        "{% extends layout %}",
        "{% set is_notice = true %}",
        "{{ super() }}{{ super() }}",
        '<div aria-hidden="true">{{ super() }}</div>',
        '<table width="1"><tr><td>{{ super() }}</td></tr></table>',
        '<div style="display:none">{{ super() }}</div>',
        '<div style="font-size:1px">{{ super() }}</div>',
        '<div style="width:1px">{{ super() }}</div>',
        '<p bgcolor="red">x</p>',
        '<p bgcolor="{{ name }}">x</p>',
        '<p class="none">x</p>',
        "x" * 17_000,
        "<div>" * 60 + "</div>" * 60,
    ],
)
def test_hostile_block_is_refused(markup: str) -> None:
    assert in_intro(markup)


@pytest.mark.parametrize(
    "style",
    [
        "background:url(https://eve.example/pixel.gif)",
        "background:url(/theme/a.png)",
        "background:u&#114;l(https://eve.example)",
        "background:u\\72l(https://eve.example)",
        "background-image:image-set('https://eve.example/a.png' 1x)",
        "color:red;behavior:url(a.htc)",
        "width:expression(alert(1))",
        "position:fixed",
        "position:absolute;top:0",
        "margin-top:-400px",
        "float:left",
        "opacity:0",
        "color:#123456 !important",
        "color:var(--ink)",
        "mso-hide:all",
        "color:red}p{display:none",
        "color:red;/*",
        "@import 'https://eve.example/a.css'",
        "-moz-binding:url(a)",
        "color:{{ name }}",
        "color:{% if name %}red{% endif %}",
        "font-family:'" + "a" * 700 + "'",
    ],
)
def test_hostile_style_is_refused(style: str) -> None:
    assert in_intro(f'<p style="{style}">x</p>')


@pytest.mark.parametrize("block", ["subject", "preheader", "action"])
@pytest.mark.parametrize(
    "source", ["<b>x</b>", "{{ super() }}<br>", "\x00", "\x1b[1m", "<!-- x -->", '<a href="/x">x</a>']
)
def test_text_block_has_no_markup_and_controls(block: str, source: str) -> None:
    assert problems_of("mails/reset.html", f"{{% block {block} %}}{source}{{% endblock %}}")


@pytest.mark.parametrize("block", ["heading", "lifetime", "asked", "stranger"])
@pytest.mark.parametrize("source", ["<p>x</p>", "<div>x</div>", "<table></table>", '<img src="/theme/a.png" alt="">'])
def test_sentence_has_no_paragraphs(block: str, source: str) -> None:
    assert problems_of("mails/reset.html", f"{{% block {block} %}}{source}{{% endblock %}}")


@pytest.mark.parametrize(
    "source",
    [
        "",
        "{{ content() }}",
        "{{ reason() }}",
        "{{ content() }}" + REASON,
        "{% if sentence %}{{ content() }}{% endif %}{{ reason() }}",
        '<div style="display:none">{{ reason() }}</div>{{ content() }}',
        '<div style="color:transparent">{{ reason() }}</div>{{ content() }}',
        "<p>{{ content() }}</p>{{ reason() }}",
        "<table><tr>{{ content() }}</tr></table>{{ reason() }}",
        "{% for link in links %}{% for each in links %}{{ content() }}{% endfor %}{% endfor %}{{ reason() }}",
        REASON + "{{ recipient }}",
        REASON + "{% block intro %}{% endblock %}",
    ],
)
def test_layout_cannot_lose_or_hide_the_mail(source: str) -> None:
    assert problems_of("mails/layout.html", source)


def test_problem_has_the_line_of_the_file() -> None:
    source = "{% block subject %}x{% endblock %}\n{% block intro %}\n<p>\n<b>x</p>\n{% endblock %}"

    assert {problem[:6] for problem in problems_of("mails/reset.html", source)} == {"line 4"}


def test_file_of_no_mail_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"such as mails/reset.html"):
        Brand(templates={"mails/resett.html": ""})
