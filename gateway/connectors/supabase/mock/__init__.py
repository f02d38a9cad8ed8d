"""The mock of a Supabase project's Data API."""
