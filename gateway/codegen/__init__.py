"""From contracts to generated code: a pure function of the files under a schemas folder."""
