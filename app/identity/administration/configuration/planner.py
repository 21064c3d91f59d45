"""Plans what a configuration file changes: compares it with what is stored, and writes nothing."""

from __future__ import annotations

from app.contract.tenants.file import TenantFile
from app.identity.administration.configuration.file.yaml_document import KeyPath
from app.identity.administration.configuration.plan import TenantPlan
from app.identity.administration.configuration.sections.accounts import AccountSection
from app.identity.administration.configuration.sections.applications import ApplicationSection
from app.identity.administration.configuration.sections.chosen_workflows import ChosenWorkflowSection
from app.identity.administration.configuration.sections.initial_access_tokens import InitialAccessTokenSection
from app.identity.administration.configuration.sections.organizations import OrganizationSection
from app.identity.administration.configuration.sections.resource_items import ResourceSection
from app.identity.administration.configuration.sections.roles import RoleSection
from app.identity.administration.configuration.sections.section import Run
from app.identity.administration.configuration.sections.tenant import TenantSection
from app.identity.administration.configuration.value_origins import Marks, of_files
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.directory.tenants.tenant_writes import TenantRow
from app.identity.platform import powers
from app.identity.platform.context import Context
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.platform.tenant import Tenant
from app.kit import randomness
from app.kit.design import theme_file_names


def plan_tenants(run: Run) -> list[TenantPlan]:
    """Return the plan of each tenant of the file, with all problems that can be found before writing."""
    return [
        _plan_tenant(run, declared, ("tenants", number)) for number, declared in enumerate(run.configuration.tenants)
    ]


def _plan_tenant(run: Run, declared: TenantFile, path: KeyPath) -> TenantPlan:
    run.work.switch_tenant(LOOKUP_TENANT)
    key_owner = tenant_writes.tenant_with_key(run.work, declared.api_key) if declared.api_key else None
    stored = _switch_to(run.work, tenant_writes.by_name(run.work, declared.name))
    planned = TenantPlan(run.work.tenant_id, _named_before(stored), stored.named_by_file if stored else None)
    section_arguments = (run, declared, path, stored, planned)
    tenant = TenantSection(*section_arguments, key_owner).plan()
    if tenant is None:  # everything else depends on its settings
        return planned
    program, people = _contexts(run, tenant)
    planned.audits += [program.audit, people.audit]
    ApplicationSection(*section_arguments, program).plan()
    ResourceSection(*section_arguments, program).plan()
    ChosenWorkflowSection(*section_arguments, program).check_choices()
    InitialAccessTokenSection(*section_arguments, program).plan()
    known_roles = RoleSection(*section_arguments).plan()
    AccountSection(*section_arguments, people, known_roles).plan()
    OrganizationSection(*section_arguments, people).plan()
    return planned


def _switch_to(work: UnitOfWork, tenant_row: TenantRow | None) -> TenantRow | None:
    """Continue as the tenant, or as a new one; return its row as it is now, locked if the run writes."""
    if tenant_row is None:
        work.switch_tenant(randomness.uid())
        return None
    work.switch_tenant(tenant_row.tenant_id)
    return (tenant_writes.lock(work) or tenant_row) if work.is_writing else tenant_row


def _named_before(stored: TenantRow | None) -> Marks:
    """Return the keys that earlier files named."""
    if stored is None:
        return {}
    return dict(stored.named_by_file or of_files(stored.settings, stored.brand))


def _contexts(run: Run, tenant: Tenant) -> tuple[Context, Context]:
    """Return the context of a program with every power, which changes resources, and that of changes to accounts."""
    program, people = (Context.outside_requests(run.services, tenant, run.work) for _ in range(2))
    program.program_scopes = frozenset({powers.ALL})
    files = run.configuration.theme_files.get(tenant.name, ())
    program.theme_files = {theme_file_names.digest_of(content): len(content) for _, content in files}
    return program, people
