"""The login page with passkeys, by a button and by autofill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.hub.components import sign_in_methods
from app.hub.components.reauthentication import Reauthentication
from app.hub.components.sign_in_methods import PASSWORD
from app.hub.components.sign_in_refusals import RefusalReason
from app.hub.pages.sign_in.login.form import FormStep, LoginForm
from app.hub.pages.sign_in.login.page import CONNECTS, GOOGLE, LoginPage
from app.hub.tenants.tenant import IdentifierKind


@dataclass(frozen=True)
class PasskeyLoginPage(LoginPage):
    """The login page with a password field and passkeys."""

    scripts = (*LoginPage.scripts, "passkey", "signal")
    allows_fetch = True

    passkeys: str = "both"

    @property
    def has_autofill(self) -> bool:
        return self.passkeys != "button" and self.asks_identifier

    @property
    def has_button(self) -> bool:
        if self.reauthentication is not None:
            return self.reauthentication.has_passkey
        return self.passkeys != "autofill" or not self.takes(PASSWORD)

    @property
    def attributes(self) -> dict[str, Any]:
        """The identifier field's HTML attributes, with passkey autofill if enabled."""
        return {**super().attributes, **({"autocomplete": "username webauthn"} if self.has_autofill else {})}

    @classmethod
    def samples(cls) -> Mapping[str, PasskeyLoginPage]:
        form = LoginForm.of((IdentifierKind.EMAIL,))
        return {
            "fresh": cls(form, relying_party="Acme Shop"),
            "autofill alone": cls(form, passkeys="autofill"),
            "button alone": cls(form, passkeys="button"),
            "reauthentication": cls(
                form,
                relying_party="Acme Shop",
                has_remember_me=False,
                reauthentication=Reauthentication.sample("password", "passkey"),
            ),
            "reauthentication, a passkey alone": cls(
                form, has_remember_me=False, reauthentication=Reauthentication.sample("passkey")
            ),
            **cls._confirmation_samples(),
            "passkey refused": cls(form, refusal=RefusalReason.PASSKEY, unknown="AAAA"),
            "four ways": cls(form, relying_party="Acme Shop", methods=sign_in_methods.sample_methods()),
            "every way": cls(form, relying_party="Acme Shop", **cls._every_method()),
            "every way, one used last": cls(
                form, relying_party="Acme Shop", **cls._every_method(), last_key=GOOGLE, is_returning=True
            ),
            "every way, the passkey used last": cls(
                form, **cls._every_method(), last_key=sign_in_methods.PASSKEY, is_returning=True
            ),
            "identifier first": cls(form, relying_party="Acme Shop", step=FormStep.IDENTIFIER, **cls._every_method()),
            "identifier first, one used last": cls(
                form, step=FormStep.IDENTIFIER, **cls._every_method(), last_key=GOOGLE, is_returning=True
            ),
            "password then": cls(
                LoginForm.of((IdentifierKind.EMAIL,), data={"identifier": "ada@example.com"}),
                step=FormStep.PASSWORD,
                **cls._every_method(),
            ),
            "without a script": cls(form, refusal=RefusalReason.SCRIPTLESS),
            "after a new passkey": cls(form, is_passkey_set=True),
            "passkey alone": cls(form, relying_party="Acme Shop", entry=frozenset(("passkey",))),
            "passkey required": cls(form, relying_party="Acme Shop", limit=sign_in_methods.sample_limit("passkey")),
        }

    @classmethod
    def _confirmation_samples(cls) -> Mapping[str, PasskeyLoginPage]:
        def confirmation_page(*methods: str, **fields: Any) -> PasskeyLoginPage:
            form = LoginForm.of((IdentifierKind.EMAIL,), data={"identifier": "ada@example.com", "connects": "yes"})
            account = Reauthentication.sample(*methods, connects="Google")
            return cls(form, needs=CONNECTS, reauthentication=account, **fields)

        others = {"methods": sign_in_methods.sample_methods(), "connections": cls._every_method()["connections"][2:3]}
        return {
            "existing account": confirmation_page("password", "passkey", relying_party="Acme Shop", **others),
            "existing account, a password alone": confirmation_page("password"),
            "existing account, wrong password": confirmation_page("password", refusal=RefusalReason.WRONG),
            "existing account, an email alone": confirmation_page(
                "mail", methods=sign_in_methods.sample_methods("mail")
            ),
            "existing account, no method": confirmation_page(),
        }

    @staticmethod
    def _every_method() -> dict[str, Any]:
        return {"methods": sign_in_methods.sample_methods(), "connections": sign_in_methods.sample_connection_methods()}
