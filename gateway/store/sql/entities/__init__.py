"""Rows of entities: merged by the times of their events, and read page by page."""
