"""What tests of pipelines share."""

from tests.pipelines.spark.session import iceberg_spark, kafka, spark

__all__ = ["iceberg_spark", "kafka", "spark"]
