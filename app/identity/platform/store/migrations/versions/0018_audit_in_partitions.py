"""On PostgreSQL the audit trail is partitioned by month (decisions/0150). SQLite has no partitions: nothing changes there.

What was written so far becomes the first partition, `audit_before`, without being read or copied under the exclusive lock.
"""
# ruff: noqa: S608 - constants of this file are all that goes into these statements

from alembic import op
from sqlalchemy.exc import IntegrityError

from app.identity.platform.store.migrations.ddl import LOOKUP, is_postgres, protect
from app.settings import SettingsError

revision = "0018"
down_revision = "0017"
oldest_code = "0013"
branch_labels = None
depends_on = None

_CHECK = "ck_audit_before"
_CHECK_VIOLATION = "23514"
_ONE_AT_A_TIME = 4_017_204  # as in migrate.py
_BOUND = "lpad(to_hex((extract(epoch FROM {}) * 1000)::bigint), 12, '0')"
"""The least entry id from a moment on: its first 12 digits, which every collation sorts alike."""
_UPPER = _BOUND.format("date_trunc('month', now() AT TIME ZONE 'UTC') + interval '3 months'")
_INSIDE = "SET search_path = pg_catalog, pg_temp"
_AS_OWNER = f"LANGUAGE plpgsql SECURITY DEFINER {_INSIDE} SET lock_timeout = '250ms'"

_FUNCTIONS = {
    "gatehouse_audit_uppers()": f"""
CREATE FUNCTION public.gatehouse_audit_uppers() RETURNS TABLE (part regclass, upper text) LANGUAGE sql {_INSIDE} AS $$
    SELECT c.oid::regclass, substring(pg_get_expr(c.relpartbound, c.oid) FROM $r$ TO \\('([0-9a-f]{{12}})'\\)$r$) COLLATE "C"
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'public.audit'::regclass
$$""",
    # Whoever writes does so by way of `audit` alone, whose policy names the tenant; the backup role reads partitions themselves.
    "gatehouse_audit_shut(regclass)": f"""
CREATE FUNCTION public.gatehouse_audit_shut(part regclass) RETURNS void LANGUAGE plpgsql {_INSIDE} AS $$
DECLARE one record;
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', part);
    EXECUTE format('REVOKE ALL ON %s FROM PUBLIC', part);
    FOR one IN
        SELECT a.grantee::regrole::text AS role, bool_or(a.privilege_type <> 'SELECT') AS writes
        FROM pg_class c, aclexplode(c.relacl) a
        WHERE c.oid IN (part, 'public.audit'::regclass) AND a.grantee NOT IN (0, c.relowner) GROUP BY 1
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s', part, one.role);
        IF NOT one.writes THEN EXECUTE format('GRANT SELECT ON %s TO %s', part, one.role); END IF;
    END LOOP;
END $$""",
    "gatehouse_audit_make()": f"""
CREATE FUNCTION public.gatehouse_audit_make(OUT made integer, OUT waits boolean) {_AS_OWNER} AS $$
DECLARE starts timestamp; low text; high text; name text;
BEGIN
    made := 0; waits := false;
    IF NOT pg_try_advisory_xact_lock({_ONE_AT_A_TIME}) THEN RETURN; END IF;
    FOR ahead IN 0..3 LOOP
        starts := date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => ahead);
        low := {_BOUND.format("starts")};
        high := {_BOUND.format("starts + interval '1 month'")};
        name := 'audit_' || to_char(starts, 'YYYYMM');
        CONTINUE WHEN low COLLATE "C" < (SELECT max(upper) FROM public.gatehouse_audit_uppers());
        CONTINUE WHEN to_regclass('public.' || name) IS NOT NULL; -- somebody detached it
        BEGIN
            EXECUTE format('CREATE TABLE public.%I (LIKE public.audit INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', name);
            PERFORM public.gatehouse_audit_shut(to_regclass('public.' || name));
            EXECUTE format('ALTER TABLE public.audit ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)', name, low, high);
            made := made + 1;
        EXCEPTION
            WHEN check_violation THEN NULL; -- the default partition has rows of this month: they stay there, with the rest of it
            WHEN lock_not_available OR query_canceled THEN waits := true; RETURN; -- no later month first: this one would be left out
        END;
    END LOOP;
END $$""",
    # A SET clause cannot name the tenant: with our own settings' names that is the superuser's. Only `tenants` is read meanwhile.
    "gatehouse_audit_drop(timestamptz, integer)": f"""
CREATE FUNCTION public.gatehouse_audit_drop(as_of timestamptz, usual_days integer, OUT dropped text, OUT waits boolean)
{_AS_OWNER} AS $$
DECLARE longest integer; kept_from text; oldest regclass; name text;
    tenant text := coalesce(current_setting('gatehouse.tenant', true), '');
BEGIN
    waits := false;
    IF NOT pg_try_advisory_xact_lock({_ONE_AT_A_TIME}) THEN RETURN; END IF;
    PERFORM set_config('gatehouse.tenant', '{LOOKUP}', true);
    SELECT max(ceil(coalesce((settings ->> 'audit_days')::numeric, greatest(usual_days, 365)))) INTO longest FROM public.tenants;
    PERFORM set_config('gatehouse.tenant', tenant, true);
    IF longest IS NULL THEN RETURN; END IF; -- no tenant seen is no proof that there is none
    kept_from := {_BOUND.format("least(now(), as_of) - longest * interval '24 hours'")};
    SELECT part INTO oldest FROM public.gatehouse_audit_uppers() WHERE upper <= kept_from COLLATE "C" ORDER BY upper LIMIT 1;
    IF oldest IS NULL THEN RETURN; END IF;
    name := oldest::text;
    EXECUTE format('DROP TABLE %s', oldest);
    dropped := name;
EXCEPTION WHEN lock_not_available OR query_canceled OR deadlock_detected THEN waits := true;
END $$""",
}


def upgrade() -> None:
    if not is_postgres():
        return
    bound = _checked()
    op.execute("LOCK TABLE audit IN ACCESS EXCLUSIVE MODE")
    op.execute("ALTER TABLE audit RENAME TO audit_before")
    op.execute("ALTER INDEX pk_audit RENAME TO pk_audit_before")
    op.execute("ALTER INDEX ix_audit_uid RENAME TO ix_audit_before_uid")
    op.execute(
        "CREATE TABLE audit (LIKE audit_before INCLUDING DEFAULTS, CONSTRAINT pk_audit PRIMARY KEY (tenant_id, entry_id))"
        " PARTITION BY RANGE (entry_id)"
    )
    op.execute("CREATE INDEX ix_audit_uid ON audit (tenant_id, uid, at)")
    protect("audit")
    _copy_grants("audit_before", "audit")
    op.execute(f"ALTER TABLE audit ATTACH PARTITION audit_before FOR VALUES FROM (MINVALUE) TO ('{bound}')")
    op.execute(f"ALTER TABLE audit_before DROP CONSTRAINT {_CHECK}")
    op.execute("CREATE TABLE audit_other PARTITION OF audit DEFAULT")
    for signature, function in _FUNCTIONS.items():
        op.execute(function)
        op.execute(f"REVOKE ALL ON FUNCTION public.{signature} FROM PUBLIC")
    for part in ("audit_before", "audit_other"):
        op.execute(f"SELECT public.gatehouse_audit_shut('public.{part}')")


def _checked() -> str:
    """Prove that all rows lie below the first partition's bound, while they are read and written; return the bound.

    With a valid CHECK, ATTACH PARTITION does not read the table. A run that broke off leaves the CHECK behind: one with the same
    bound is used again, another is replaced.
    """
    connection = op.get_bind()
    bound = str(connection.exec_driver_sql(f"SELECT {_UPPER}").scalar_one())
    stands = connection.exec_driver_sql(
        f"SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'audit'::regclass AND conname = '{_CHECK}'"
    ).scalar()
    if stands is None or f"'{bound}'" not in stands:
        op.execute(f"ALTER TABLE audit DROP CONSTRAINT IF EXISTS {_CHECK}")
        op.execute(f"ALTER TABLE audit ADD CONSTRAINT {_CHECK} CHECK (entry_id < '{bound}') NOT VALID")
    is_beyond = False
    with op.get_context().autocommit_block():
        try:
            # reads all, and keeps neither readers nor writers out
            op.execute(f"ALTER TABLE audit VALIDATE CONSTRAINT {_CHECK}")
        except IntegrityError as problem:
            if getattr(problem.orig, "sqlstate", None) != _CHECK_VIOLATION:
                raise
            is_beyond = True
    if is_beyond:
        op.execute(f"ALTER TABLE audit DROP CONSTRAINT {_CHECK}")
        with op.get_context().autocommit_block():
            pass  # commits that: it must not stay and refuse rows
        raise SettingsError(
            f"The audit trail has rows dated months ahead by a wrong clock (entry_id >= '{bound}'). As superuser, delete them or change "
            "their ids, then run 'gatehouse migrate' again."
        )
    return bound


def downgrade() -> None:
    """Make one table again: the first partition, if it is still there, and a copy of the rows of all others."""
    if not is_postgres():
        return
    op.execute("LOCK TABLE audit IN ACCESS EXCLUSIVE MODE")
    for signature in reversed(_FUNCTIONS):
        op.execute(f"DROP FUNCTION public.{signature}")
    if op.get_bind().exec_driver_sql("SELECT to_regclass('public.audit_before')").scalar() is None:
        op.execute(
            "CREATE TABLE audit_before (LIKE audit INCLUDING DEFAULTS, CONSTRAINT pk_audit_before PRIMARY KEY (tenant_id, entry_id))"
        )
        op.execute("CREATE INDEX ix_audit_before_uid ON audit_before (tenant_id, uid, at)")
    else:
        op.execute("ALTER TABLE audit DETACH PARTITION audit_before")
        op.execute("DROP POLICY IF EXISTS own_tenant ON audit_before")
    for table in ("audit", "audit_before"):  # within this transaction: the owner copies every tenant's rows
        op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    op.execute("SET LOCAL row_security = off")  # a copy from which a policy would hide rows fails
    op.execute("INSERT INTO audit_before SELECT * FROM audit")
    op.execute("SET LOCAL row_security = on")
    _copy_grants("audit", "audit_before")
    op.execute("DROP TABLE audit")
    op.execute("ALTER TABLE audit_before RENAME TO audit")
    op.execute("ALTER INDEX pk_audit_before RENAME TO pk_audit")
    op.execute("ALTER INDEX ix_audit_before_uid RENAME TO ix_audit_uid")
    protect("audit")


def _copy_grants(source: str, target: str) -> None:
    """Grant on `target` what is granted on `source`, and no more."""
    op.execute(
        f"""DO $$ DECLARE one record; BEGIN
        FOR one IN SELECT DISTINCT a.grantee::regrole::text AS role FROM pg_class c, aclexplode(c.relacl) a
                   WHERE c.oid = '{target}'::regclass AND a.grantee NOT IN (0, c.relowner) LOOP
            EXECUTE format('REVOKE ALL ON {target} FROM %s', one.role);
        END LOOP;
        FOR one IN SELECT a.grantee::regrole::text AS role, a.privilege_type FROM pg_class c, aclexplode(c.relacl) a
                   WHERE c.oid = '{source}'::regclass AND a.grantee NOT IN (0, c.relowner) LOOP
            EXECUTE format('GRANT %s ON {target} TO %s', one.privilege_type, one.role);
        END LOOP; END $$"""
    )
