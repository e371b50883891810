"""Running works under peers, and the tables of what came out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from benchmarks.peak import Peak
from benchmarks.peers import Peer
from benchmarks.timing import Loop, interleave
from benchmarks.work import Unsupported, Work
from benchmarks.works import all_works

#: A row of the table, as it goes to JSON: family, work, seconds of one piece for each peer, share of the peak.
Row = dict[str, Any]


def chosen(only: Sequence[str]) -> list[Work]:
    return [w for w in all_works() if not only or any(word in f"{w.family} {w.name}" for word in only)]


def run(candidates: Sequence[Peer], only: Sequence[str], limits: Peak, rounds: int) -> list[Row]:
    """Time each work under each peer that has it, and print a line as soon as it is known."""
    rows, family = [], ""
    for work in chosen(only):
        if work.family != family:
            family = work.family
            print(f"{family:55}" + "".join(f"{p.name:>14}" for p in candidates) + "    of the peak")
        row = _time(work, candidates, limits, rounds)
        rows.append(row)
        cells = "".join(f"{_seconds(row['seconds'].get(p.name)):>14}" for p in candidates)
        share = row["share"].get(candidates[0].name)
        print(f"  {work.name:53}{cells}{'' if share is None else f'{share:12.0%}'}", flush=True)
    return rows


def _time(work: Work, candidates: Sequence[Peer], limits: Peak, rounds: int) -> Row:
    loops: dict[str, Loop] = {}
    for peer in candidates:
        try:
            step = work.make(peer)
            step()
        except (Unsupported, AttributeError, TypeError):  # a peer without one of the names, or of the arguments
            if peer is candidates[0]:
                raise
            continue
        loops[peer.name] = peer.loop(step)
    seconds = {name: timing.median / work.count for name, timing in interleave(loops, rounds).items()}
    least = max(work.flops / limits.flops, work.nbytes / limits.bandwidth) if limits.flops else 0.0
    return {"family": work.family, "work": work.name, "seconds": seconds,
            "share": {name: least / s for name, s in seconds.items()} if least else {}}  # fmt: skip


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    unit, factor = next(
        (u, f) for u, f in (("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)) if value * f >= 1 or f == 1e9
    )
    return f"{value * factor:.3g} {unit}"


def markdown(rows: Sequence[Row], machine: str) -> str:
    """The times as a page for the manual."""
    names = list(dict.fromkeys(name for row in rows for name in row["seconds"]))
    lines = ["# Times", "", machine, "", f"| Work | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for row in rows:
        cells = " | ".join(_seconds(row["seconds"].get(name)) for name in names)
        lines.append(f"| {row['family']}: {row['work']} | {cells} |")
    return "\n".join([*lines, ""])


def ratios(rows: Sequence[Row], device: str, peer: str) -> dict[str, dict[str, float]]:
    """family -> work -> the peer's time over the device's: above one, tensorx is faster."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        seconds = row["seconds"]
        if device in seconds and peer in seconds:
            found.setdefault(row["family"], {})[row["work"]] = seconds[peer] / seconds[device]
    return found


def summarise(rows: Sequence[Row], devices: Sequence[str], names: Sequence[str]) -> None:
    """Speed against each peer: the geometric mean of each family, its slowest work, the mean over families."""
    for device in devices:
        for peer in names:
            found = ratios(rows, device, peer)
            if not found:
                continue
            print(f"\n{device} against {peer}: time of {peer} / time of {device} (above 1: tensorx is faster)")
            for family, works in found.items():
                worst = min(works, key=lambda name: works[name])
                print(f"  {family:14}{geometric_mean(works.values()):6.2f}   lowest {works[worst]:.2f} ({worst})")
            print(f"  {'all families':14}{geometric_mean([geometric_mean(w.values()) for w in found.values()]):6.2f}")


def plot(rows: Sequence[Row], devices: Sequence[str], names: Sequence[str], path: Path) -> None:
    """A bar a work: how much faster than the first peer, on a logarithmic axis."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    flat = {d: {f"{f}: {w}": r for f, ws in ratios(rows, d, names[0]).items() for w, r in ws.items()} for d in devices}
    labels = list(flat[devices[0]])
    figure, axes = pyplot.subplots(figsize=(9, 0.22 * len(labels) + 1), layout="constrained")
    height = 0.8 / len(devices)
    for i, device in enumerate(devices):
        places = [j + i * height for j in range(len(labels))]
        axes.barh(places, [math.log2(flat[device].get(label, 1.0)) for label in labels], height, label=device)
    axes.set_yticks(range(len(labels)), labels, fontsize=6)
    axes.set_xlabel(f"log2 of the speed against {names[0]}")
    axes.invert_yaxis()
    axes.axvline(0, color="black", linewidth=0.8)
    axes.legend()
    figure.savefig(path)
    pyplot.close(figure)
