"""The checks of tools and of the upstreams behind them."""
