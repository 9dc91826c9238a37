"""Information loss, COUNT workloads, estimates and bounds."""

from anondb.utility.accuracy import Accuracy, ReleasedData, measure, of_recoding, of_release, p_item
from anondb.utility.errors import RelativeError, error_figures
from anondb.utility.local_accuracy import measure_global, measure_local
from anondb.utility.loss import (
    Cover,
    Loss,
    generalized_items,
    global_loss,
    lm_of,
    local_loss,
    ncp_of,
    suppressed_items,
    ul_a,
    ul_a_log2,
)
from anondb.utility.workload import Workload, owner_workload, random_workload

__all__ = [
    "Accuracy",
    "Cover",
    "Loss",
    "RelativeError",
    "ReleasedData",
    "Workload",
    "error_figures",
    "generalized_items",
    "global_loss",
    "lm_of",
    "local_loss",
    "measure",
    "measure_global",
    "measure_local",
    "ncp_of",
    "of_recoding",
    "of_release",
    "owner_workload",
    "p_item",
    "random_workload",
    "suppressed_items",
    "ul_a",
    "ul_a_log2",
]
