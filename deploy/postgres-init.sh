#!/bin/bash
# Runs once, when the postgres container creates its database: creates Gatehouse's roles, and the backup role if BACKUP_PASSWORD is set.
set -euo pipefail
backup=()
[ -z "${BACKUP_PASSWORD:-}" ] || backup=(--set backup=gatehouse_backup --set backup_password="$BACKUP_PASSWORD")
psql --username postgres --dbname "$POSTGRES_DB" --no-psqlrc \
    --set owner=gatehouse_owner --set owner_password="$OWNER_PASSWORD" \
    --set runtime=gatehouse_runtime --set runtime_password="$RUNTIME_PASSWORD" "${backup[@]}" \
    --file /gatehouse/postgres-roles.sql
