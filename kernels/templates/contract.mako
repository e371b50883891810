<%doc>
y0[b, m, n] = body(sum over k of x0[b, m, k] * x1[b, k, n]); see tensorx/kernels/contract.py for the accessors and index maps.
</%doc>\
% if vectorised:
<%include file="contract_vector.mako"/>
% else:
<%include file="contract_local.mako"/>
% endif
