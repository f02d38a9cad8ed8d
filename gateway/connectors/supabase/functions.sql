-- The functions that the gateway calls in a Supabase project or behind another PostgREST.
-- To be installed once, after tables.sql; running it again does no harm. PostgreSQL 14 or newer.

-- Scores from 0 to 100, totals and ranks, best first. The same as the gateway's own
-- gateway/connectors/supabase/scores.py, operation for operation on doubles.
create or replace function calculate_quote_scores(
  quotes jsonb,
  client_preferences jsonb default '{}',
  weights jsonb default '{}'
) returns jsonb
language sql stable
set search_path = ''
set extra_float_digits = 1
as $$
with asked as (
  select
    coalesce((weights ->> 'price')::float8, 0.30::float8) as price_weight,
    coalesce((weights ->> 'safety')::float8, 0.35::float8) as safety_weight,
    coalesce((weights ->> 'speed')::float8, 0.15::float8) as speed_weight,
    coalesce((weights ->> 'comfort')::float8, 0.20::float8) as comfort_weight,
    (client_preferences ->> 'max_budget')::float8 as max_budget,
    (client_preferences ->> 'min_operator_rating')::float8 as min_rating,
    client_preferences ->> 'aircraft_category' as wanted_category,
    array(
      select distinct wish
      from jsonb_array_elements_text(
        case when jsonb_typeof(client_preferences -> 'amenities') = 'array'
          then client_preferences -> 'amenities' else '[]' end
      ) as wishes(wish)
    ) as wishes
), weighed as (
  select *, price_weight + safety_weight + speed_weight + comfort_weight as whole from asked
), given as (
  select
    place,
    coalesce(nullif(quote ->> 'quote_id', ''), quote ->> 'id') as quote_id,
    (quote ->> 'total_price_usd')::float8 as price,
    (quote ->> 'operator_rating')::float8 as rating,
    (quote ->> 'flight_minutes')::float8 as minutes,
    quote ->> 'aircraft_category' as category,
    array(
      select distinct amenity
      from jsonb_array_elements_text(
        case when jsonb_typeof(quote -> 'amenities') = 'array'
          then quote -> 'amenities' else '[]' end
      ) as amenities(amenity)
    ) as on_board
  from jsonb_array_elements(quotes) with ordinality as listed(quote, place)
), field as (
  select min(price) as cheapest, min(minutes) as fastest from given
), measured as (
  select
    given.*, weighed.*,
    case
      when price is null then null
      when price <= 0 then 100::float8
      else 100::float8 * cheapest / price
    end as price_ratio,
    100::float8 * rating / 5::float8 as rating_share,
    case when minutes > 0 then 100::float8 * fastest / minutes end as speed_points,
    case
      when category = wanted_category then 100::float8
      when category = 'light' then 40::float8
      when category = 'midsize' then 60::float8
      when category = 'heavy' then 80::float8
      when category = 'ultra-long-range' then 100::float8
    end as aircraft_points
  from given cross join weighed cross join field
), pointed as (
  select
    *,
    case when price > max_budget then price_ratio * max_budget / price else price_ratio end as price_points,
    case when rating < min_rating then rating_share / 2::float8 else rating_share end as safety_points,
    case
      when cardinality(wishes) = 0 then aircraft_points
      else (
        aircraft_points + 100::float8 * (
          (select count(*) from unnest(wishes) as each(wish) where wish = any (on_board))::float8
          / cardinality(wishes)::float8
        )
      ) / 2::float8
    end as comfort_points
  from measured
), rounded as (
  select
    *,
    coalesce(floor(price_points * 100::float8 + 0.5::float8) / 100::float8, 50::float8) as price_score,
    coalesce(floor(safety_points * 100::float8 + 0.5::float8) / 100::float8, 50::float8) as safety_score,
    coalesce(floor(speed_points * 100::float8 + 0.5::float8) / 100::float8, 50::float8) as speed_score,
    coalesce(floor(comfort_points * 100::float8 + 0.5::float8) / 100::float8, 50::float8) as comfort_score
  from pointed
), totalled as (
  select
    *,
    least(
      floor(
        (
          price_score * price_weight + safety_score * safety_weight
          + speed_score * speed_weight + comfort_score * comfort_weight
        ) / whole * 100::float8 + 0.5::float8
      ) / 100::float8,
      100::float8
    ) as total_score
  from rounded
), ranked as (
  select *, rank() over (order by total_score desc) as final_rank from totalled
)
select jsonb_build_object(
  'scores', coalesce(
    (
      select jsonb_agg(
        jsonb_build_object(
          'quote_id', quote_id,
          'price_score', price_score,
          'safety_score', safety_score,
          'speed_score', speed_score,
          'comfort_score', comfort_score,
          'total_score', total_score,
          'rank', final_rank,
          'missing', to_jsonb(array_remove(array[
            case when price_points is null then 'price' end,
            case when safety_points is null then 'safety' end,
            case when speed_points is null then 'speed' end,
            case when comfort_points is null then 'comfort' end
          ], null))
        ) order by total_score desc, place
      )
      from ranked
    ),
    '[]'::jsonb
  ),
  'weights', (
    select jsonb_build_object(
      'price', floor(price_weight / whole * 10000::float8 + 0.5::float8) / 10000::float8,
      'safety', floor(safety_weight / whole * 10000::float8 + 0.5::float8) / 10000::float8,
      'speed', floor(speed_weight / whole * 10000::float8 + 0.5::float8) / 10000::float8,
      'comfort', floor(comfort_weight / whole * 10000::float8 + 0.5::float8) / 10000::float8
    )
    from weighed
  )
)
$$;

-- Only the role of the gateway's key may call it.
revoke all on function calculate_quote_scores(jsonb, jsonb, jsonb) from public;
do $$
begin
  if exists (select from pg_roles where rolname = 'service_role') then
    grant execute on function calculate_quote_scores(jsonb, jsonb, jsonb) to service_role;
  end if;
end
$$;
