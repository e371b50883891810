"""The same work under tensorx and its peers, in turns, in one process.

    python -m benchmarks                                  everything, on the cpu, beside every peer that is installed
    python -m benchmarks --device cpu --device opencl:intel --peers torch --only matmul,softmax --json out.json

Medians of rounds in both orders, warm. Percentages are of this machine's peak (triad, FMA), measured in the same run.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks import cold, memory, peak, peers, placement, sizes, table, timing


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", action="append", help="a device of tensorx; may be repeated (default: cpu)")
    parser.add_argument(
        "--peers", help="comma-separated: torch, torch:cuda, tinygrad, jax, numpy (default: those installed)"
    )
    parser.add_argument(
        "--only", help="comma-separated pieces of family or work names; also: cold, memory, placement, sizes"
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--markdown", type=Path, help="write the times into this page, as a table")
    parser.add_argument("--plot", type=Path, help="draw the ratios (else the sizes) into this file (needs matplotlib)")
    a = parser.parse_args()
    devices, only = a.device or ["cpu"], a.only.split(",") if a.only else []
    names = peers.installed(None if a.peers is None else [n for n in a.peers.split(",") if n])
    limits = peak.measure()
    print(f"{timing.machine()}\n{limits}\n")
    rows = table.run(
        [peers.make("tensorx", d) for d in devices] + [peers.make(n) for n in names], only, limits, a.rounds
    )
    if rows:
        table.summarise(rows, devices, names)
    extra = {m.__name__.rpartition(".")[2]: m for m in (cold, memory, placement, sizes)}
    more = {name: module.main(devices, names) for name, module in extra.items() if not only or name in only}
    if a.json:
        a.json.write_text(
            json.dumps({"machine": timing.machine(), "peak": limits._asdict(), "works": rows, **more}, indent=1)
        )
    if a.markdown:
        a.markdown.write_text(table.markdown(rows, timing.machine()))
    if a.plot and rows:
        table.plot(rows, devices, names, a.plot)
    elif a.plot and "sizes" in more:
        sizes.plot(more["sizes"], a.plot)


if __name__ == "__main__":
    main()
