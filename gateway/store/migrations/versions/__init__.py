"""The revisions. The statements of a published revision never change."""
