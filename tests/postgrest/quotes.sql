-- A table with columns of every kind, for tests.
create table if not exists quotes (
  id text collate "C" primary key default gen_random_uuid()::text,
  rfp_id text collate "C" not null,
  request_id text collate "C",
  operator_id text collate "C",
  operator_name text collate "C",
  operator_rating double precision,
  aircraft_type text collate "C",
  aircraft_category text collate "C",
  total_price_usd double precision,
  flight_minutes bigint,
  amenities jsonb,
  status text collate "C" not null default 'received',
  valid_until timestamptz,
  notes text collate "C",
  details jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
alter table quotes enable row level security;
create or replace trigger set_updated_at before update on quotes
  for each row execute function set_updated_at();
