"""The version of the library: the only place where it is written."""

__version__ = "0.2.0"
OLD_NAMES_GO_IN = "0.4"
"""Names that 0.2 replaced work for two minor versions, as docs/versions.md promises."""
