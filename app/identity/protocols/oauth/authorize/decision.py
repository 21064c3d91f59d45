"""Decides the next step of a checked request from the stored session: sign-in, consent, or the response."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from app.contract.accounts.models import PersonView, ReauthenticationOptions
from app.contract.oauth.models import RelyingPartyView, ScopeView
from app.contract.organizations.settings import MethodLimit
from app.contract.sessions.models import SelectAccountStep
from app.contract.step_reasons import LoginReason
from app.contract.steps import AnyStep, ConsentStep, LoginStep, PinStep, StartAgainStep, StepResponse
from app.identity.authentication.sign_in import interactions, required_actions
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.sessions import session_workflows, sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account, can_sign_in
from app.identity.directory.organizations.organization import Membership
from app.identity.directory.organizations.requested_organization import OrganizationChoice
from app.identity.directory.tenants import registered_applications
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import authorization_details, oauth_views
from app.identity.protocols.oauth.authorize import (
    account_choice,
    organization_choice,
    pushed,
    second_factor_step,
    workflow_sessions,
)
from app.identity.protocols.oauth.authorize.oauth_parameters.scope import OFFLINE, OPENID
from app.identity.protocols.oauth.authorize.openid_parameters import acr_values, login_hint, prompt
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect
from app.identity.protocols.oauth.authorize.responses import (
    response,
    sent_parameters,
    session_state,
    untrusted_redirects,
)
from app.identity.protocols.oauth.claims import subjects
from app.identity.protocols.oauth.consents import application_consents
from app.kit.caching.cached_attribute import cached_attribute


@dataclass(frozen=True)
class Decision:
    """A checked request with the session and interaction on which its next step depends.

    `session` is None if the browser is signed out, `interaction` if no page was shown yet, `account` if it is still to be read.
    """

    context: Context
    request: CheckedRequest
    client: Application
    session: BrowserSession | None
    interaction: Interaction | None
    account: Account | None = None

    def decide(self) -> StepResponse:
        """Return LOGIN or REGISTER, another step, CONSENT, or the response at the redirect URI."""
        try:
            step = self.step_before_consent()
            if step is None and self._needs_consent():
                step = self._prompt_for_consent()
        except RefusedByRedirect as problem:
            return self.end_with_error(problem)
        return step or (self.finish(self.session) if self.session is not None else self._login())

    def step_before_consent(self) -> StepResponse | None:
        """Return the step that comes before consent: LOGIN, a second factor or a required action; else None.

        Raises RefusedByRedirect, with which the caller ends the interaction.
        """
        session = self.session
        if session is None:
            return self._login()
        if account_choice.is_requested(self.interaction, session):
            return self.offer_accounts()
        if not self._is_fresh:
            if not self._is_sufficient(session):
                return self._login()
        elif not self.request.accepts(session.uid):
            raise RefusedByRedirect("login_required", "Somebody else is signed in.")
        factor = second_factor_step.step(self.context, self.request, session, self._account)
        step = self._shown(factor) if factor is not None else self._required_action(session)
        step = step or self._select_organization(session) or self._sign_in_to_organization(session)
        return step or self._workflow_step(session)

    def finish(self, session: BrowserSession) -> StepResponse:
        """Respond with a code, also to a second submit of the same form, which finds the interaction ended."""
        try:
            _ = self._stored_claims  # before anything is written, because a server may be asked
        except RefusedByRedirect as problem:
            return self.end_with_error(problem)
        if not pushed.use_up(self.context, self.request.pushed, self.interaction):
            return self.end_with_error(RefusedByRedirect("invalid_request_uri", "The request_uri was used."))
        if self.interaction is None or interactions.finish(self.context, self.interaction, uid=session.uid):
            return self._respond(session)
        stored = interactions.find(self.context, self.interaction.interaction_id)
        return Decision(self.context, self.request, self.client, session, stored).repeat()

    def repeat(self) -> StepResponse:
        """Respond again for an ended interaction, because the browser follows only the last response to two submits of a form.

        Issues a new code, since a code is valid for one exchange. It grants nothing that the session would not get at
        the authorization endpoint: the session must have ended the interaction, still be sufficient and still have consent.
        An interaction that ended with a refusal repeats the refusal.
        """
        ended = self.interaction.state.ended if self.interaction is not None else None
        if ended is not None and ended.problem is not None:
            return self._error(RefusedByRedirect(*ended.problem))
        session = self.session
        if session is None or ended is None or ended.uid != session.uid or not self._can_repeat(session):
            return StepResponse(step=StartAgainStep(), relying_party=self._relying_party)
        return self._respond(session)

    def end_with_error(self, problem: RefusedByRedirect) -> StepResponse:
        """End the interaction and return the error response, or an error page if no page was shown yet (RFC 9700 section 4.11.2)."""
        if self.interaction is not None:
            interactions.finish(self.context, self.interaction, problem=(problem.error, problem.description))
        pushed.use_up(self.context, self.request.pushed)
        return self._refuse(problem, may_show_page=self.interaction is None)

    def _refuse(self, problem: RefusedByRedirect, *, may_show_page: bool) -> StepResponse:
        self.context.audit.record("authorize.refused", client_id=self.request.client_id, error=problem.error)
        if may_show_page and untrusted_redirects.needs_page(self.context, self.client, self.session):
            return untrusted_redirects.page(self.context, self.client, problem)
        return self._error(problem)

    def _error(self, problem: RefusedByRedirect) -> StepResponse:
        return response.error(self.context, self.client, self.request.issuer, self.request.model_dump(), problem)

    @cached_attribute
    def _account(self) -> Account | None:
        """The session's account, read once."""
        return self.account or (
            account_store.by_uid(self.context, self.session.uid) if self.session is not None else None
        )

    @cached_attribute
    def _stored_claims(self) -> dict[str, Any]:
        """What tokens store of the workflow and the token hook of the application. Raises RefusedByRedirect."""
        return workflow_sessions.stored_claims(self.context, self.client, self.request, self.session, self._account)

    @cached_attribute
    def _is_fresh(self) -> bool:
        """Whether the user authenticated within this interaction."""
        return account_choice.is_fresh(self.interaction, self.session, self.context.now)

    def _is_sufficient(self, session: BrowserSession) -> bool:
        """Return whether a session that is older than this request satisfies it."""
        request = self.request
        if not self._can_sign_in or account_choice.requests_another(self.interaction):
            return False
        if request.acr is not None or request.prompt & {prompt.LOGIN, prompt.CREATE}:
            return False
        if prompt.SELECT in request.prompt and not account_choice.is_chosen(self.interaction, session):
            return False
        age = self.context.now - session.authenticated_at
        if request.max_age is not None and age > timedelta(seconds=request.max_age):
            return False
        return self._is_expected_account

    @property
    def _is_expected_account(self) -> bool:
        """Whether the session's account matches `id_token_hint` and `login_hint`, if the request has them."""
        account, hint = self._account, self.request.login_hint
        if account is None or not self.request.accepts(account.uid) or self._is_for_another:
            return False
        if hint is None:
            return True
        subject = subjects.of(self.context, self.client, account.uid)
        return not login_hint.names_another(self.context.tenant.settings, account, subject, hint)

    @cached_attribute
    def _is_for_another(self) -> bool:
        """Whether a hint names another of the browser's accounts."""
        return account_choice.is_for_another(self.context, self.client, self.request, self.session)

    def _can_repeat(self, session: BrowserSession) -> bool:
        is_own_sign_in = self._is_fresh and self.request.accepts(session.uid)
        is_signed_in = self._can_sign_in and (is_own_sign_in or self._is_sufficient(session))
        needs_consent = self._requires_consent or prompt.CONSENT in self.request.prompt
        is_passed = workflow_sessions.is_passed(self.context, self.client, self.request, session, self._account)
        return is_signed_in and is_passed and (not needs_consent or self._has_consent)

    def _required_action(self, session: BrowserSession) -> StepResponse | None:
        """Return the step of an action that the tenant still requires of the account; None if there is none."""
        is_silent = prompt.NONE in self.request.prompt
        if is_silent and session_workflows.of(self.context, session).pending is not None:
            raise RefusedByRedirect("interaction_required", "The user must be asked.")
        account = None if self._is_fresh else self._account
        target = workflow_sessions.target_of(self.client, self.request)
        step = required_actions.find_first(self.context, session, account, target)
        if step is None or (isinstance(step, PinStep) and step.can_skip and is_silent):
            return None
        if is_silent:
            raise RefusedByRedirect("interaction_required", "The user must be asked.")
        return self._shown(step)

    def _workflow_step(self, session: BrowserSession) -> StepResponse | None:
        """Return the step that the workflow in force requires of the session. Raises RefusedByRedirect."""
        step = workflow_sessions.step(self.context, self.client, self.request, session, self._account, self.interaction)
        if step is None:
            return None
        if prompt.NONE in self.request.prompt:
            raise RefusedByRedirect("interaction_required", "The workflow of the client requires a step of the user.")
        return self._login(step.reason, step.method_limit) if isinstance(step, LoginStep) else self._shown(step)

    def _select_organization(self, session: BrowserSession) -> StepResponse | None:
        """Return the step that chooses an organization; None where the request or the account has decided it."""
        choice = self._organization
        if not isinstance(choice, OrganizationChoice):
            return None
        if prompt.NONE in self.request.prompt:
            raise RefusedByRedirect("interaction_required", "The user must choose an organization.")
        return self._shown(
            organization_choice.step(self.context, choice, session.uid, self.client.client_id, self._person)
        )

    def _sign_in_to_organization(self, session: BrowserSession) -> StepResponse | None:
        """Return the sign-in by the connection that the organization of the tokens requires; None where the session is by it."""
        limit = organization_choice.required_method(self.context, self._account, self._organization, session)
        return self._login(LoginReason.METHOD, limit) if limit is not None else None

    @cached_attribute
    def _organization(self) -> Membership | OrganizationChoice | None:
        """The membership that the tokens are for, or the choice that the user must make; None: the personal account.

        Raises RefusedByRedirect.
        """
        return organization_choice.resolve(self.context, self.request, self.client, self._account)

    def _needs_consent(self) -> bool:
        if prompt.CONSENT in self.request.prompt:
            return True
        if self.request.authorization_details:
            return True  # consent is required each time: an earlier grant does not cover other details
        if self._can_be_impersonated:
            return True
        return self._requires_consent and not self._has_consent

    @property
    def _can_be_impersonated(self) -> bool:
        """Whether another program of the device could impersonate this application (RFC 8252 section 8.6)."""
        is_unauthenticated = self.client.is_self_registered and self.client.settings.is_public
        return is_unauthenticated and not self.request.redirect_uri.startswith("https://")

    @property
    def _requires_consent(self) -> bool:
        """Whether the application needs consent, as offline access does (OpenID Connect Core section 11)."""
        settings = self.client.settings
        requests_offline = settings.refresh_tokens == OFFLINE and OFFLINE in self.request.scope
        return settings.require_consent or self.client.is_self_registered or requests_offline

    @cached_attribute
    def consent(self) -> application_consents.Consent | None:
        """The consent of the session's account to the client, read once."""
        uid = self.session.uid if self.session is not None else None
        return application_consents.find(self.context, uid, self.client.client_id) if uid is not None else None

    @property
    def optional(self) -> frozenset[str]:
        """The requested scopes that the person may decline."""
        named = self.client.settings.optional_scopes
        return frozenset(named).intersection(self.request.agreed) if named else frozenset()

    @property
    def _has_consent(self) -> bool:
        """Whether the account answered for each scope: granted it, or declined an optional one."""
        stored = self.consent
        return stored is not None and {*stored.scopes, *self.optional.intersection(stored.refused)}.issuperset(
            self.request.agreed
        )

    def _login(self, reason: LoginReason | None = None, limit: MethodLimit | None = None) -> StepResponse:
        if prompt.NONE in self.request.prompt:
            raise RefusedByRedirect("login_required", "The user must sign in.")
        if self._offers_accounts and (options := account_choice.options(self.context)):
            return self._shown(SelectAccountStep(accounts=options))
        is_another = account_choice.requests_another(self.interaction)
        person = self._person if not is_another and self._can_sign_in and self._is_expected_account else None
        reauthentication = ReauthenticationOptions(person=person) if person is not None else None
        form = workflow_sessions.first_form(self.context, self.client, self.request, self.interaction, self.session)
        step = form.model_copy(update={"reauthentication": reauthentication})
        if isinstance(step, LoginStep) and reason is not None:
            step = step.model_copy(update={"reason": reason, "method_limit": limit})
        return self._shown(step, login_hint=self.request.login_hint)

    def offer_accounts(self) -> StepResponse:
        return self._shown(SelectAccountStep(accounts=account_choice.options(self.context)))

    @property
    def _offers_accounts(self) -> bool:
        """Whether the page with the browser's accounts comes before the sign-in page."""
        request, visit = self.request, self.context.visit
        if account_choice.requests_another(self.interaction) or request.prompt & {prompt.LOGIN, prompt.CREATE}:
            return False
        if self.session is not None:
            requests_selection = prompt.SELECT in request.prompt or self._is_for_another
            return requests_selection and not account_choice.is_chosen(self.interaction, self.session)
        is_named = request.subject is not None or request.login_hint is not None
        return bool(visit and visit.others) and (
            prompt.SELECT in request.prompt or not is_named or self._is_for_another
        )

    def _prompt_for_consent(self) -> StepResponse:
        if prompt.NONE in self.request.prompt:
            raise RefusedByRedirect("consent_required", "The user must be asked.")
        is_prompted_again = prompt.CONSENT in self.request.prompt
        granted = frozenset(self.consent.scopes if self.consent is not None and not is_prompted_again else ())
        scopes = [
            ScopeView(name=name, is_optional=name in self.optional, is_granted=name in granted)
            for name in self.request.agreed
        ]
        details = authorization_details.views(self.context, self.request.authorization_details)
        return self._shown(ConsentStep(person=self._person, scopes=scopes, details=details))

    def _respond(self, session: BrowserSession) -> StepResponse:
        """Return the response by its response type: with a code, tokens, or both."""
        request = self._narrowed
        acr = acr_values.met(request, session.methods) if request.demanded_acr else request.acr
        if request.demanded_acr and acr is None:
            return self._refuse(acr_values.unmet(), may_show_page=True)
        try:
            membership, stored = self._organization, self._stored_claims
        except (
            RefusedByRedirect
        ) as problem:  # the membership ended since the interaction did, or a server refuses the tokens
            return self._refuse(problem, may_show_page=True)
        limit = organization_choice.required_method(self.context, self._account, membership, session)
        if isinstance(membership, OrganizationChoice) or limit is not None:
            return StepResponse(step=StartAgainStep(), relying_party=self._relying_party)
        sessions.touch(self.context, session)
        sessions.add_relying_party(self.context, session, self.client.client_id, request.issuer)
        registered_applications.touch(self.context, self.client)
        auth_time = int(session.authenticated_at.timestamp())
        org_id = organization_choice.record(self.context, request, membership, session.uid)
        granted = request.granted(auth_time=auth_time, amr=session.methods, acr=acr, org_id=org_id)
        granted = replace(granted, claims=replace(granted.claims, **stored))
        try:
            sent = sent_parameters.issue(
                self.context, self.client, (request, granted), session, self._account, membership
            )
        except RefusedByRedirect as problem:
            return self._refuse(problem, may_show_page=True)
        browser_state = self._browser_state(session)
        if browser_state is not None:
            sent["session_state"] = session_state.make(request.client_id, request.redirect_uri, browser_state)
        step = response.success(self.context, self.client, request, sent)
        return step if browser_state is None else step.model_copy(update={"browser_state": browser_state})

    def _browser_state(self, session: BrowserSession) -> str | None:
        """Return the session's state for Session Management (section 2); None if it is off, or for a request without `openid`."""
        is_on = self.context.tenant.settings.session_management and OPENID in self.request.scope
        return session_state.browser_state(self.context, session) if is_on else None

    @property
    def _narrowed(self) -> CheckedRequest:
        """The request without the optional scopes that the person declined, and without their claims."""
        refused = self.optional.intersection(self.consent.refused) if self.optional and self.consent else frozenset()
        return self.request.without(refused) if refused else self.request

    def _shown(self, step: AnyStep, login_hint: str | None = None) -> StepResponse:
        """Return the step with the data that every page of this request shows."""
        return StepResponse(
            step=step,
            interaction_id=self.interaction.interaction_id if self.interaction is not None else None,
            relying_party=self._relying_party,
            ui_locales=self.request.ui_locales,
            brand=self.request.brand,
            display=self.request.display,
            login_hint=login_hint,
        )

    @property
    def _relying_party(self) -> RelyingPartyView:
        return oauth_views.relying_party(self.context, self.client, self.request.redirect_uri)

    @property
    def _person(self) -> PersonView | None:
        return oauth_views.person(self._account) if self._account is not None else None

    @property
    def _can_sign_in(self) -> bool:
        return self._account is not None and can_sign_in(self._account)
