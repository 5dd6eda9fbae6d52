"""Tables to positive features: types, encoding, missing values, scaling, names, and the way back to raw units."""

from ecsel.tables.columns import CategoricalColumn, Column, EmptyColumn, NumericColumn, OrdinalColumn
from ecsel.tables.encoder import TableEncoder
from ecsel.tables.features import Feature, Level
from ecsel.tables.report import ColumnReport, TransformReport
from ecsel.tables.scaling import Affine, Summary, affine_map, choose_scaling, summarise

__all__ = [
    "Affine",
    "CategoricalColumn",
    "Column",
    "ColumnReport",
    "EmptyColumn",
    "Feature",
    "Level",
    "NumericColumn",
    "OrdinalColumn",
    "Summary",
    "TableEncoder",
    "TransformReport",
    "affine_map",
    "choose_scaling",
    "summarise",
]
