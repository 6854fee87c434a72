"""Long runs: `python -m tests.chaos.cluster --runs 20 --seconds 300`; also one seed again: `--seed 7`."""

from __future__ import annotations

import argparse
import faulthandler
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.chaos.cluster.checker import report
from tests.chaos.cluster.run import Plan, Result, Run, recovery_table

HEADER = (
    "| seed | nodes | disk | time | operations | acknowledged | transactions | topics | faults "
    "| lost | duplicated | reordered | whole again |\n|" + "---|" * 13
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the first run")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=300.0, help="of each run")
    parser.add_argument("--faults", help="kill,pause,… in place of those that the seed picks")
    parser.add_argument("--disk", choices=["plain", "tmpfs", "ext4", "xfs"])
    parser.add_argument("--size", type=int)
    parser.add_argument("--loopback", action="store_true", help="without network namespaces, as without root")
    parser.add_argument("--zookeeper", action="store_true", help="a cluster in ZooKeeper, on the loopback")
    parser.add_argument("--sync", action="store_true", help="acknowledge nothing that is not synced")
    parser.add_argument("--rate", type=float, help="sends a second of each idempotent producer (40)")
    parser.add_argument("--light", action="store_true", help="producers and a reader are the only clients")
    parser.add_argument("--keep", action="store_true", help="keep the folder of a run without findings, too")
    arguments = parser.parse_args()
    faulthandler.register(signal.SIGUSR1)  # where does it hang?
    results: list[Result] = []
    for seed in range(arguments.seed, arguments.seed + arguments.runs):
        network = os.geteuid() == 0 and not (arguments.loopback or arguments.zookeeper)
        plan = Plan.of_seed(seed, arguments.seconds, network=network)
        plan.zookeeper, plan.syncs = arguments.zookeeper, arguments.sync
        plan.kinds = arguments.faults.split(",") if arguments.faults else None
        plan.clocks = plan.clocks or "clock" in (plan.kinds or ())
        plan.disk = arguments.disk or plan.disk
        plan.size, plan.light = arguments.size or plan.size, arguments.light
        plan.rate = arguments.rate or plan.rate
        folder = Path(tempfile.mkdtemp(prefix=f"kbroker-chaos-{seed}-"))
        result = Run(plan, folder).play()
        results.append(result)
        print(f"seed {seed}: {', '.join(result.kinds)}; {time.strftime('%H:%M:%S')}", flush=True)
        print(result.row(), flush=True)
        if result.found:
            print(f"{report(result.found)}\nsee {folder}", flush=True)
        elif not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(HEADER)
    for result in results:
        print(result.row())
    print()
    print(recovery_table(results))
    return int(any(result.found for result in results))


if __name__ == "__main__":
    sys.exit(main())
