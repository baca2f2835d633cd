"""Frequent items and quantiles as functions of Spark's, see `by_python` for a Spark without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latchfree_spark.sketch.bounds import QUANTILES, RANKS, TRACKED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def accumulated() -> list[Column]:
    """Return aggregates of messages: the sketches of a window."""
    from pyspark.sql import functions as F

    return [
        F.call_function("approx_top_k_accumulate", F.col("topic"), F.lit(TRACKED)).alias("heavy_items"),
        F.kll_sketch_agg_bigint("size", RANKS).alias("sizes_kll"),
        F.kll_sketch_agg_bigint("fan_out", RANKS).alias("fan_outs_kll"),
    ]


def combined() -> list[Column]:
    """Return aggregates of the sketches of windows: their union."""
    from pyspark.sql import functions as F

    return [
        F.call_function("approx_top_k_combine", F.col("heavy_items"), F.lit(TRACKED)).alias("heavy_items"),
        F.kll_merge_agg_bigint("sizes_kll", RANKS).alias("sizes_kll"),
        F.kll_merge_agg_bigint("fan_outs_kll", RANKS).alias("fan_outs_kll"),
    ]


def estimated(frame: DataFrame, heavy: int) -> DataFrame:
    """Return sketches with what they estimate."""
    from pyspark.sql import functions as F

    return (
        frame.withColumn("heavy", F.call_function("approx_top_k_estimate", F.col("heavy_items"), F.lit(heavy)))
        .withColumn("sizes", _quantiles("sizes_kll"))
        .withColumn("fan_outs", _quantiles("fan_outs_kll"))
    )


def _quantiles(sketch: str) -> Column:
    """Return the quantiles that a sketch estimates, null if it has seen nothing."""
    from pyspark.sql import functions as F

    ranks = F.array(*[F.lit(rank) for rank in QUANTILES])
    return F.when(F.kll_sketch_get_n_bigint(sketch) > 0, F.kll_sketch_get_quantile_bigint(sketch, ranks))
