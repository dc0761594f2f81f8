-- Events that the stream for other systems has not got yet. A row comes in the commit that takes its event from event_queue, and goes when NATS has
-- acknowledged the event. Rows live for milliseconds, as those of event_queue.

create table event_stream_queue (
  event_id uuid not null,
  constraint event_stream_queue_pkey primary key (event_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

grant select, insert, delete on event_stream_queue to florin_worker;
