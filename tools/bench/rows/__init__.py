"""One file per row of the table: `measured(scene)` yields its lines. They appear in the order of ORDER."""

from collections.abc import Callable, Iterator

from tools.bench.measurement import MeasuredLine
from tools.bench.rows import (
    code_flow,
    documents,
    hostile_themes,
    load,
    login_page,
    memory,
    organizations,
    own_account,
    page_bytes,
    password_hash,
    postgres,
    scale,
    sign_in,
    slow_clients,
    start,
    themed_pages,
    token_grants,
    userinfo,
    webhooks,
)
from tools.bench.rows.federation import directory_sign_in, saml
from tools.bench.scene import Scene

Row = Callable[[Scene], Iterator[MeasuredLine]]

ORDER: tuple[tuple[str, Row], ...] = (
    ("pages", page_bytes.measured),
    ("login", login_page.measured),
    ("sign-in", sign_in.measured),
    ("themes", themed_pages.measured),
    ("hostile", hostile_themes.measured),
    ("code", code_flow.measured),
    ("tokens", token_grants.measured),
    ("account", own_account.measured),
    ("userinfo", userinfo.measured),
    ("documents", documents.measured),
    ("postgres", postgres.measured),
    ("hash", password_hash.measured),
    ("slow", slow_clients.measured),
    ("load", load.measured),
    ("start", start.measured),
    ("memory", memory.measured),
    ("webhooks", webhooks.measured),
    ("saml", saml.measured),
    ("ldap", directory_sign_in.measured),
    ("organizations", organizations.measured),
    ("scale", scale.measured),
)
"""The name, as `python -m tools.bench NAME...` takes it, and the row. What fills the database comes last."""
