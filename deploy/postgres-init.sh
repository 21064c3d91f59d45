#!/bin/bash
# Runs once, when the postgres container makes its database: the roles of Gatehouse; that of backups where it has a password.
set -euo pipefail
backup=()
[ -z "${BACKUP_PASSWORD:-}" ] || backup=(--set backup=gatehouse_backup --set backup_password="$BACKUP_PASSWORD")
psql --username postgres --dbname "$POSTGRES_DB" --no-psqlrc \
    --set owner=gatehouse_owner --set owner_password="$OWNER_PASSWORD" \
    --set runtime=gatehouse_runtime --set runtime_password="$RUNTIME_PASSWORD" "${backup[@]}" \
    --file /gatehouse/postgres-roles.sql
