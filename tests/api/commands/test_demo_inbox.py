"""The demo's inbox shows sent messages and treats their content as untrusted."""

import re
import shutil
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from werkzeug.test import Client

from app.demo.hosts import Hosts, shop_at
from app.demo.inbox import create_inbox
from app.identity.platform.outbox import claims
from app.identity.platform.outbox.all_tenants import EXEMPT
from app.identity.platform.outbox.outbox import Outbox, outbox
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock
from tests.support.services.servers import free_port
from tests.support.tenants.posting import VAULT


@pytest.fixture
def database(migrated_file: Path, tmp_path: Path) -> Iterator[Database]:
    made = Database(f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'gatehouse.db')}")
    yield made
    made.dispose()


def posted(database: Database, tenant: str = "acme", kind: str = "mail", **payload: Any) -> str:
    work = UnitOfWork(database, tenant)
    message_id = Outbox(work, FixedClock(), VAULT).post(
        kind, {"to": "ada@example.com", "subject": "Hello", "text": "", **payload}
    )
    work.commit()
    return message_id


def test_inbox_shows_messages_of_every_tenant_with_links(database: Database) -> None:
    mail = posted(database, text="Confirm: http://acme.localhost:8000/verify?x=1")
    posted(database, tenant="globex", kind="sms", to="+4930123456", text="123456")
    client = Client(create_inbox(database, VAULT))
    assert "+4930123456" in client.get("/").text
    shown = client.get(f"/messages/{mail}").text
    assert 'href="http://acme.localhost:8000/verify?x=1"' in shown
    assert "+4930123456" in shown


def opened(client: Client, address: str = "/") -> str:
    """Return what the message says that is open."""
    text = client.get(address).text
    return text[text.index("<article") : text.index("</article>")]


def test_newest_message_is_open_and_search_narrows_the_list(database: Database) -> None:
    older = posted(database, subject="Reset your password", text="older text")
    with_later_time(database, posted(database, to="grace@example.com", subject="Join Hazel", text="newer text"))
    client = Client(create_inbox(database, VAULT))
    assert "newer text" in opened(client)
    assert "older text" in opened(client, f"/messages/{older}")
    assert "older text" in opened(client, "/?q=RESET+ada")
    assert "Join Hazel" not in client.get("/?q=reset").text
    assert "No messages found" in client.get("/?q=absent").text
    assert client.get("/messages/absent").status_code == 404


def test_list_previews_the_first_sentence_without_codes(database: Database) -> None:
    posted(
        database,
        text="Reset your password\n\n482913 is your code.\n\nWe got a\nrequest <b>now</b>.\n\nIgnore this email.",
    )
    posted(database, tenant="globex", kind="sms", subject=None, text="Hello there, Ada.")
    text = Client(create_inbox(database, VAULT)).get("/").text
    listed = text[text.index("<ul") : text.index("</ul>")]
    assert re.findall(r'<span dir="auto">(.*?)</span>', listed) == ["We got a request &lt;b&gt;now&lt;/b&gt;."]


def with_later_time(database: Database, message_id: str) -> None:
    work = UnitOfWork(database, EXEMPT)
    later = FixedClock().now() + timedelta(minutes=1)
    work.changed(update(outbox).where(outbox.c.message_id == message_id).values(created_at=later))
    work.commit()


def test_every_mail_and_sms_is_deleted_from_the_page_alone(database: Database) -> None:
    posted(database)
    posted(database, tenant="globex", kind="sms")
    kept = posted(database, kind="backchannel_logout")
    client = Client(create_inbox(database, VAULT))
    for others in ({}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        assert client.post("/delete", headers=others).status_code == 403
    assert len(client.get("/messages.json").json or []) == 2
    assert client.post("/delete", headers={"Sec-Fetch-Site": "same-origin"}).headers["Location"] == "/"
    assert client.get("/messages.json").json == []
    assert [row.message_id for row in claims.list_messages(database)] == [kept]


def test_times_are_those_of_this_machine(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    posted(database)  # at 12:00 UTC on January 1
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        shown = Client(create_inbox(database, VAULT)).get("/").text
    finally:
        monkeypatch.undo()
        time.tzset()
    assert "January 1 at 17:30 IST" in shown
    assert ">Jan 1, 17:30</time>" in shown


def test_inbox_lists_messages_as_json(database: Database) -> None:
    posted(database, text="Confirm: http://acme.localhost:8000/verify?x=1 now")
    (message,) = Client(create_inbox(database, VAULT)).get("/messages.json").json or []
    assert (message["to"], message["links"]) == ("ada@example.com", ["http://acme.localhost:8000/verify?x=1"])


def test_code_is_to_be_copied_and_text_part_shown(database: Database) -> None:
    posted(database, text="Type 482913 or open https://acme.example/?t=123456", html="<p>482913</p>")
    client = Client(create_inbox(database, VAULT))
    (message,) = client.get("/messages.json").json or []
    assert message["codes"] == ["482913"]
    assert '<data id="code" value="482913" hidden>482913</data>' in client.get("/").text
    assert "open <a" in client.get(f"/messages/{message['id']}?format=text").text
    assert "&lt;p&gt;482913" in client.get(f"/messages/{message['id']}?format=source").text


def test_markup_in_message_is_never_executed(database: Database) -> None:
    message_id = posted(database, subject="<script>alert(1)</script>", html="<script>alert(1)</script>")
    client = Client(create_inbox(database, VAULT))
    page, inner = client.get("/"), client.get(f"/messages/{message_id}.html")
    source = client.get(f"/messages/{message_id}?format=source")
    assert "<script>" not in page.text + source.text
    assert "script-src 'self';" in page.headers["Content-Security-Policy"]
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert "sandbox" in inner.headers["Content-Security-Policy"]


def test_unknown_host_gets_default_application() -> None:
    def replies(word: str) -> Any:
        return lambda _environ, start: (start("200 OK", []), [word.encode()])[1]

    hosts = Client(Hosts(replies("default"), {"inbox.localhost:8000": replies("inbox")}))
    assert [hosts.get("/", base_url=f"http://{name}.localhost:8000").text for name in ("acme", "INBOX")] == [
        "default",
        "inbox",
    ]


def test_stopped_shop_answers_502() -> None:
    assert Client(shop_at(free_port())).get("/", base_url="http://shop.localhost:8000").status_code == 502
