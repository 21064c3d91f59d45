"""What 1,000 organizations of 1,000 members cost their lists, searches and tokens. Only with --scale: it fills a gigabyte."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, urlencode

from tools.bench.measurement import MeasuredLine, Operation, Spent, measure
from tools.bench.rows.code_flow import metadata, tokens
from tools.bench.rows.scale import copy
from tools.bench.scene import API_KEY, API_SECRET, ORGANIZATION, TENANT, Scene
from tools.bench.visitor import BenchVisitor, Unexpected

ORGANIZATIONS, MEMBERS = 1_000, 1_000
BAR, AIM = 1.5, 1.1
SEARCHES = ("search for a member", "members page of a manager with a search")
SEARCH_BAR = 5.0
"""A search finds any part of an address, so it reads each member of the one organization."""
CREDENTIALS = {"apikey": API_KEY, "apisecret": API_SECRET}


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """Each operation with one organization of one member, the same with all."""
    if "scale" not in scene.options:
        return
    before = _measured(scene)
    scene.product.stop()
    fill(scene.folder / "data" / "gatehouse.db")
    scene.restart()
    after = _measured(scene)
    for name, spent in after.items():
        first = before[name]
        ratio, sql = spent.cpu_ms / first.cpu_ms, (first.counts.get("sql", 0), spent.counts.get("sql", 0))
        bar = SEARCH_BAR if name in SEARCHES else BAR
        yield MeasuredLine(
            operation=f"{name}, {ORGANIZATIONS:,} organizations × {MEMBERS:,} members",
            counts=f"sql {sql[0]:g} before, {sql[1]:g} after; {first.cpu_ms:.2f} ms before, {spent.cpu_ms:.2f} ms after",
            measured=f"{ratio:.2f} ×",
            bar=f"{bar:g} ×, sql as before",
            aim=f"{AIM:g} ×",
            is_over=ratio > bar or sql[0] != sql[1],
            is_reached=ratio <= AIM and sql[0] == sql[1],
        )


def _measured(scene: Scene) -> dict[str, Spent]:
    return {name: measure(scene.product, scene.bare, operation) for name, operation in _operations(scene)}


def _operations(scene: Scene) -> Iterator[tuple[str, Operation]]:
    program = BenchVisitor(scene.port, f"api.localhost:{scene.port}")
    org_id = _first(program)
    members = f"/v2/manage/organizations/{org_id}/orgcontext"
    page = {"page": "1", "pagesize": "1"}  # one row before and after: a page costs what its rows cost
    yield "page of organizations", _asking(program, "/v2/manage/organizations", **page)
    yield "search for an organization", _asking(program, "/v2/manage/organizations", name=ORGANIZATION, **page)
    yield "page of members", _asking(program, members, **page)
    yield SEARCHES[0], _asking(program, members, email="ada1@example.com", **page)
    yield SEARCHES[1], _members_page(scene, org_id)
    yield "token of an organization", _flow(scene)


def _asking(program: BenchVisitor, path: str, **query: str) -> Operation:
    address = f"{path}?{urlencode({**query, **CREDENTIALS})}"

    def ask(_: int) -> BenchVisitor:
        answer = program.get(address).expect(200)
        if not json.loads(answer.text)["Data"]:
            raise Unexpected(f"{path} lists nothing")
        return program

    return ask


def _members_page(scene: Scene, org_id: str) -> Operation:
    browser = scene.visitor()
    scene.sign_in(browser, 1)
    browser.costs.clear()

    def show(_: int) -> BenchVisitor:
        page = browser.get(f"/organizations/members?id={org_id}&search=ada1").expect(200)
        if "ada1@example.com" not in page.text:
            raise Unexpected("the page of the members does not list the member")
        return browser

    return show


def _flow(scene: Scene) -> Operation:
    """A signed-in member's code flow to the organization."""
    browser, program = scene.visitor(), scene.visitor()
    endpoints = metadata(program)
    endpoints["authorization_endpoint"] += f"?organization={quote(ORGANIZATION)}"
    scene.sign_in(browser, 1)
    browser.costs.clear()
    program.costs.clear()

    def flow(number: int) -> BenchVisitor:
        tokens(browser, program, endpoints, number)
        for name, count in program.costs.items():
            browser.costs[name] = browser.costs.get(name, 0) + count
        program.costs.clear()
        return browser

    return flow


def _first(program: BenchVisitor) -> str:
    """Return the id of the organization that the configuration file states."""
    query = urlencode({"name": ORGANIZATION, **CREDENTIALS})
    found = json.loads(program.get(f"/v2/manage/organizations?{query}").expect(200).text)["Data"]
    return str(found[0]["Id"])


def fill(database: Path) -> None:
    """Copy the organization, its member and the membership, in SQL: nothing but the keys differs."""
    with closing(sqlite3.connect(database)) as connection, connection:
        (tenant_id,) = connection.execute("SELECT tenant_id FROM tenants WHERE name = ?", [TENANT]).fetchone()
        mine = f"tenant_id = '{tenant_id}'"
        requested = f"SELECT uid, org_id, role_id FROM organization_user_roles WHERE {mine}"  # noqa: S608 -- no input from outside
        uid, org_id, role_id = connection.execute(requested).fetchone()
        item = f"{mine} AND org_id = '{org_id}'"
        key = {"org_id": "'org_fill-' || n", "name": "'Fill ' || n", "name_key": "'fill ' || n"}
        copy(connection, "organizations", item, key, ORGANIZATIONS - 1)
        account = f"{mine} AND uid = '{uid}'"
        key = {"uid": "'member-' || n", "profile_id": "'member-p-' || n", "email": "'member' || n || '@example.com'"}
        copy(connection, "accounts", account, key, MEMBERS - 1)
        copy(
            connection,
            "identifiers",
            f"{account} AND kind = 'email'",
            {"uid": key["uid"], "value": key["email"]},
            MEMBERS - 1,
        )
        joined = (
            "INSERT INTO organization_user_roles (tenant_id, user_role_id, uid, org_id, role_id, created_at)"  # noqa: S608 -- no input from outside
            f" SELECT '{tenant_id}', 'fill-' || o.org_id || '-' || a.uid, a.uid, o.org_id, '{role_id}', o.created_at"
            f" FROM organizations o JOIN accounts a ON a.tenant_id = o.tenant_id WHERE o.{mine}"
            f" AND (a.uid LIKE 'member-%' OR a.uid = '{uid}') AND NOT (a.uid = '{uid}' AND o.org_id = '{org_id}')"
        )
        connection.execute(joined)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("ANALYZE")
