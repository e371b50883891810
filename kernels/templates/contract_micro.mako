<%doc>
The register-tiled microkernel of contract and attention: ``t[rows][width] (+)= sum over k of a[k][rows] * b[k][width]`` on packed panels.
</%doc>\
<%namespace name="parts" file="contract_parts.mako"/>\
<%def name="types()">\
% if opencl:
/* Plain vector accesses: PoCL's vload is a call that spills every register. The loose type needs no more alignment than its element. */
typedef ${vector} ${e}_vec;
typedef ${vector} ${e}_loose __attribute__((aligned(${size})));
#define ${e}_FUSED TX_FN
% else:
typedef ${A} ${e}_vec __attribute__((vector_size(${tile.lanes * size}), may_alias));
typedef ${A} ${e}_loose __attribute__((vector_size(${tile.lanes * size}), aligned(${size}), may_alias));
/* The only place where a * b + c may become one instruction. */
#if ${int(fused)} && defined(__GNUC__) && !defined(__clang__)
#define ${e}_FUSED static __attribute__((noinline, optimize("fp-contract=fast")))
#else
#define ${e}_FUSED static __attribute__((noinline))
#endif
% endif
</%def>\
## ------------------------------------------------------------------------------------- rows x vectors of sums in registers
<%def name="microkernel(rows)">\
<%
    R, V = range(rows), range(tile.vectors)
    def get(p, i):
        return f"((const {e}_vec TX_PRIVATE *){p})[{i}]"
    def put(v, p, i):
        return f"(({e}_vec TX_PRIVATE *){p})[{i}] = {v}"
    def add(i, v):
        if opencl and fused:
            return f"c{i}_{v} = fma(({vector})a{i}, b{v}, c{i}_{v});"
        return f"c{i}_{v} += a{i} * b{v};"
%>\
${e}_FUSED void ${e}_rows${rows}(int depth, TX_PRIVATE const ${A} *a, TX_PRIVATE const ${A} *b, TX_PRIVATE ${A} *t, int first) {
${parts.fuse()}\
  ${e}_vec ${", ".join(f"c{i}_{v}" for i in R for v in V)};
  if (first) {
    ${" = ".join(f"c{i}_{v}" for i in R for v in V)} = (${e}_vec)${"(0)" if opencl else "{0}"};
  } else {
% for i in R:
    ${" ".join(f"c{i}_{v} = {get('t', i * tile.vectors + v)};" for v in V)}
% endfor
  }
  for (int k = 0; k < depth; ++k) {
    const ${e}_vec ${", ".join(f"b{v} = {get('b', v)}" for v in V)};
% for i in R:
    { const ${A} a${i} = a[${i}]; ${" ".join(add(i, v) for v in V)} }
% endfor
    a += ${rows};
    b += ${tile.width};
  }
% for i in R:
  ${" ".join(put(f"c{i}_{v}", "t", i * tile.vectors + v) + ";" for v in V)}
% endfor
}
</%def>\
