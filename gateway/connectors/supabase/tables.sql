-- The tables of the connector supabase, for a Supabase project or another PostgreSQL behind PostgREST.
-- To be run once; running it again does no harm. PostgreSQL 14 or newer.
-- The tables that webhooks write (quotes, rfqs, bookings, operator_profiles) are in the gateway's store.
-- Text is compared by code points (collate "C"), as in the gateway's own workspace database.

create or replace function set_updated_at() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.created_at := old.created_at;
  new.updated_at := now();
  return new;
end
$$;

create table if not exists agent_errors (
  id text collate "C" primary key default gen_random_uuid()::text,
  workflow_id text collate "C",
  request_id text collate "C",
  agent_type text collate "C" not null,
  agent_id text collate "C",
  task_id text collate "C",
  error_type text collate "C" not null,
  error_message text collate "C",
  retry_count bigint not null default 0,
  stack_trace text collate "C",
  context jsonb,
  is_resolved boolean not null default false,
  occurred_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
alter table agent_errors enable row level security;
create or replace trigger set_updated_at before update on agent_errors
  for each row execute function set_updated_at();

create table if not exists client_cache (
  id text collate "C" primary key default gen_random_uuid()::text,
  client_id text collate "C",
  name text collate "C",
  email text collate "C",
  phone text collate "C",
  company text collate "C",
  aircraft_preference text collate "C",
  catering_preference text collate "C",
  special_needs text collate "C",
  vip_status text collate "C",
  total_flights bigint,
  last_flight_date date,
  preferred_operators jsonb,
  preferences jsonb,
  history jsonb,
  cached_at timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
alter table client_cache enable row level security;
create or replace trigger set_updated_at before update on client_cache
  for each row execute function set_updated_at();

create table if not exists flight_options (
  id text collate "C" primary key default gen_random_uuid()::text,
  request_id text collate "C" not null,
  rfp_id text collate "C",
  status text collate "C" not null default 'found',
  flights jsonb,
  empty_legs jsonb,
  criteria jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
alter table flight_options enable row level security;
create or replace trigger set_updated_at before update on flight_options
  for each row execute function set_updated_at();

create table if not exists iso_requests (
  id text collate "C" primary key default gen_random_uuid()::text,
  client_id text collate "C",
  client_name text collate "C",
  client_email text collate "C",
  status text collate "C" not null default 'new',
  priority text collate "C" not null default 'normal',
  departure_airport text collate "C",
  arrival_airport text collate "C",
  departure_date date,
  return_date date,
  passengers bigint,
  budget_usd double precision,
  special_requirements text collate "C",
  message text collate "C",
  details jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
alter table iso_requests enable row level security;
create or replace trigger set_updated_at before update on iso_requests
  for each row execute function set_updated_at();

create table if not exists iso_workflows (
  id text collate "C" primary key default gen_random_uuid()::text,
  request_id text collate "C" not null,
  state text collate "C" not null default 'CREATED',
  priority text collate "C" not null default 'normal',
  metadata jsonb,
  email_sent_at timestamptz,
  email_message_id text collate "C",
  completed_at timestamptz,
  failed_at timestamptz,
  failure_reason text collate "C",
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
alter table iso_workflows enable row level security;
create or replace trigger set_updated_at before update on iso_workflows
  for each row execute function set_updated_at();

create table if not exists quote_scores (
  id text collate "C" primary key default gen_random_uuid()::text,
  rfp_id text collate "C" not null,
  quote_id text collate "C" not null,
  price_score double precision not null,
  safety_score double precision not null,
  speed_score double precision not null,
  comfort_score double precision not null,
  total_score double precision not null,
  rank bigint not null,
  weights jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
alter table quote_scores enable row level security;
create or replace trigger set_updated_at before update on quote_scores
  for each row execute function set_updated_at();

create table if not exists ranked_proposals (
  id text collate "C" primary key default gen_random_uuid()::text,
  request_id text collate "C" not null,
  rfp_id text collate "C",
  quote_id text collate "C",
  rank bigint not null,
  total_score double precision,
  operator_name text collate "C",
  aircraft_type text collate "C",
  total_price_usd double precision,
  summary text collate "C",
  proposal jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
alter table ranked_proposals enable row level security;
create or replace trigger set_updated_at before update on ranked_proposals
  for each row execute function set_updated_at();
