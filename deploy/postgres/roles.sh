#!/bin/sh
# Makes the four database roles of Florin and gives each the password that is in its URL. Run by the image of PostgreSQL when it makes its
# data folder; it can be run again at any time, by an administrator of the database.
set -eu
secrets=${SECRETS_FOLDER:-/run/secrets}
administer() { psql --quiet --no-psqlrc -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" "$@"; }

administer -f "${ROLES_FILE:-/florin/roles.sql}"
for process in migrate api worker vault; do
  password=$(sed -e 's#^[^:]*://[^:]*:##' -e 's#@.*$##' "$secrets/${process}_database_url")
  administer -v role="florin_$process" -v password="$password" <<'SQL'
alter role :"role" password :'password';
SQL
done
