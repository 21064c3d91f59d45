-- The owner migrates, the runtime role serves. The runtime role owns no table and is no superuser, so row-level
-- security binds it. Run once as superuser, in the database of Gatehouse:
--   psql -v owner=gatehouse_owner -v owner_password=... -v runtime=gatehouse_runtime -v runtime_password=... -f postgres-roles.sql
\set ON_ERROR_STOP on

SELECT format('CREATE ROLE %I LOGIN PASSWORD %L NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS', :'owner', :'owner_password')
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'owner') \gexec
SELECT format('CREATE ROLE %I LOGIN PASSWORD %L NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS', :'runtime', :'runtime_password')
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'runtime') \gexec

SELECT format('ALTER DATABASE %I OWNER TO %I', current_database(), :'owner') \gexec
ALTER SCHEMA public OWNER TO :"owner";
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO :"runtime";

-- The runtime role may read and write the rows of tables that the owner's migrations create later, and gets no other privileges.
ALTER DEFAULT PRIVILEGES FOR ROLE :"owner" IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO :"runtime";
ALTER DEFAULT PRIVILEGES FOR ROLE :"owner" IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO :"runtime";

-- With -v backup=gatehouse_backup -v backup_password=..., at any time: creates a read-only role that sees the rows of every tenant.
-- The owner and runtime roles see no rows outside a tenant's transaction, so pg_dump as one of them fails or writes no rows.
\if :{?backup}
SELECT format('CREATE ROLE %I LOGIN PASSWORD %L NOSUPERUSER NOCREATEDB NOCREATEROLE BYPASSRLS', :'backup', :'backup_password')
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'backup') \gexec
SELECT format('ALTER ROLE %I SET default_transaction_read_only = on', :'backup') \gexec
GRANT USAGE ON SCHEMA public TO :"backup";
GRANT SELECT ON ALL TABLES IN SCHEMA public TO :"backup";
GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO :"backup";
ALTER DEFAULT PRIVILEGES FOR ROLE :"owner" IN SCHEMA public GRANT SELECT ON TABLES TO :"backup";
ALTER DEFAULT PRIVILEGES FOR ROLE :"owner" IN SCHEMA public GRANT SELECT ON SEQUENCES TO :"backup";
\endif
