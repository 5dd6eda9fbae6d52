"""Versioned JSON model files: validated on load, written atomically, never executed."""

from ecsel.files.document import ModelDocument
from ecsel.files.errors import ModelFileError
from ecsel.files.schema import SCHEMA
from ecsel.files.storage import read, write

__all__ = ["SCHEMA", "ModelDocument", "ModelFileError", "read", "write"]
