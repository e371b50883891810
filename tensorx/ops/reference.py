"""The reference pages: one a kind of op, with a support table derived from Capabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tensorx import dtypes
from tensorx.devices import registry
from tensorx.kernels.capabilities import Capabilities
from tensorx.ops import describe, table
from tensorx.ops.table import Op

#: Page -> (title, kinds on it).
PAGES = {
    "elementwise": ("Elementwise", ("ELEMENTWISE",)),
    "reduce": ("Reductions, scans, rows", ("REDUCE", "ROWWISE", "SCAN")),
    "contract": ("Products and convolutions", ("CONTRACT",)),
    "windows": ("Pooling, windows, resampling", ("POOL", "COLUMNS", "RESAMPLE")),
    "indexing": ("Indexing, joining, sorting", ("INDEX", "JOIN", "SORT", "SEARCH", "DYNAMIC")),
    "view": ("Views", ("VIEW",)),
    "composite": ("Composites", ("COMPOSITE",)),
    "host": ("On the host", ("HOST", "TRANSFER")),
}
OTHER = "other"  # kinds that no page above names
COLUMNS = tuple(d for d in dtypes.ALL if d.code not in ("u16", "u32", "u64"))


def page_of(op: Op) -> str:
    """The page that a row is on."""
    return next((name for name, (_, kinds) in PAGES.items() if op.kind.name in kinds), OTHER)


def device_classes() -> dict[str, Capabilities]:
    """The classes of devices that differ in what they hold: with arithmetic in f64, and without."""
    caps = registry.backend("null").devices()[1].capabilities
    return {
        "`cpu`; `opencl`, `sycl` and `cuda` devices with fp64": replace(caps, fp64=True),
        "`opencl` and `sycl` devices without fp64": replace(caps, fp64=False),
    }


def devices_table() -> list[str]:
    """Device class x dtype, from Capabilities."""
    lines = ["| | " + " | ".join(d.name for d in dtypes.ALL) + " |", "|---" * (len(dtypes.ALL) + 1) + "|"]
    for name, caps in device_classes().items():
        lines.append(f"| {name} | " + " | ".join("yes" if caps.supports(d.code) else "no" for d in dtypes.ALL) + " |")
    return lines


def support(op: Op, d: dtypes.dtype, classes: Sequence[Capabilities]) -> str:
    """``yes`` on all devices, ``fp64`` where the device needs it, nothing where the row takes no such operand."""
    if "bifc"[d.kind] not in op.dtypes:
        return ""
    return "yes" if all(c.supports(d.code) for c in classes) else "fp64"


def support_table(ops: Sequence[Op]) -> list[str]:
    """Op x dtype."""
    classes = list(device_classes().values())
    lines = ["| op | " + " | ".join(d.name for d in COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for op in ops:
        lines.append(f"| `{op.name}` | " + " | ".join(support(op, d, classes) for d in COLUMNS) + " |")
    return lines


def section(name: str, ops: Sequence[Op], made: dict[str, str]) -> list[str]:
    """One op with its overloads."""
    lines = [f"## {describe.public_name(name)}", "", " ".join(dict.fromkeys(o.doc for o in ops)), "", "```", *(o.schema.text for o in ops), "```", ""]
    facts = [describe.SHAPES.get(ops[0].kind.name, ""), describe.takes(ops[0]), describe.gradient(ops[0])]
    lines += [" ".join(f for f in facts if f).replace("``", "`"), ""]
    if describe.forms(ops[0]):
        lines += [f"Also: {', '.join(describe.forms(ops[0]))}.".replace("``", "`"), ""]
    return [*lines, "```pycon", *made[name].splitlines(), "```", ""]


def page(title: str, note: str, names: Sequence[str], made: dict[str, str]) -> str:
    """One page: the support table, then each op."""
    rows = [op for name in names for op in table.BY_NAME[name]]
    lines = [f"<!-- {note} -->", f"# {title}", "", "`fp64`: only on devices that have it.", "", *support_table(rows), ""]
    for name in names:
        lines += section(name, table.BY_NAME[name], made)
    return "\n".join(lines).rstrip() + "\n"


def pages(note: str, made: dict[str, str]) -> dict[str, str]:
    """Name -> text of every page, the index included."""
    on: dict[str, list[str]] = {}
    for name, ops in table.BY_NAME.items():
        if describe.public_name(name):
            on.setdefault(page_of(ops[0]), []).append(name)
    titles = {name: title for name, (title, _) in PAGES.items()} | {OTHER: "Other"}
    out = {name: page(titles[name], note, sorted(names), made) for name, names in on.items()}
    out["index"] = index(note, on, titles)
    return dict(sorted(out.items()))


def index(note: str, on: dict[str, list[str]], titles: dict[str, str]) -> str:
    """The list of all ops, and which device holds which dtype."""
    order = [name for name in titles if name in on]
    lines = [f"<!-- {note} -->", "# Op reference", "", "```{toctree}", ":maxdepth: 1", "", *order, "```", ""]
    lines += ["## Dtypes and devices", "", "What a device class can hold. f16 and bf16 values are computed in f32 on every device.", ""]
    lines += [*devices_table(), "", "## All ops", ""]
    for name in order:
        lines += [f"**[{titles[name]}]({name}.md)**: {', '.join(f'`{n}`' for n in sorted(on[name]))}.", ""]
    return "\n".join(lines).rstrip() + "\n"
