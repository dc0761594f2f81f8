-- What browsers did lately, for the limit that keeps them from trying out cards: docs/decisions/0015-the-embed-limit.md.
-- Unlogged: it is written by every request of a browser and is worth nothing after a minute. A crash of the server empties it.

create unlogged table embed_uses (
  asked_at timestamptz not null, -- last, whatever the answer
  allowed  boolean not null, -- the answer
  subject  bytea not null check (length(subject) = 32), -- SHA-256 of a token's key and jti, or of a checkout session's id
  times    timestamptz[] not null, -- of the last uses that were allowed, in order; no more than the limit

  constraint embed_uses_pkey primary key (subject)
) with (
  -- Room for the next version of a row in its own page: no index is touched.
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0.02
);

grant select, insert, update on embed_uses to florin_api;
grant select, delete on embed_uses to florin_worker;
