"""The revisions of the gateway's own tables, from 0016 on."""
