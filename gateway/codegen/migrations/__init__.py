"""How the tables of entities follow their contracts: revisions that are added and never changed."""
