"""What only Lambda runs: telemetry, snapshots, the heartbeat of zones, exporters, and what follows the table."""
