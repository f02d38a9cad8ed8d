"""The connector `supabase`: what its contracts cannot say by themselves."""
