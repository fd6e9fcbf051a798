"""`python -m benchmarks [NAME ...]`, or all of them: print the tables, write benchmarks/results/."""

import sys
from collections.abc import Callable

from benchmarks import (
    ablation,
    forbidden,
    growth,
    ledger,
    optuna_sampler,
    overhead,
    recovery,
    scale,
    speed,
    throughput,
)
from benchmarks.search import command as search
from benchmarks.simulation import command as simulation

PARTS: dict[str, Callable[[], object]] = {
    "speed": speed.main,
    "scale": scale.main,
    "growth": growth.main,
    "recovery": recovery.main,
    "ledger": ledger.main,
    "overhead": overhead.main,
    "optuna_sampler": optuna_sampler.main,
    "forbidden": forbidden.main,
    "ablation": ablation.main,
    "throughput": throughput.main,
    "simulation": simulation.main,
    "search": search.main,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"benchmarks: there is no {', '.join(unknown)}; choose from {', '.join(PARTS)}", file=sys.stderr)
        return 2
    for name in names or PARTS:
        PARTS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
