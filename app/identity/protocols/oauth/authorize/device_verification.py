"""The person's part of a device authorization (RFC 8628 section 3.3): sign-in, then approval in every case, then the response."""

from __future__ import annotations

from app.contract.oauth.models import ScopeView
from app.contract.step_reasons import DeviceOutcome, RefusedPart
from app.contract.steps import DeviceCodeStep, DeviceDoneStep, DeviceStep, RefusedStep, RequestingDevice, StepResponse
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interaction_state import InteractionState
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.sign_in.workflows import first_page
from app.identity.directory.organizations.requested_organization import OrganizationChoice
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import OPEN, ContinuationToken
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import authorization_details, refusal_log
from app.identity.protocols.oauth.authorize import device_codes, organization_choice
from app.identity.protocols.oauth.authorize.decision import Decision
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect
from app.identity.protocols.oauth.consents import application_consents
from app.kit.limits.rate_limits import Rate
from app.kit.web.user_agents import parse_user_agent

_WRONG_CODES = Rate(1_000, 300)  # of the tenant, by all networks together
_WRONG = StepResponse(step=DeviceCodeStep())


class DeviceAuthorizationDecision(Decision):
    """The checks before the question are those of the authorization endpoint; there is no address to send a refusal to."""

    def end_with_error(self, problem: RefusedByRedirect) -> StepResponse:
        """Deny the device and return an error page."""
        device = _device(self.context, self.interaction) if self.interaction is not None else None
        if device is not None and self.interaction is not None:
            _end(self.context, self.interaction, device, DeviceOutcome.DENIED)
        self.context.audit.record("device.refused", client_id=self.request.client_id, error=problem.error)
        refusal_log.log(problem.error, problem.description, client_id=self.request.client_id)
        return StepResponse(
            step=RefusedStep(error=problem.error, description=problem.description, part=RefusedPart.REQUEST),
            relying_party=self._relying_party,
        )

    def prompt(self, device: ContinuationToken) -> StepResponse:
        """Return the question: which application, which device, from where (section 5.4)."""
        agent = parse_user_agent(str(device.facts.get("agent") or ""))
        address = str(device.facts.get("address") or "")
        place = self.context.services.locations.place_of(address)
        requesting_device = RequestingDevice(
            name=", ".join(part for part in (agent.browser, agent.device or agent.system) if part),
            place=place.label,
            address=address,
        )
        scopes = [ScopeView(name=name) for name in self.request.agreed]
        details = authorization_details.views(self.context, self.request.authorization_details)
        return self._shown(
            DeviceStep(
                user_code=device_codes.written(device.facts["user_code"]),
                device=requesting_device,
                person=self._person,
                scopes=scopes,
                details=details,
            )
        )

    def facts(self, session: BrowserSession) -> dict[str, object]:
        """Return the facts of this sign-in for the tokens. Raises RefusedByRedirect if the membership ended, or a server refuses."""
        membership, stored = self._organization, self._stored_claims
        chosen = None if isinstance(membership, OrganizationChoice) else membership
        org_id = organization_choice.record(self.context, self.request, chosen, session.uid)
        return {
            "uid": session.uid,
            "session_id": session.session_id,
            "auth_time": int(session.authenticated_at.timestamp()),
            "amr": list(session.methods),
            **({"org_id": org_id} if org_id is not None else {}),
            **stored,
        }


def begin(context: Context, typed: str, session: BrowserSession | None) -> StepResponse:
    """Begin an interaction for a typed code.

    Raises:
        TooManyRequests: too many codes of this network, or too many wrong ones at this tenant.
    """
    context.refuse_over_limit("oauth.user_code.wrong", _WRONG_CODES)
    context.count_attempt("oauth.user_code", context.tenant.settings.limits.device_codes_per_minute_per_address)
    device = device_codes.find_typed(context, typed)
    client = _client(context, device) if device is not None else None
    if device is None or client is None:
        context.count_against("oauth.user_code.wrong", _WRONG_CODES)
        context.audit.record("device.code_refused")
        return _WRONG
    context.give_back_attempts()
    state = InteractionState(device_codes.request_of(device).to_store(), device_code_hash=device.token_hash)
    interaction, binding = interactions.start(context, InteractionKind.DEVICE, state)
    response = resume_request(context, interaction, session)
    workflow = first_page.display_of(context, interaction)
    begun = {"interaction_id": interaction.interaction_id, "binding": binding, "workflow": workflow}
    return response.model_copy(update=begun)


def resume_request(context: Context, interaction: Interaction, session: BrowserSession | None) -> StepResponse:
    """Return the next step: sign-in and required actions, then the approval; DEVICE_DONE after its end."""
    device = _device(context, interaction)
    client = _client(context, device) if device is not None else None
    if interaction.is_done or device is None or client is None or device.state != OPEN:
        return after_end(interaction)
    decision = _decision(context, interaction, client, session)
    try:
        return decision.step_before_consent() or decision.prompt(device)
    except RefusedByRedirect as problem:
        return decision.end_with_error(problem)


def decide(context: Context, interaction: Interaction, session: BrowserSession | None, allow: bool) -> StepResponse:
    """Store the answer, which is final; the session is checked again."""
    interaction = interactions.lock(context, interaction)
    response = resume_request(context, interaction, session)
    device = _device(context, interaction)
    client = _client(context, device) if device is not None else None
    if not isinstance(response.step, DeviceStep) or session is None or device is None or client is None:
        return response
    decision = _decision(context, interaction, client, session)
    named = {"uid": session.uid, "client_id": client.client_id}
    if not allow:
        context.audit.record("device.denied", **named)
        return _end(context, interaction, device, DeviceOutcome.DENIED)
    try:
        facts = decision.facts(session)
    except RefusedByRedirect as problem:
        return decision.end_with_error(problem)
    if not client.is_self_registered:  # its consent page says more: where the response goes
        application_consents.grant(context, session.uid, client.client_id, decision.request.agreed)
    context.audit.record("device.allowed", **named, scope=" ".join(decision.request.agreed))
    return _end(context, interaction, device, DeviceOutcome.ALLOWED, **facts)


def _decision(
    context: Context, interaction: Interaction, client: Application, session: BrowserSession | None
) -> DeviceAuthorizationDecision:
    return DeviceAuthorizationDecision(
        context, CheckedRequest.model_validate(interaction.state.authorization), client, session, interaction
    )


def _end(
    context: Context, interaction: Interaction, device: ContinuationToken, answer: DeviceOutcome, **facts: object
) -> StepResponse:
    is_ours = device_codes.decide(context, device, answer.value, **facts)
    outcome = answer if is_ours else DeviceOutcome.EXPIRED
    interactions.finish(context, interaction, outcome=outcome.value)
    return StepResponse(step=DeviceDoneStep(outcome=outcome))


def after_end(interaction: Interaction) -> StepResponse:
    """Return the answer that ended an interaction; EXPIRED without one."""
    outcome = interaction.state.ended.outcome if interaction.state.ended is not None else None
    done = DeviceDoneStep(outcome=DeviceOutcome(outcome or DeviceOutcome.EXPIRED), is_earlier=outcome is not None)
    return StepResponse(step=done)


def _device(context: Context, interaction: Interaction) -> ContinuationToken | None:
    return device_codes.find(context, interaction.state.device_code_hash or "")


def _client(context: Context, device: ContinuationToken) -> Application | None:
    """Return the client of a device; None if it may no longer send the device's request."""
    client = context.application(client_id=device.facts["client_id"])
    return client if client is not None and device_codes.still_holds(context, client, device) else None
