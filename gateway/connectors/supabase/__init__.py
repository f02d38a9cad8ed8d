"""The connector `supabase`: the code that its contracts refer to."""
