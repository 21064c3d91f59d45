"""The initial access tokens of a configuration file: made or changed as the file says, by digest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property, partial
from typing import Any

from app.contract.configuration_model import instant
from app.contract.oauth.initial_access_token_operations import TOKENS
from app.contract.oauth.registration_settings import MAX_DAYS, MAX_TOKENS, InitialAccessTokenFile
from app.identity.administration.applications.initial_access_token_administration import DIGEST, item_of
from app.identity.administration.configuration.file.yaml_document import KeyPath
from app.identity.administration.configuration.plan import ChangeAction, changed_values
from app.identity.administration.configuration.sections.section import ItemSection
from app.identity.administration.configuration.value_origins import marks
from app.identity.administration.resource_operations.write_resources import Writer
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.protocols.oauth.registration import initial_access_tokens
from app.kit import randomness
from app.kit.clock import iso

_KEY = "initial_access_tokens"


def exported(work: UnitOfWork) -> list[dict[str, Any]]:
    """Return the tenant's tokens as in a file, without digests; applying the file to another tenant makes new tokens."""
    return [
        {"name": row.name, "max_uses": row.max_uses, "expires_at": iso(row.expires_at)}
        for row in initial_access_tokens.all_tokens(work)
    ]


@dataclass
class InitialAccessTokenSection(ItemSection):
    """The initial access tokens of one tenant."""

    @cached_property
    def tokens(self) -> Writer:
        return self.writer(TOKENS)

    def plan(self) -> None:
        requested = self.declared.initial_access_tokens
        if requested is None:
            return
        stored = {row.name: row for row in initial_access_tokens.all_tokens(self.work)}
        self.planned.named[_KEY] = {item.name: marks(item.expires_at) for item in requested}
        holders = {row.token_hash: row.name for row in stored.values()}
        for number, token in enumerate(requested):
            path = (*self.path, _KEY, number)
            self._check(token, holders, path)
            with self.collecting_problems():
                if token.name in stored:
                    self._change(token, stored[token.name], path)
                else:
                    self._add(token, path)
        left = stored.keys() - {item.name for item in requested}
        if not self.run.prune and len(left) + len(requested) > MAX_TOKENS:
            self.add_problem(
                (*self.path, _KEY), f"expected at most {MAX_TOKENS} tokens, including those the tenant already has"
            )
        for name in sorted(left):
            self.note_left("initial_access_token", name, write=partial(self.tokens.remove, item_of(stored[name])))

    def _check(self, declared: InitialAccessTokenFile, holders: Mapping[str, str], path: KeyPath) -> None:
        if instant(declared.expires_at) > self.run.now + timedelta(days=MAX_DAYS):
            self.add_problem((*path, "expires_at"), f"expected a date at most {MAX_DAYS} days ahead")
        if declared.token_hash is not None and holders.get(declared.token_hash, declared.name) != declared.name:
            self.add_problem((*path, "token_sha256"), "is already used by another token of this tenant")

    def _add(self, declared: InitialAccessTokenFile, path: KeyPath) -> None:
        """Add a token unless it has expired: the clean-up would delete it again."""
        expires_at = instant(declared.expires_at)
        if expires_at <= self.run.now:
            self.note(
                ChangeAction.UNCHANGED, "initial_access_token", declared.name, f"expired on {declared.expires_at}"
            )
            return
        digest = declared.token_hash
        if digest is None:
            token = randomness.token()
            digest = randomness.digest(token)
            owner = f"initial_access_token {self.declared.name}/{declared.name}"
            self.note_generated(owner, "token", token)
        item = Item((declared.name,), _content(declared), {DIGEST: digest})
        self.check(self.tokens, path, None, item)
        self.note(
            ChangeAction.CREATE,
            "initial_access_token",
            declared.name,
            write=partial(self.tokens.put, None, item),
            path=path,
        )

    def _change(self, declared: InitialAccessTokenFile, row: Any, path: KeyPath) -> None:
        before = {"max_uses": row.max_uses, "expires_at": iso(row.expires_at)}
        after = {"max_uses": declared.max_uses, "expires_at": iso(instant(declared.expires_at))}
        details = [*changed_values(before, after)]
        item, secrets = item_of(row), dict[str, str]()
        if declared.token_hash not in (None, row.token_hash):
            details.append("token: replaced; it may be used as often as a new one")
            secrets = {DIGEST: declared.token_hash}
        changed = replace(item, content={**item.content, **_content(declared)}, secrets=secrets)
        if details:
            self.check(self.tokens, path, item, changed)
        self.note_change(
            "initial_access_token", declared.name, details, write=partial(self.tokens.put, item, changed), path=path
        )


def _content(declared: InitialAccessTokenFile) -> dict[str, Any]:
    expires_at = instant(declared.expires_at).isoformat()
    return {"name": declared.name, "max_uses": declared.max_uses, "expires_at": expires_at}
