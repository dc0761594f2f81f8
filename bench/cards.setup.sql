-- What `bench/cards.pgbench.sql` writes to: the tables that a stored card needs, with their columns, checks and indexes, without row level
-- security and foreign keys.
create schema bench;
create sequence bench.ids cache 100;
create table bench.secrets (like vault.secrets including all);
create table bench.payment_methods (like payment_methods including all);
create table bench.audit_logs (like audit_logs including all);
