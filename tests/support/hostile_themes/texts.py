"""Texts and mails of themes that carry markup, headers or placeholders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.hostile_themes.hostile_theme import DE, RESET, HostileTheme, in_mail

# fmt: off
TEXTS: Final[Mapping[str, HostileTheme]] = {
    "markup in a text": HostileTheme({DE: 'sign_in: "<script>alert(1)</script>"'}),
    "attribute in a text": HostileTheme({DE: "sign_in: '\" onmouseover=\"alert(1)'"}),
    "Jinja in a text": HostileTheme({DE: "sign_in: \"{{ ''.__class__ }}\""}),
    "format attribute in a text": HostileTheme(
        {DE: 'sign_in_to_name: "{name.__class__.__mro__}"'},
        problem="texts/de.yaml:1: sign_in_to_name: expected only the placeholders {name}",
    ),
    "format index in a text": HostileTheme(
        {DE: 'sign_in_to_name: "{name[0]}"'},
        problem="texts/de.yaml:1: sign_in_to_name: expected only the placeholders {name}",
    ),
    "format width in a text": HostileTheme(
        {DE: 'sign_in_to_name: "{name:>999999999}"'},
        problem="texts/de.yaml:1: sign_in_to_name: expected placeholders with a name alone, such as {name}",
    ),
    "conversion in a text": HostileTheme(
        {DE: 'sign_in_to_name: "{name!r}"'},
        problem="texts/de.yaml:1: sign_in_to_name: expected placeholders with a name alone, such as {name}",
    ),
    "positional placeholder": HostileTheme(
        {DE: 'sign_in_to_name: "{0}"'},
        problem="texts/de.yaml:1: sign_in_to_name: expected only the placeholders {name}",
    ),
    "empty placeholder": HostileTheme(
        {DE: 'sign_in_to_name: "{}"'},
        problem="texts/de.yaml:1: sign_in_to_name: expected only the placeholders {name}",
    ),
    "placeholder in a placeholder": HostileTheme(
        {DE: 'sign_in_to_name: "{name:{name}}"'},
        problem="texts/de.yaml:1: sign_in_to_name: expected placeholders with a name alone, such as {name}",
    ),
    "percent of a text": HostileTheme({DE: 'sign_in_to_name: "%(secret)s {name} %n %s"'}),
    "strange placeholder": HostileTheme(
        {DE: 'sign_in_to_name: "{password}"'},
        problem="texts/de.yaml:1: sign_in_to_name: expected only the placeholders {name}",
    ),
    "lost placeholder": HostileTheme(
        {DE: 'your_sign_in_code_is: "Hallo"'},
        problem="texts/de.yaml:1: your_sign_in_code_is: expected a key of a text; did you mean youre_signed_in?",
    ),
    "unclosed placeholder": HostileTheme(
        {DE: 'sign_in_to_name: "{name"'},
        problem="texts/de.yaml:1: sign_in_to_name: expected each { with its }; write {{ or }} for a brace itself",
    ),
    "plural where none is": HostileTheme(
        {DE: "sign_in: {one: a, other: b}"},
        problem="texts/de.yaml:1: sign_in: expected a text, because it has no plural forms",
    ),
    "plural of another language": HostileTheme(
        {DE: "n_days: {zero: a, two: b, other: c}"},
        problem="texts/de.yaml:1: n_days: expected a key of a text; did you mean num_day?",
    ),
    "plural unknown": HostileTheme(
        {DE: "sign_in: {eleven: a}"},
        problem="texts/de.yaml:1: sign_in.eleven: expected one of zero, one, two, few, many, other",
    ),
    "key that no page has": HostileTheme(
        {DE: "sign_inn: x"},
        problem="texts/de.yaml:1: sign_inn: expected a key of a text; did you mean sign_in?",
    ),
    "key with markup": HostileTheme({DE: "'<b>': x"}, problem="texts/de.yaml:1: <b>: expected a key of a text"),
    "key of own markup": HostileTheme({DE: "own.<b>: x"}, problem="texts/de.yaml:1: own.<b>: expected a key of a text"),
    "text with NUL": HostileTheme(
        {DE: 'sign_in: "a\\0b"'},
        problem="texts/de.yaml:1: expected text without NUL characters or lone surrogates",
    ),
    "text with a line break": HostileTheme(
        {DE: 'sign_in: "a\\r\\nBcc: eve@example.com"'},
        problem="texts/de.yaml:1: sign_in: expected one line without control characters",
    ),
    "text with a bell": HostileTheme(
        {DE: 'sign_in: "a\\ab"'},
        problem="texts/de.yaml:1: sign_in: expected one line without control characters",
    ),
    "text with a lone surrogate": HostileTheme(
        {DE: 'sign_in: "\\ud800"'},
        problem="texts/de.yaml:1: expected valid YAML",
    ),
    "text with a bidi override": HostileTheme(
        {DE: 'sign_in: "a\\u202Egnp.exe"'},
        problem="texts/de.yaml:1: sign_in: expected one line without control characters",
    ),
    "text with a line separator": HostileTheme(
        {DE: 'sign_in: "a\\u2028b"'},
        problem="texts/de.yaml:1: sign_in: expected one line without control characters",
    ),
    "text of thousands of characters": HostileTheme(
        {DE: f"sign_in: {'x' * 5_000}"},
        problem="texts/de.yaml:1: sign_in: expected at most 600 characters",
    ),
    "text of nothing": HostileTheme(
        {DE: 'sign_in: " "'},
        problem="texts/de.yaml:1: sign_in: expected a text that isn’t empty",
    ),
    "text of unseen characters": HostileTheme(
        {DE: 'sign_in: "\\u200B\\u200B"'},
        problem="texts/de.yaml:1: sign_in: expected a text that isn’t empty",
    ),
    "text as a number": HostileTheme(
        {DE: "sign_in: 5"},
        problem="texts/de.yaml:1: sign_in: expected text (put it in quotes)",
    ),
    "text as a list": HostileTheme({DE: "sign_in: [a]"}, problem="texts/de.yaml:1: sign_in: expected text"),
    "texts as a list": HostileTheme({DE: "[a, b]"}, problem="texts/de.yaml:1: expected keys with values"),
    "10,000 keys": HostileTheme(
        {DE: "".join(f"own.k{n}: text {n}\n" for n in range(10_000))},
        problem="texts/de.yaml:1: expected at most 128 kB",
    ),
    "10,000 strange keys": HostileTheme(
        {DE: "".join(f"sign_in_{n}: x\n" for n in range(10_000))},
        problem="texts/de.yaml:1: expected at most 128 kB",
    ),
    "language that we lack": HostileTheme(
        {"texts/xx.yaml": "sign_in: x"},
        problem="texts/xx.yaml:1: expected a file for each language: en.yaml, de.yaml, ar.yaml",
    ),
    "language with two dots": HostileTheme(
        {"texts/..yaml": "sign_in: x"},  # names that begin with a dot are not read
    ),
    "application of markup": HostileTheme({"texts/<b>/de.yaml": "sign_in: x"}),
    "texts of many applications": HostileTheme({f"texts/app-{n}/de.yaml": "sign_in: x" for n in range(200)}),
}
MAILS: Final[Mapping[str, HostileTheme]] = {
    "script": HostileTheme(
        in_mail("intro", "<script>alert(1)</script>"),
        problem="templates/mails/reset.html:2: expected an element that themes may use",
    ),
    "header in the subject": HostileTheme(in_mail("subject", "a\r\nBcc: eve@example.com")),
    "markup in the subject": HostileTheme(
        in_mail("subject", "<b>x</b>"),
        problem="templates/mails/reset.html:2: expected text without markup",
    ),
    "text with a line break in the subject": HostileTheme(
        {**in_mail("subject", "{{ text('own.a') }}"), DE: 'own.a: "a\\nBcc: x"'},
        problem="texts/de.yaml:1: own.a: expected one line without control characters",
    ),
    "address in the subject": HostileTheme(
        in_mail("subject", "{{ email }}"),
        problem="templates/mails/reset.html:2: expected a value of the view",
    ),
    "part in the subject": HostileTheme(
        in_mail("subject", "{{ super() }}{{ super() }}"),
        problem="templates/mails/reset.html:2: expected super() at most once on each way through the conditions",
    ),
    "subject of nothing": HostileTheme(in_mail("subject", "")),
    "style that hides": HostileTheme(in_mail("intro", '<p style="display:none">x</p>')),
    "style that hides ours": HostileTheme(
        in_mail("intro", '<div style="max-width:1px">{{ super() }}</div>'),
        problem="templates/mails/reset.html:2: expected super() outside of an element that may hide it: max-width is 1px;",
    ),
    "style that loads": HostileTheme(
        in_mail("intro", '<p style="background:url(https://eve.example/a.png)">x</p>'),
        problem="templates/mails/reset.html:2: expected a style without url(): use plain values, and <img> for pictures",
    ),
    "style with an entity": HostileTheme(
        in_mail("intro", '<p style="background:&#117;rl(https://eve.example)">x</p>'),
        problem="templates/mails/reset.html:2: expected a style of at most 600 characters, without &",
    ),
    "style of a value": HostileTheme(
        in_mail("intro", '<p style="color:{{ name }}">x</p>'),
        problem="templates/mails/reset.html:2: expected a style as it is, without values",
    ),
    "style with a second declaration": HostileTheme(
        in_mail("intro", '<p style="color:red;position:fixed">x</p>'),
        problem="templates/mails/reset.html:2: expected a property that mails may set",
    ),
    "style element": HostileTheme(
        in_mail("intro", "<style>.card{display:none}</style>"),
        problem="templates/mails/reset.html:2: expected no <style>: use style attributes, and our classes for dark mode",
    ),
    "link of a script": HostileTheme(
        in_mail("intro", '<a href="javascript:alert(1)">x</a>'),
        problem="templates/mails/reset.html:2: expected an https address, /path, mailto:, tel: or #own-id as href",
    ),
    "link with an entity": HostileTheme(
        in_mail("intro", '<a href="/&#9;/eve.example">x</a>'),
        problem="templates/mails/reset.html:2: expected an https address, /path, mailto:, tel: or #own-id as href",
    ),
    "link that tells the address": HostileTheme(
        in_mail("intro", '<a href="https://eve.example/?{{ email }}">x</a>'),
        problem="templates/mails/reset.html:2: expected an address of the view alone as href, or a fixed one",
    ),
    "link around ours": HostileTheme(
        in_mail("intro", '<a href="https://eve.example/">{{ super() }}</a>'),
        problem="templates/mails/reset.html:2: expected super() within b, bdi, blockquote, center, div, em, i, li, p,",
    ),
    "pixel": HostileTheme(
        in_mail("intro", '<img src="https://eve.example/a.gif" alt="">'),
        problem="templates/mails/reset.html:2: expected a file of the tenant such as img/flower.png (mail programs show no svg)",
    ),
    "form": HostileTheme(
        in_mail("intro", '<form action="https://eve.example"><input name="code"></form>'),
        problem="templates/mails/reset.html:2: expected no <form>: mail programs have none",
    ),
    "code": HostileTheme(
        in_mail("intro", "{{ otp }}{{ token }}{{ code }}"),
        problem="templates/mails/reset.html:2: expected a value of the view",
    ),
    "address of the link": HostileTheme(
        in_mail("action", "{{ url }}"),
        problem="templates/mails/reset.html:2: expected a value of the view",
    ),
    "markup in the button": HostileTheme(
        in_mail("action", '</a><a href="https://eve.example">x'),
        problem="templates/mails/reset.html:2: expected text without markup",
    ),
    "warning removed": HostileTheme(in_mail("stranger", "")),
    "comment for one program": HostileTheme(
        in_mail("intro", "<!--[if mso]>x<![endif]-->"),
        problem="templates/mails/reset.html:2: expected comments as {# … #}",
    ),
    "cell that ends the table": HostileTheme(
        in_mail("intro", "</td></tr></table>"),
        problem="templates/mails/reset.html:2: expected no end without a beginning",
    ),
    "base": HostileTheme(
        in_mail("intro", '<base href="https://eve.example">'),
        problem="templates/mails/reset.html:2: expected no <base>: links are whole addresses, or paths of the tenant's",
    ),
    "layout without its content": HostileTheme(
        {"templates/mails/layout.html": "{{ reason() }}"},
        problem="templates/mails/layout.html:1: expected {{ content() }}: The mail’s card: heading, sentences, button and",
    ),
    "layout without its reason": HostileTheme(
        {"templates/mails/layout.html": "{{ content() }}"},
        problem="templates/mails/layout.html:1: expected {{ reason() }}: Why the mail came: to which address, and from",
    ),
    "mail that does not exist": HostileTheme(
        {"templates/mails/invoice.html": "x"},
        problem="templates/mails/invoice.html:1: expected a template that a theme can replace, such as",
    ),
    "mail without blocks": HostileTheme(
        {RESET: "<p>x</p>"},
        problem="templates/mails/reset.html:1: expected everything within a {% block NAME %}",
    ),
    "block of no mail": HostileTheme(
        in_mail("headers", "x"),
        problem="templates/mails/reset.html:2: expected one of the blocks subject, preheader, heading, intro, action,",
    ),
    "large mail": HostileTheme({RESET: "x" * 20_000}, problem="templates/mails/reset.html:1: expected at most 16 kB"),
    "3,000 breaks in a mail": HostileTheme(in_mail("intro", "<br>" * 3_000)),
}
# fmt: on
