"""A directory that hangs holds few threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.identity.credentials.ldap.conversation_slots import ConversationSlots
from app.identity.platform.ldap.ldap_refusals import LdapUnavailable


def test_further_conversation_is_refused_at_once() -> None:
    slots, inside, leave = ConversationSlots(2), threading.Barrier(3), threading.Event()

    def talk() -> None:
        with slots.taken("hanging"):
            inside.wait()
            leave.wait()

    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(talk) for _ in range(2)]
        inside.wait()
        with pytest.raises(LdapUnavailable), slots.taken("hanging"):
            pytest.fail("a third conversation began")
        with slots.taken("another"):
            leave.set()
        for each in running:
            each.result()
    with slots.taken("hanging"):
        assert True
