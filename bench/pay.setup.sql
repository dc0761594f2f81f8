-- What `bench/pay.pgbench.sql` writes to: the tables that a payment needs, with their columns, checks and indexes, without row level security and
-- foreign keys.
create schema bench;
create sequence bench.ids cache 100;
create table bench.transactions (like transactions including all) with (fillfactor = 80);
create table bench.transaction_facts (like transaction_facts including all);
create table bench.transaction_states (like transaction_states including all) with (fillfactor = 80);
create table bench.transaction_metadata (like transaction_metadata including all);
create table bench.transaction_instruments (like transaction_instruments including all) with (fillfactor = 80);
create table bench.attempts (like attempts including all) with (fillfactor = 80);
create table bench.captures (like captures including all);
create table bench.transaction_events (like transaction_events including all);
create table bench.audit_logs (like audit_logs including all);
create table bench.events (like events including all);
create table bench.event_queue (like event_queue including all);
