"""The model as one query over a table: `ecsel.export.targets.sql.scoring` has `to_sql`, the other modules its parts."""
