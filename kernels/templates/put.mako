<%
    I = spec.index
    R = spec.rank
    y, x = spec.outputs[0], (spec.inputs[0] if spec.inputs[0].name == "x0" else None)
    names = [f"c{k}" for k in range(R)]
    last = names[-1]
    apart = deterministic and hoisted
    fixed = names[:-1] + [""] if apart else names
    position = "0"
    for k in range(R):
        position = f"({position}) * n{k} + {fixed[k] or '0'}" if k else f"(i64){fixed[0] or '0'}"
    indexed = "".join(f" + w{j} * t{j}" for j in range(len(indices)))

    def along(operand):
        """What the last coordinate adds to the operand's offset inside the loop of lanes."""
        if not apart or operand.access == "b":
            return ""
        return f" + {last}" if operand.access == "c" else f" + {last} * {operand.name}_s{R - 1}"

    def raw():
        """Whether elements are moved as they are."""
        return accumulate == "none" and not spec.body and x.dtype == y.dtype
%>\
<%def name="read(pad)">\
${pad}i32 good = 1;
% for o in indices:
${pad}${X.inset(read_index(o, fixed, position, error, "good = 0;"), pad)}
% endfor
</%def>\
<%def name="update(pad)">\
% if raw() and not T.is_complex(y.dtype):
${pad}y0_p[to] = x0_p[${X.offset(x, fixed)}${along(x)}];
% else:
% if x:
${pad}${T.load(x, X.offset(x, fixed) + along(x))}
% endif
${pad}${value}
% if atomic:
% for line in atomic:
${pad}${line}
% endfor
% else:
${pad}${T.declare(y)}
% if accumulate == "none":
${pad}${"y0r = v0r; y0i = v0i;" if T.is_complex(y.compute) else "y0 = v0;"}
% elif T.is_complex(y.compute):
${pad}${T.load(y, "to", "cur")}
${pad}${"y0r = curr + v0r; y0i = curi + v0i;" if accumulate == "add" else "y0r = curr * v0r - curi * v0i; y0i = curr * v0i + curi * v0r;"}
% else:
${pad}${T.load(y, "to", "cur")}
${pad}${combine(accumulate, T.held(y.compute))}
% endif
${pad}${T.store(y, "to")}
% endif
% endif
</%def>\
TX_KERNEL(${group}, 1, 1) ${signature} {
% for o in spec.inputs:
  ${X.shift(o)}
% endfor
% if not deterministic:
  const ${I} total = ${" * ".join(X.sizes(R))};
  ${X.each(d, I, "total", "total")}
    ${X.inset(T.coords("item", names, X.sizes(R), I), "    ")}
${read("    ")}\
    if (good) {
      const i64 to = ${X.offset(y, fixed, "y0_o")}${indexed};
${update("      ")}\
    }
  }
% else:
  const ${I} total = owners * lanes;
  ${X.each(d, I, "total", "owners > 1 ? 65536 : 0")}
    const u32 owner = (u32)(item / lanes);
% if apart:
    const ${I} lane = item % lanes;
% endif
% for k in range(R - 1 if apart else R):
    for (${I} c${k} = 0; c${k} < n${k}; ++c${k}) {
% endfor
${read("      ")}\
      const i64 home = ${X.offset(y, fixed, "y0_o")}${indexed};
      /* Blocks of 16 elements share an owner, so that two owners seldom write the same cache line. */
      if (good && (owners == 1 || ((u32)(home >> 4) * 2654435761u >> 16) % (u32)owners == owner)) {
% if apart:
      for (${I} ${last} = lane; ${last} < n${R - 1}; ${last} += lanes) {
        const i64 to = home${along(y)};
${update("        ")}\
      }
% else:
      const i64 to = home;
${update("      ")}\
% endif
      }
    ${"}" * (R - 1 if apart else R)}
  }
% endif
}
