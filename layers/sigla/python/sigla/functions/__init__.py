"""What only Lambda runs: telemetry, snapshots, the heartbeat of zones, and what follows the table."""
