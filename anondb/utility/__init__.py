"""Information loss, COUNT workloads, estimates and bounds."""
