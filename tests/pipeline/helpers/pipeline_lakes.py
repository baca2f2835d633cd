"""A driver with tables of Delta Lake or Iceberg: ``pipeline_lakes.py KIND FOLDER FILE...``, a night for each file.

It prints, as JSON, how many histories each night judged, and the verdicts that the table has in the end.
"""

import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import latchfree_spark
from latchfree_spark import spark_session

BY = ["night", "history"]


class Delta:
    """Tables that the package `deltalake` reads and writes."""

    def __init__(self, folder):
        self._folder = folder

    def read(self, name):
        """Return a table, None if there is none."""
        from deltalake import DeltaTable

        path = str(self._folder / name)
        return pa.table(DeltaTable(path).to_pyarrow_table()) if DeltaTable.is_deltatable(path) else None

    def append(self, name, rows):
        """Add rows to a table."""
        from deltalake import write_deltalake

        write_deltalake(str(self._folder / name), rows, mode="append")


class Iceberg:
    """Tables that the package `pyiceberg` reads and writes, in a catalogue of SQLite."""

    def __init__(self, folder):
        from pyiceberg.catalog import load_catalog

        where = {"uri": f"sqlite:///{folder}/catalogue.db", "warehouse": f"file://{folder}"}
        self._catalog = load_catalog("lab", type="sql", **where)
        self._catalog.create_namespace_if_not_exists("lab")

    def read(self, name):
        """Return a table, None if there is none."""
        name = f"lab.{name}"
        return self._catalog.load_table(name).scan().to_arrow() if self._catalog.table_exists(name) else None

    def append(self, name, rows):
        """Add rows to a table."""
        self._catalog.create_table_if_not_exists(f"lab.{name}", schema=rows.schema).append(rows)


def main(kind, folder, *files):
    """Judge each night what the table of verdicts does not have."""
    lake, judged = {"delta": Delta, "iceberg": Iceberg}[kind](Path(folder)), []
    with spark_session("tests", master="local[2]") as spark:
        for number, file in enumerate(files):
            rows = pq.read_table(file)
            lake.append("operations", rows.append_column("night", pa.array([f"night{number}"] * rows.num_rows)))
            operations, known = spark.createDataFrame(lake.read("operations")), lake.read("verdicts")
            if known is not None:
                operations = operations.join(spark.createDataFrame(known.select(BY)), BY, "left_anti")
            verdicts = latchfree_spark.check(operations, model="map", by=BY).toArrow()
            judged.append(verdicts.num_rows)
            lake.append("verdicts", verdicts)
    found = lake.read("verdicts").select([*BY, "verdict"]).to_pylist()
    print(json.dumps({"judged": judged, "verdicts": [list(row.values()) for row in found]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
