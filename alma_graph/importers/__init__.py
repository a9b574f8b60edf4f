"""Foreign files to memories, by small declarative maps.

A map says which memories each row becomes, and from where in the row each field comes. Maps are YAML, are checked when
they are read, and run no code.

    field_map = load_map("tau")                        # a packaged one, or the path of a file
    report = import_file(alma, path, field_map, where={"trial": "0"})

ALMA's own SQLite file needs no map: `import_alma(path, lambda project: ALMA.open(location, project_id=project))`.
"""

from alma_graph.importers.alma_sqlite import AlmaReport, import_alma
from alma_graph.importers.mapping import Draft, FieldMap, load_map, packaged_maps
from alma_graph.importers.reading import FORMATS, SourceRow, read_rows
from alma_graph.importers.running import ImportReport, RowError, Sink, import_file, import_rows

__all__ = [
    "FORMATS",
    "AlmaReport",
    "Draft",
    "FieldMap",
    "ImportReport",
    "RowError",
    "Sink",
    "SourceRow",
    "import_alma",
    "import_file",
    "import_rows",
    "load_map",
    "packaged_maps",
    "read_rows",
]
