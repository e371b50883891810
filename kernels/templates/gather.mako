<%
    I = spec.index
    R = spec.rank
    y, x = spec.outputs[0], spec.inputs[0]
    names = [f"c{k}" for k in range(R)]
    last = names[-1]
    walks = span > 1
    fixed = names[:-1] + [""]
    position = f"(i64)row * n{R - 1} + {'begin' if hoisted else last}" if walks else "item"
    moved = not spec.body and x.dtype == y.dtype

    def along(operand):
        """What the last coordinate adds to the operand's offset inside the copy loop."""
        if not walks or operand.access == "b":
            return "0"
        return last if operand.access == "c" else f"{last} * {operand.name}_s{R - 1}"

    indexed = "".join(f" + ({I})w{j} * t{j}" for j in range(len(indices)))
    # One index for a whole walk: both ends move along pointers, which compilers make vectors of (see T.moved).
    source = along(x) if hoisted and walks else f"from + {along(x)}{indexed}" if walks else "from"
    target = along(y) if hoisted and walks else f"to + {along(y)}" if walks else "to"
    at_x, at_y = ("x0_v", "y0_v") if hoisted and walks else ("x0_p", "y0_p")
    default = "y0r = x0r; y0i = x0i;" if T.is_complex(y.compute) else f"y0 = {T.cast('x0', T.held(x.compute), T.held(y.compute))};"
%>\
<%def name="read(coords, pad)">\
% for o in indices:
${pad}${X.inset(read_index(o, coords, position, error, f"w{o.name[1:]} = 0;"), pad)}
% endfor
</%def>\
<%def name="element(pad)">\
% if moved and not T.is_complex(x.dtype):
${pad}${at_y}[${target}] = ${at_x}[${source}];
% elif moved:
${pad}${at_y}[2 * (${target})] = ${at_x}[2 * (${source})];
${pad}${at_y}[2 * (${target}) + 1] = ${at_x}[2 * (${source}) + 1];
% else:
${pad}${T.load(x, source, base=at_x)}
${pad}${T.declare(y)}
${pad}${spec.body or default}
${pad}${T.store(y, target, base=at_y)}
% endif
</%def>\
TX_KERNEL(${group}, 1, 1) ${signature} {
% for o in spec.operands:
  ${X.shift(o)}
% endfor
% if walks:
  const ${I} pieces = (n${R - 1} + ${span - 1}) / ${span};
  const ${I} total = ${" * ".join([*X.sizes(R)[:-1], "pieces"])};
  ${X.each(d, I, "total", f"(i64)total * (n{R - 1} < {span} ? n{R - 1} : {span})")}
    const ${I} row = item / pieces, begin = (item - row * pieces) * ${span};
    const ${I} end = n${R - 1} - begin < ${span} ? n${R - 1} : begin + ${span};
% if R > 1:
    ${X.inset(T.coords("row", names[:-1], X.sizes(R)[:-1], I), "    ")}
% endif
% if hoisted:
${read(fixed, "    ")}\
% endif
    const ${I} from = ${X.offset(x, fixed)}${indexed if hoisted else ""};
    const ${I} to = ${X.offset(y, fixed)};
% if hoisted:
    ${T.pointer(x, at_x, "from")}
    ${T.pointer(y, at_y, "to")}
% endif
    for (${I} ${last} = begin; ${last} < end; ++${last}) {
% if not hoisted:
${read(names, "      ")}\
% endif
${element("      ")}\
    }
% else:
  const ${I} total = ${" * ".join(X.sizes(R))};
  ${X.each(d, I, "total", "total")}
    ${X.inset(T.coords("item", names, X.sizes(R), I), "    ")}
${read(names, "    ")}\
    const ${I} from = ${X.offset(x, names)}${indexed};
    const ${I} to = ${X.offset(y, names)};
${element("    ")}\
% endif
  }
}
