"""What tests of pipelines share."""

from tests.pipelines.spark.session import kafka, spark

__all__ = ["kafka", "spark"]
