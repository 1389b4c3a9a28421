# SPDX-License-Identifier: Apache-2.0
"""Programs of one operator each, and the arguments that vmap maps over for them. All sizes are 3,
the batch's too, so that a dimension taken for another shows by its values and not by its shape.

Variables of a program, by letter: a b c [3, 3], p the same but positive, u v [3], s r [], t [3, 3,
3], g [3, 3, 3, 3], z complex [3, 3], y complex []; int64 i [3, 3], j l [3], k []; bool m [3, 3], n
[3], o []. w(x, f) is a copy of x on which f has been called."""

import itertools
import re

import numpy

SIZE = 3
SHAPES = {
    **dict.fromkeys("abcpimz", (3, 3)),
    **dict.fromkeys("uvjln", (3,)),
    **dict.fromkeys("srkoy", ()),
    "t": (3, 3, 3),
    "g": (3, 3, 3, 3),
}

ELEMENTWISE = """
T.where(n, s.double(), u); u + s.double(); T.where(n, s.double(), r); j.int() + k; a.half() * s
T.where(o, s.double(), u); T.lerp(u, v, s); T.add(j.int(), k, alpha=2); z + s.double()
u < s.double()
T.maximum(u, s); k + o; T.clamp(u.double(), s, r); T.atan2(s.double(), u); T.addcmul(u, s, r)
T.clamp(i.int(), k - 1, k); y + u.double(); u.masked_fill(n, k); T.fill(i, s); T.where(n, y, u)
abs(a); a + b; a * v; u - a; a / p; a + s; s * a; u + s; s + r; a ** 2; 2 ** a; p ** a
T.add(a, b, alpha=2); T.where(m, a, b); T.where(n, a, 0.); T.where(o, u, v)
T.where(m, s, a); T.where(m, s, r); T.maximum(a, v); T.minimum(u, s); T.atan2(a, b)
T.lerp(a, b, 0.3)
T.lerp(a, v, s); T.addcmul(a, u, v, value=2); T.addcdiv(a, b, p); T.clamp(a, -.5, .5)
T.clamp(a, u, v); T.clamp(a, min=u); T.clamp_min(a, 0.); T.nan_to_num(a); a > b; a == a; u < s
a != v
i + k; k + i; k + a; i * s; k + 1.5; i + 1.5; i / k; s + z; s * y; y + a; a * y; i + s; k * s; u * k
o + i; o * a; n & o; m | n; m ^ o; ~m; i & k; i | j; i << 1; k >> 1; T.pow(i, k); T.pow(k, 2)
T.remainder(i, 2); T.fmod(a, s); T.floor_divide(i, 2); a // p; i % 2; -a; +a; abs(k)
T.bitwise_not(k)
T.hypot(a, s); T.logaddexp(u, s); T.xlogy(p, p); T.copysign(a, s); T.nextafter(a, u); T.ldexp(a, i)
T.isclose(a, b); T.sigmoid(a); F.gelu(a); F.relu(a); F.softplus(a); F.elu(a); F.leaky_relu(a, .1)
F.prelu(a, T.ones(1)); F.prelu(a, v); F.hardtanh(a); F.silu(a); F.mish(a); F.logsigmoid(a)
F.threshold(a, 0., 1.); F.softsign(a); F.celu(a); F.selu(a); F.hardswish(a)
F.glu(T.cat([a, b], -1))
T.masked_fill(a, m, 2.); T.masked_fill(a, n, s); a.masked_fill(m, s); u.masked_fill(n, r)
a.masked_fill(o, 2.); T.fill(a, s); T.fill(u, 2.); T.heaviside(a, v); T.polar(p, a); T.complex(a, b)
z.real; z.imag; z.conj(); T.angle(z); T.view_as_real(z); T.view_as_complex(T.stack([a, b], -1))
a.real; z.abs(); a.double(); a.to(T.float64); k.float(); a.int(); a.bool(); i.double(); a.type_as(i)
a.to(i); T.round(a, decimals=1); T.logit(p / 10); T.erf(a); T.lgamma(p); T.digamma(p); T.rsqrt(p)
T.signbit(a); T.frexp(a); T.rsub(a, u); T.true_divide(a, p); T.div(a, p, rounding_mode='floor')
T.zeros_like(a); T.full_like(a, 2.); a.new_zeros(3); a.new_full((3, 2), 1.5)
a.new_tensor([1., 2., 3.]); a.is_floating_point(); a.numel(); a.dim(); len(a); a.size(0); a.shape[1]
(a == None) is False; (a != None); a is None; a.ndim; a.layout == T.strided
a.dtype == T.float32; T.is_tensor(a); a.nelement(); a.element_size(); a.device.type; a.requires_grad
T.result_type(a, i); T.can_cast(a.dtype, T.float64); T.numel(a); a.is_complex(); a.itemsize
a.is_leaf
T.isnan(a); T.isfinite(a); T.isin(i, j); T.isin(a, u); T.gcd(i, j); T.lcm(i, k + 1)
T.logical_and(m, n)
T.logical_not(o); T.logical_xor(m, o); T.fmax(a, u); T.float_power(p, 2); T.sgn(z); T.positive(a)
T.square(a)
T.exp2(a); T.expm1(a); T.trunc(a); T.frac(a); T.i0(a); T.sinc(a); T.deg2rad(a)
T.bitwise_left_shift(i, k)
T.addcmul(a, s, r); T.addcmul(s, u, v); a.mul(2); a.add(i); i.add(k); k.add(i, alpha=2); a.sub(k)
k.mul(i)
1 - k; 1.5 - k; k - 1.5; 2 ** k; k ** 2; T.eq(k, 1); T.lt(k, s); k == i; 1 / (k + 1); k / 2; k // 2
s // p
T.add(s, i); T.mul(i, s); T.where(m, k, a); T.where(m, i, s); T.where(o, k, s); T.where(o, 1., i)
T.where(n, 1, s)
T.lerp(s, a, .5); T.maximum(k, i); T.maximum(s, u.double()); u.double() + s; s + u.double(); y + u
y * k; z + k
T.stack([s, r]); T.cat([a, b]); T.mul(s, 2j); u * 2j; k * 2j; T.sub(k, 1.5); T.add(o, 1); o + 1.5
o * k; o + o
T.clip(a, s, 1.); T.clip(u, max=s); T.addcmul(a, u, v); T.dist(a, b); T.asarray(a) + 1
T.as_tensor(a) + 1
T.broadcast_tensors(a, u)[1]; T.broadcast_tensors(s, a)[0]; T.squeeze(a); T.atleast_2d(u)
T.atleast_3d(a); T.atleast_1d(s)
T.bucketize(a, T.tensor([-.5, 0., .5])); T.searchsorted(T.tensor([-.5, 0., .5]), a)
"""

REDUCTIONS = """
a.sum(); a.sum(0); a.sum(-1, keepdim=True); a.sum((0, 1)); a.sum(dim=[]); a.mean(); a.mean(dim=[1])
s.sum()
a.sum(dim=()); a.mean(dim=()); T.sum(a, dim=[], keepdim=True); a.amax(dim=()); a.amin(()); m.any()
s.sum(0); s.mean(-1); s.std(0, unbiased=False); s.max(0); s.argmax(); s.softmax(0); s.cumsum(0)
s.sort(); s.logsumexp(0)
a.std(False); a.std(True); a.std(0); a.std(); a.var(False); a.var(True); a.var(1, unbiased=False)
T.std(a, 0, correction=0); T.var(a, False)
T.std(a, False); T.std(a, dim=0, unbiased=False, keepdim=True); a.var(correction=0); T.std_mean(a)
T.std_mean(a, 0); T.var_mean(a, False)
T.var_mean(a, (0, 1), correction=0); T.std_mean(a, True); T.std(a, []); T.var(a, dim=()); a.prod()
a.prod(1); a.max(); a.min(); a.max(0)
a.max(1, keepdim=True); a.min(-1); T.max(a, b); T.min(a, v); a.amax(); a.amin(0); a.aminmax()
T.aminmax(a, dim=0); a.argmax(); a.argmin(1)
a.argmax(0, keepdim=True); a.argmax(keepdim=True); a.norm(); a.norm(1); a.norm(2, 0)
a.norm(p=float('inf'), dim=1); T.norm(a, 'fro', dim=(0, 1)); T.norm(a, dim=0, keepdim=True)
T.linalg.norm(a); T.linalg.vector_norm(a); T.linalg.vector_norm(a, dim=0); T.linalg.norm(u)
T.linalg.norm(a, dim=1); T.linalg.vector_norm(a, 1, (0, 1), True)
T.logsumexp(a, 0); T.logsumexp(a, (0, 1)); a.softmax(0); a.softmax(-1); F.log_softmax(a, 1)
F.softmin(a, 0); F.softmax(u, 0); F.softmax(t, 1); T.softmax(u, -1)
a.cumsum(0); a.cumprod(1); a.cummax(0); a.cummin(1); T.logcumsumexp(a, 0); a.flip(0); a.flip(0, 1)
a.flip((1,)); T.flip(a, [0]); a.flipud(); a.fliplr(); T.roll(a, 1); T.roll(a, 1, 0)
T.roll(a, (1, 2), (0, 1)); T.rot90(a); T.rot90(a, 1, (1, 0)); a.sort(); a.sort(0)
a.sort(descending=True); a.argsort(); a.argsort(0); T.sort(a, dim=1, stable=True); T.msort(a)
a.topk(2); a.topk(2, 0); a.topk(1, largest=False); a.kthvalue(2); a.kthvalue(2, 0); a.median()
a.median(0); a.nanmedian(1); a.mode(); i.mode(0); T.diff(a); T.diff(a, dim=0); T.diff(u, prepend=u)
T.diff(a, 2)
T.count_nonzero(m); T.count_nonzero(i, 0); T.nansum(a); T.nanmean(a, 0); T.trace(a)
T.quantile(a, .5); T.quantile(a, .3, dim=0); T.quantile(a, T.tensor([.2, .7]), 1)
T.nanquantile(u, .5)
F.normalize(a); F.normalize(u, dim=0); F.cosine_similarity(a, b); F.cosine_similarity(a, b, dim=0)
F.cosine_similarity(u, v, dim=0); F.pairwise_distance(a, b); T.cdist(a, b); F.pdist(a)
T.renorm(a, 2, 0, 1.)
T.cross(a, b, dim=0); T.linalg.cross(a, b); T.linalg.cross(u, v); T.cov(a); T.corrcoef(a)
T.trapezoid(a); T.trapezoid(a, dim=0); T.cumulative_trapezoid(a); T.gradient(u)[0]
T.gradient(a, dim=0)[0]
T.histc(a, 3, -2., 2.); T.bincount(j, minlength=3); T.cumsum(i, 0); i.sum(); k.sum(); m.sum(0)
o.all(); s.any(); T.logsumexp(s, 0)
T.all(m, dim=(0, 1)); T.any(m, 1, keepdim=True); a.unsqueeze(0).squeeze(0).sum(1)
a.sum(dtype=T.float64); a.mean(0, dtype=T.float64); T.linalg.matrix_norm(a); T.max(u, 0)[0]
T.tensor_split(a, 3)[1]; T.amax(a, (0, 1), keepdim=True); T.vander(u); T.combinations(u)
T.cartesian_prod(u, v); T.block_diag(a, b); T.logspace(0, 1, 3) * u
"""

PRODUCTS = """
a @ b; a @ v; u @ a; u @ v; T.matmul(t, a); T.matmul(a, t); T.matmul(t, v); T.matmul(u, t)
T.mm(a, b); T.bmm(t, t); T.mv(a, v); T.dot(u, v); T.vdot(u, v); T.inner(a, b); T.inner(u, v)
T.inner(u, a); T.inner(a, v); T.inner(s, a)
T.outer(u, v); u.outer(v); T.ger(u, v); T.kron(a, b); T.kron(u, v); T.tensordot(a, b)
T.tensordot(a, b, 1); T.tensordot(a, b, dims=([0], [1])); T.tensordot(t, a, dims=2)
T.tensordot(t, a, ([0, 1], [1, 0])); T.tensordot(u, v, 0); T.tensordot(a, v, 1)
T.einsum('ij,jk->ik', a, b); T.einsum('ij,ij', a, b); T.einsum('ii', a); T.einsum('ii->i', a)
T.einsum('i,j', u, v); T.einsum('...j,j', a, v); T.einsum('ij->ji', a)
T.einsum('ijk,jl->ikl', t, a); T.einsum('i,i,i->', u, v, u); T.einsum('...i,...i->...', a, v)
T.einsum('ba', a)
T.einsum('i j, j k', a, b); T.einsum(a, [0, 1], b, [1, 2], [0, 2]); T.einsum('aB,Bc->ac', a, b)
T.addmm(a, b, c); T.addmm(u, b, c, beta=2, alpha=.5); T.addmm(s, b, c); T.addmv(u, a, v)
T.addr(a, u, v); T.baddbmm(t, t, t); T.addbmm(a, t, t); T.baddbmm(a, t, t, alpha=2)
F.linear(a, b); F.linear(a, b, v); F.linear(u, a); F.linear(u, a, v); F.linear(t, a, v)
F.linear(u, v); F.linear(a, v); F.bilinear(a, b, t); F.bilinear(u, v, t, v); T.chain_matmul(a, b, c)
T.linalg.multi_dot([a, b, v]); T.linalg.matrix_power(a, 2); T.matrix_power(a, 3)
a.T @ b; a.mT @ v; z @ z; T.mv(z, z[0]); T.matmul(z, a.to(z.dtype)); T.vdot(z[0], z[1])
T.linalg.vecdot(a, b); T.linalg.vecdot(u, v); T.linalg.vecdot(a, b, dim=0); i @ i; i @ j
T.dot(j, l); T.linalg.diagonal(a)
a.__rmatmul__(b); a.matmul(b); a.mm(b); u.dot(v); t.bmm(t); T.linalg.matmul(a, b); a.addmm(b, c)
T.addmm(a, b, c, beta=0); T.linalg.vander(u); T.cdist(a, b, p=1.)
"""

SHAPE = """
a.view(-1); a.view(9); a.view((9,)); a.view(3, -1); a.reshape(-1); a.reshape(1, 9)
T.reshape(a, (9, 1)); a.view(T.int32); a.flatten(); t.flatten(1); t.flatten(0, 1); s.flatten()
s.view(1); s.reshape(1, 1); a.view_as(b); a.reshape_as(t[0]); u.view(3, 1); a.unflatten(0, (3, 1))
a.unflatten(-1, (1, -1)); s.view(())
a.t(); u.t(); s.t(); a.T; a.mT; t.mT; z.H; z.mH; z.adjoint(); a.transpose(0, 1); t.transpose(0, -1)
a.swapaxes(0, 1); a.swapdims(0, -1); t.movedim(0, 2); t.movedim((0, 1), (1, 2))
T.moveaxis(t, -1, 0); t.permute(2, 0, 1); t.permute((1, 2, 0)); t.permute(-1, 0, 1)
T.permute(a, (1, 0))
a.unsqueeze(0); a.unsqueeze(-1); s.unsqueeze(0); s.unsqueeze(-1); u.unsqueeze(1)
a.unsqueeze(1).squeeze(1); a.unsqueeze(0).squeeze(); a.unsqueeze(0).squeeze(0)
a.unsqueeze(0).unsqueeze(-1).squeeze((0, -1)); s.squeeze(); a.squeeze(0); a.squeeze(-1)
a.expand(3, 3, 3); a.expand(2, -1, -1); u.expand(3, 3); u.unsqueeze(1).expand(-1, 3); s.expand(3)
s.expand(3, 3); T.broadcast_to(u, (3, 3)); a.expand_as(t); a.repeat(2, 1); u.repeat(3)
u.repeat(2, 3); s.repeat(3); a.tile(2); a.tile((2, 1)); a.tile(2, 1, 1); T.tile(u, (2,))
a.repeat(1, 1, 2)
a.repeat_interleave(2); a.repeat_interleave(2, 0); T.repeat_interleave(u, 3)
a.repeat_interleave(T.tensor([1, 2, 0]), dim=0); s.repeat_interleave(2)
T.repeat_interleave(a, 2, dim=-1)
a.select(0, 1); a.select(-1, 0); a.narrow(0, 1, 2); a.narrow(-1, 0, 2); a.unbind(); a.unbind(1)[0]
a.chunk(2); a.chunk(3, 1)[2]; a.split(2); a.split([1, 2], 1)[1]; T.split(a, 1, dim=-1)[0]
a.tensor_split(2); a.tensor_split((1,), 1)[0]; T.hsplit(a, 3)[0]; T.vsplit(a, 3)[1]
T.dsplit(t, 3)[0]; a.hsplit([1])[0]
a.diagonal(); a.diagonal(1); t.diagonal(0, 0, 2); t.diagonal(dim1=1, dim2=2); a.diag(); u.diag()
u.diag(1); T.diag_embed(u); T.diag_embed(a); T.diag_embed(u, 1); T.diag_embed(a, 0, 0, 1)
T.diagflat(u); T.diagflat(a); a.tril(); a.triu(1); T.tril(a, -1); T.diagonal_scatter(a, u)
T.select_scatter(a, u, 0, 1); T.slice_scatter(a, b[:2], 0, 1)
a.unfold(0, 2, 1); a.unfold(-1, 2, 1); u.unfold(0, 2, 1); F.unfold(g, 2); F.unfold(t, 2)
F.fold(F.unfold(t, 2), (3, 3), 2); T.meshgrid(u, v, indexing='ij')
T.meshgrid(u, v, indexing='xy')[0]
T.cat([a, b]); T.cat([a, b], 1); T.cat([a, b], dim=-1); T.cat((u, v)); T.concat([a, b])
T.stack([a, b]); T.stack([a, b], 1); T.stack([u, v], -1); T.stack([s, r]); T.hstack([a, b])
T.hstack([u, v]); T.vstack([a, u.unsqueeze(0)]); T.vstack([u, v]); T.dstack([a, b])
T.column_stack([u, v]); T.row_stack([u, v]); T.hstack([s, r]); T.cat([u, k.view(1)])
T.stack([k, s])
T.cat([a, T.zeros(1, 3)]); T.stack([u, T.zeros(3)]); [x for x in a][1]; list(a)[0]; a.contiguous()
a.clone(); a.detach(); a.data; T.clone(a); a.swapaxes(-1, -2); T.ravel(a); a.ravel()
F.pad(a, (1, 1)); F.pad(a, (1, 0, 0, 1)); F.pad(u, (1, 2), value=3.)
F.pad(t, (1, 1), mode='reflect'); F.pad(g, (1, 1, 1, 1), mode='replicate')
F.pad(a, (1, 1), mode='circular'); F.pad(t, (1, 1, 1, 1), mode='reflect')
F.pixel_shuffle(T.cat([g, g[:, :1]], 1), 2); F.channel_shuffle(g, 3); F.one_hot(i, 3)
F.one_hot(k, 3); T.triu_indices(3, 3) + k; T.movedim(t, 1, 0); T.unsqueeze(a, 1)
T.squeeze(a.unsqueeze(0), 0); T.transpose(a, 0, 1); T.t(a); T.swapaxes(t, 0, 1); T.unbind(a, 0)[2]
T.select(a, 1, 2); T.narrow(a, 1, 1, 2); T.flatten(t, 1, 2); T.diagonal(t, 1, 0, 1)
a.transpose(1, 0).contiguous().view(-1); a.T.reshape(9); t.permute(1, 2, 0).reshape(9, 3)
a[:, None].expand(3, 2, 3); a[None].sum(0); a.new_empty(2).shape[0]; T.empty_like(a).shape[0]
a.unflatten(1, [3, 1]); T.unflatten(u, 0, (1, 3)); u.view(1, 3, 1).squeeze(0); a.movedim(0, 1)
T.atleast_2d(s); T.block_diag(u, a)
"""

INDEXING = """
a[0]; a[-1]; a[:, 1]; a[1:]; a[::2]; a[..., 0]; a[None]; a[:, None]; a[0, 1]; a[..., None]
t[0, :, 1]; t[:, 1:, 0]; t[..., 1, :]; s[None]; s[...]; a[()]
a[j]; a[:, j]; a[j, l]; a[j, 0]; a[0, j]; a[i]; a[i, i]; a[k]; a[k, k]; a[k, 1]; a[1, k]; a[:, k]
a[k, :]; a[j, k]; a[k, j]; u[i]; u[j]; u[k]; a[T.tensor([0, 1]), k]; a[T.tensor([0, 1])]
a[:, T.tensor([2, 0])]; a[T.tensor([0, 1]), T.tensor([1, 2])]
a[j, None]; a[None, j]; a[..., j]; a[j, ...]; a[[0, 2]]; a[:, [0, 2]]; a[[0, 1], [1, 2]]
a[[0, 1], ..., [0, 1]]; t[[0, 1], :, [0, 1]]; t[[0, 1], ..., [0, 1]]; t[:, [0, 1], [0, 1]]
t[[0, 1], [0, 1]]; t[0, :, [0, 1]]; t[[0, 1], :, 1]; t[:, 0, [0, 1]]; t[j, :, l]; t[:, j, l]
t[j, l]; t[j, :, k]; t[k, :, j]; t[k, l, :]; t[:, k, l]; t[j, None, l]
t[0, :, j]; t[j, :, 0]; t[j, 1]; t[1, j]; t[:, :, j]; t[..., j]; t[..., j, :]; t[i]; t[i, j]
t[:, i]; t[i, :, j]; t[j, :, i]; t[None, j]; t[j, ..., l]; t[1:, j]; t[j, 1:]; t[j, 1:, l]
t[:, 1:, j]; g[j, :, l]; g[:, j, :, l]; g[j, :, :, l]; g[:, j, l]; g[0, j, :, l]; g[j, 0, :, l]
g[:, 0, :, j]; g[0, :, 0, j]; g[j, l, 0]; g[:, j, 0, l]; g[k, :, j]; g[:, k, :, l]
a[True]; a[False].shape[0]; a[None, True]; a[n.new_tensor([True, False, True])]
a[:, T.tensor([True, False, True])]
a[T.tensor([[True, False, True], [False, True, False], [True, True, True]])]
t[T.tensor([[True, False, True], [False, True, False], [True, True, True]])]
t[:, T.tensor([[True, False, True], [False, True, False], [True, True, True]])]
t[T.tensor([True, False, True]), :, j[:2]]; t[T.tensor([True, False, True]), :, T.tensor([0, 1])]
a[T.tensor(1)]; a[T.tensor(1), 0]; t[T.tensor(1), :, T.tensor([0, 1])]; t[:, T.tensor(1), :]
t[T.tensor([True, True, False]), 0]; a[T.tensor([0, 1]), ..., T.tensor([0, 1])]
t[..., T.tensor([0, 1]), 0]; a[T.tensor(True)]; a[T.tensor([], dtype=T.int64)].shape[0]
a[[[0, 1], [1, 2]]]; a[[0], [1]]; a[(0, 1)]; a[slice(1, 3), 0]; a[0, None, :]; t[0][1][2]; a[j][l]
a[i[0], i[1]]; a[j[:2], j[1:]]
T.gather(a, 0, i); T.gather(a, 1, i); a.gather(-1, i); T.gather(u, 0, j); a.gather(0, i[:1])
T.take_along_dim(a, i, 1); T.take_along_dim(a, i, 0); T.take(a, i); T.take(a, j); T.take(u, k)
a.take(i); T.index_select(a, 0, j); T.index_select(a, 1, j); a.index_select(-1, T.tensor([0, 2]))
u.index_select(0, j); T.masked_select(a, T.ones(3, 3, dtype=T.bool))
a.masked_select(T.tensor([True, False, True])); a[T.ones(3, 3, dtype=T.bool)]
T.scatter(a, 0, i, b); T.scatter(a, 1, i, 2.); T.scatter(u, 0, j, v); T.scatter_add(a, 1, i, b)
T.scatter_reduce(a, 0, i, b, 'sum'); T.scatter_reduce(a, 1, i, b, 'amax', include_self=False)
a.scatter(0, T.tensor([[0, 1, 2]]), b); T.scatter(a, 0, i, b, reduce='add')
T.scatter(a, 0, i, 2., reduce='multiply')
T.index_add(a, 0, j, b); T.index_add(a, 1, j, b, alpha=2)
T.index_copy(a, 0, T.tensor([2, 0, 1]), b); T.index_fill(a, 0, j, 2.); T.index_fill(a, 1, j, s)
T.index_put(a, (j,), b); T.index_put(a, (j, l), u); a.index_put((j,), s)
T.index_put(a, (j, l), u, accumulate=True); T.index_put(a, (i, i), b, True)
T.index_reduce(a, 0, j, b, 'mean'); T.index_fill(u, 0, j, s); u.index_add(0, j, v)
T.index_put(a, (T.tensor([0, 1]),), u)
F.embedding(i, a); F.embedding(j, a); F.embedding(k, a); F.embedding(i, a, padding_idx=0)
F.embedding(i, a, padding_idx=-1); F.embedding(j, a, max_norm=None); F.embedding_bag(i, a)
F.embedding_bag(i, a, mode='sum'); F.embedding_bag(j, a, T.tensor([0, 2]))
T.masked_scatter(a, T.ones(3, 3, dtype=T.bool), b); T.where(m, a, 0.).sum()
T.bucketize(s, u.sort()[0]); T.searchsorted(u.sort()[0], v); T.searchsorted(a.sort()[0], b)
w(a, lambda x: x.__setitem__(0, 2.)); w(a, lambda x: x.__setitem__(0, v))
w(a, lambda x: x.__setitem__((slice(None), 1), v)); w(a, lambda x: x.__setitem__(j, 2.))
w(a, lambda x: x.__setitem__(j, b)); w(a, lambda x: x.__setitem__((j, l), u))
w(a, lambda x: x.__setitem__(k, v)); w(a, lambda x: x.__setitem__((k, k), s))
w(a, lambda x: x.__setitem__((slice(None), k), v)); w(a, lambda x: x.__setitem__(m, 2.))
w(a, lambda x: x.__setitem__(m, s)); w(a, lambda x: x.__setitem__(n, 2.))
w(a, lambda x: x.__setitem__(n, s))
w(a, lambda x: x.__setitem__((slice(None), j), b))
w(a, lambda x: x.__setitem__(T.tensor([0, 1]), v))
w(a, lambda x: x.__setitem__((T.tensor([0, 1]), k), s))
w(t, lambda x: x.__setitem__((j, slice(None), l), a))
w(t, lambda x: x.__setitem__(([0, 1], slice(None), [0, 1]), 2.))
w(t, lambda x: x.__setitem__(([0, 1], slice(None), [0, 1]), a[:2]))
w(a, lambda x: x.__setitem__(Ellipsis, v)); w(a, lambda x: x.__setitem__(slice(1, None), v))
w(a, lambda x: x.__setitem__(T.tensor([True, False, True]), v)); w(u, lambda x: x.__setitem__(n, s))
w(u, lambda x: x.__setitem__(k, s)); w(u, lambda x: x.__setitem__(1, s))
w(a, lambda x: x.__setitem__((0, 1), s)); w(a, lambda x: x.__setitem__((i, i), b))
w(a, lambda x: x.__setitem__((k, j), v)); w(t, lambda x: x.__setitem__((0, slice(None), j), a))
w(a, lambda x: x.__setitem__((Ellipsis, 0), v)); w(s, lambda x: x.__setitem__(Ellipsis, r))
w(a, lambda x: x.__setitem__(True, 2.)); w(a, lambda x: x[0].add_(1))
w(a, lambda x: x[:, 1].mul_(v)); w(a, lambda x: x[0].copy_(v)); w(a, lambda x: x.__setitem__(m, 2))
w(i, lambda x: x.__setitem__(m, 7)); w(t, lambda x: x.__setitem__(m, 1.))
w(t, lambda x: x.__setitem__((slice(None), n), 1.))
"""

IN_PLACE = """
w(a, lambda x: x.add_(b)); w(a, lambda x: x.add_(v)); w(a, lambda x: x.mul_(s))
w(a, lambda x: x.sub_(2)); w(a, lambda x: x.div_(p)); w(a, lambda x: x.copy_(b))
w(a, lambda x: x.copy_(v)); w(a, lambda x: x.copy_(s)); w(a, lambda x: x.fill_(2.))
w(a, lambda x: x.fill_(s)); w(a, lambda x: x.zero_()); w(a, lambda x: x.clamp_(-.5, .5))
w(a, lambda x: x.masked_fill_(m, 2.)); w(a, lambda x: x.masked_fill_(n, s))
w(a, lambda x: x.sin_()); w(a, lambda x: x.pow_(2)); w(a, lambda x: x.addcmul_(u, v))
w(a, lambda x: x.lerp_(b, .3)); w(u, lambda x: x.add_(s)); w(s, lambda x: x.add_(r))
w(i, lambda x: x.add_(k)); w(m, lambda x: x.logical_and_(n)); w(m, lambda x: x.__iand__(n))
w(a, lambda x: x.__iadd__(v)); w(a, lambda x: x.__imul__(s)); w(a, lambda x: x.relu_())
w(a, lambda x: F.relu_(x)); w(a, lambda x: F.leaky_relu(x, .1, True))
w(a, lambda x: F.relu(x, inplace=True)); w(a, lambda x: F.hardtanh_(x))
w(a, lambda x: T.sigmoid_(x)); w(k, lambda x: x.mul_(2)); w(a, lambda x: x.sub_(i))
w(a, lambda x: x.add_(k)); w(a, lambda x: x.eq_(b)); w(a, lambda x: x.addcdiv_(b, p))
w(a, lambda x: x.clamp_(min=u))
w(a, lambda x: x.unsqueeze_(0)); w(a, lambda x: x.unsqueeze_(-1)); w(s, lambda x: x.unsqueeze_(0))
w(a.unsqueeze(0), lambda x: x.squeeze_()); w(a.unsqueeze(0), lambda x: x.squeeze_(0))
w(a, lambda x: x.t_()); w(u, lambda x: x.t_()); w(a, lambda x: x.transpose_(0, 1))
w(t, lambda x: x.transpose_(0, 2)); w(a, lambda x: x.swapaxes_(0, 1))
w(a, lambda x: x.swapdims_(0, 1)); w(a, lambda x: x.tril_()); w(a, lambda x: x.triu_())
w(a, lambda x: x.unsqueeze_(0).add_(1)); w(a, lambda x: x.cumsum_(0)); w(a, lambda x: x.cumprod_(1))
w(a, lambda x: x.addmm_(b, c)); w(u, lambda x: x.addmv_(a, v)); w(t, lambda x: x.baddbmm_(t, t))
w(a, lambda x: x.addr_(u, v)); w(a, lambda x: x.transpose_(0, 1).add_(v))
w(a, lambda x: x.t().add_(v)); w(a, lambda x: x.view(-1).mul_(2))
w(a, lambda x: x.detach().add_(1)); w(a, lambda x: x.diagonal().zero_())
w(a, lambda x: x.fill_diagonal_(1.)); w(a, lambda x: x.renorm_(2, 0, 1.))
w(a, lambda x: x.T.copy_(b)); w(a, lambda x: x.mT.add_(v)); w(a, lambda x: x.data.add_(1))
w(a, lambda x: x.scatter_(0, i, b)); w(a, lambda x: x.scatter_(1, i, 2.))
w(a, lambda x: x.scatter_add_(1, i, b)); w(a, lambda x: x.scatter_reduce_(0, i, b, 'sum'))
w(a, lambda x: x.index_add_(0, j, b)); w(a, lambda x: x.index_copy_(0, T.tensor([2, 0, 1]), b))
w(a, lambda x: x.index_fill_(0, j, 2.)); w(a, lambda x: x.index_fill_(0, j, s))
w(a, lambda x: x.index_put_((j,), b)); w(a, lambda x: x.index_put_((j, l), u, accumulate=True))
w(a, lambda x: x.put_(i, b)); w(a, lambda x: x.masked_scatter_(T.ones(3, 3, dtype=T.bool), b))
w(a, lambda x: x.index_reduce_(0, j, b, 'amax')); w(u, lambda x: x.index_add_(0, j, v))
w(a, lambda x: x.select(0, 1).fill_(2.)); w(a, lambda x: x.narrow(1, 0, 2).zero_())
w(a, lambda x: x.unbind()[0].add_(v)); w(a, lambda x: x.split(1)[1].mul_(2))
w(t, lambda x: x.permute(1, 0, 2).add_(a)); w(a, lambda x: x.expand(3, 3).add_(b))
w(a, lambda x: x.float().add_(1)); w(a, lambda x: x.requires_grad_(False))
"""

LAYERS = """
F.conv1d(t, t); F.conv1d(t, t, v); F.conv1d(a, t, padding=1); F.conv2d(g, g)
F.conv2d(g, g, v, padding=1); F.conv2d(t, g); F.conv2d(g, g[:, :1], groups=3)
F.conv2d(g, g, stride=2, padding=1); F.conv_transpose1d(t, t); F.conv_transpose2d(g, g, v)
F.conv_transpose2d(g, g[:, :1], groups=3); F.conv_transpose1d(a, t); F.conv2d(g, g, padding='same')
F.avg_pool1d(t, 2); F.avg_pool1d(a, 2); F.max_pool1d(t, 2); F.max_pool1d(a, 2)
F.avg_pool2d(g, 2, 1); F.max_pool2d(g, 2, 1); F.max_pool2d(t, 2, 1)
F.max_pool2d(g, 2, 1, return_indices=True); F.adaptive_avg_pool2d(g, 1); F.adaptive_max_pool2d(g, 2)
F.adaptive_avg_pool1d(t, 1); F.lp_pool1d(t.abs() + 1, 2., 2); F.lp_pool2d(g.abs() + 1, 2., 2, 1)
F.max_unpool1d(t[..., :1].abs(), T.zeros(3, 3, 1, dtype=T.int64), 2)
T.nn.functional.interpolate(g, scale_factor=2); F.interpolate(g, size=4, mode='bilinear')
F.interpolate(t, size=5, mode='linear', align_corners=True); F.interpolate(t, size=2)
F.interpolate(g, size=(2, 2), mode='area'); F.interpolate(g, size=5, mode='bicubic')
F.grid_sample(g, T.zeros(3, 2, 2, 2) + s, align_corners=False)
F.affine_grid(t[:, :2], (3, 1, 2, 2), align_corners=False)
F.layer_norm(a, (3,)); F.layer_norm(a, (3,), u, v); F.layer_norm(a, (3, 3), b, c)
F.layer_norm(u, (3,)); F.group_norm(t, 3); F.group_norm(t, 1, u, v); F.group_norm(g, 3, u, v)
F.instance_norm(t); F.instance_norm(g, weight=u, bias=v); F.batch_norm(a, None, None, training=True)
F.batch_norm(a, None, None, u, v, training=True); F.batch_norm(g, None, None, u, v, training=True)
F.batch_norm(a, u, v.abs() + 1); F.batch_norm(t, u, v.abs() + 1, u, v); F.rms_norm(a, (3,))
F.rms_norm(a, (3,), u); F.local_response_norm(g, 2); F.normalize(g); T.layer_norm(a, (3,))
T.group_norm(t, 3)
F.mse_loss(a, b); F.mse_loss(a, b, reduction='sum'); F.mse_loss(a, b, reduction='none')
F.mse_loss(u, v); F.mse_loss(s, r); F.mse_loss(a, v); F.l1_loss(a, b); F.smooth_l1_loss(a, b)
F.huber_loss(a, b, delta=.5); F.binary_cross_entropy(p / 10, m.float())
F.binary_cross_entropy_with_logits(a, m.float())
F.binary_cross_entropy_with_logits(a, m.float(), pos_weight=p[0])
F.binary_cross_entropy(p / 10, m.float(), weight=u.abs()); F.kl_div(a, b)
F.kl_div(a, p, reduction='batchmean'); F.poisson_nll_loss(a, p); F.gaussian_nll_loss(a, b, p)
F.soft_margin_loss(a, b.sign()); F.hinge_embedding_loss(a, b.sign())
F.margin_ranking_loss(u, v, v.sign()); F.cosine_embedding_loss(a, b, v.sign())
F.triplet_margin_loss(a, b, c); F.multilabel_margin_loss(a, i); F.multi_margin_loss(a, j)
F.multilabel_soft_margin_loss(a, m.float())
F.cross_entropy(a, j); F.cross_entropy(u, k); F.cross_entropy(a, j, reduction='none')
F.cross_entropy(a, j, reduction='sum'); F.cross_entropy(a, j, weight=v.abs())
F.cross_entropy(a, j, label_smoothing=.1); F.cross_entropy(a, b.softmax(1)); F.cross_entropy(t, i)
F.cross_entropy(a, j, ignore_index=1); F.nll_loss(a, j)
F.nll_loss(a, j, weight=v.abs(), reduction='sum'); F.nll_loss(t, i); F.nll_loss(u, k)
F.nll_loss(a, j, ignore_index=0, reduction='none'); F.cross_entropy(t, i, reduction='none')
F.scaled_dot_product_attention(a, b, c); F.scaled_dot_product_attention(t, t, t)
F.scaled_dot_product_attention(g, g, g); F.scaled_dot_product_attention(a, b, c, is_causal=True)
F.scaled_dot_product_attention(t, t, t, attn_mask=m)
F.scaled_dot_product_attention(t, t, t, attn_mask=a)
F.scaled_dot_product_attention(g, g, g, attn_mask=m, scale=.5); F.dropout(a, .5, training=False)
F.dropout(a, 0.); F.alpha_dropout(a, .5, training=False); F.rrelu(a)
F.multi_head_attention_forward(t, t, t, 3, 1, T.ones(9, 3) * s, T.ones(9), None, None, False, 0., a, v)[0]
T.lstm_cell(a, (b, c), T.ones(12, 3) * .1, T.ones(12, 3) * .2, T.zeros(12), T.zeros(12))
T.gru_cell(a, b, T.ones(9, 3) * .1, T.ones(9, 3) * .2, T.zeros(9), T.zeros(9))
T.rnn_tanh_cell(a, b, c, c, u, v); T.rnn_relu_cell(a, b, c, c); rnn(T.nn.RNNCell)(a, b)
rnn(T.nn.GRUCell)(a, b); rnn(T.nn.LSTMCell)(a, (b, c)); rnn(T.nn.RNNCell)(u, v)
rnn(T.nn.GRUCell)(u, v); rnn(T.nn.LSTMCell)(u, (v, v)); rnn(T.nn.LSTMCell)(a); rnn(T.nn.GRUCell)(a)
rnn(T.nn.RNN)(a)[0]; rnn(T.nn.GRU)(t)[0]; rnn(T.nn.LSTM)(t)[0]; rnn(T.nn.GRU)(t, t[:1])[0]
rnn(T.nn.LSTM)(t, (t[:1], t[:1]))[0]; rnn(T.nn.RNN)(a, b[:1])[1]
"""  # noqa: E501

FAMILIES = {
    "elementwise": ELEMENTWISE,
    "reductions": REDUCTIONS,
    "products": PRODUCTS,
    "shape": SHAPE,
    "indexing": INDEXING,
    "in_place": IN_PLACE,
    "layers": LAYERS,
}


def programs(family):
    """The texts, each once."""
    texts = [text.strip() for line in FAMILIES[family].splitlines() for text in line.split(";")]
    return list(dict.fromkeys(text for text in texts if text))


def letters(text):
    """The variables of a program, in order."""
    words = re.sub(r"'[^']*'", "", text)
    found = re.findall(r"(?<![\w.])([a-z])(?![\w=]|\()", words)
    return list(dict.fromkeys(x for x in found if x in SHAPES))


def function(text, T):
    """The program as a function of its variables, for the library T."""

    def w(x, change):
        x = x.clone()
        change(x)
        return x

    kinds = ("RNNCell", "GRUCell", "LSTMCell", "RNN", "GRU", "LSTM") if "rnn(" in text else ()
    cells = {getattr(T.nn, kind): getattr(T.nn, kind)(3, 3) for kind in kinds}
    for cell in cells.values():
        for n, x in enumerate(cell.parameters()):
            x.data.copy_(T.tensor(numpy.sin(numpy.arange(x.numel()) + n, dtype="f4")).view(x.shape))
            x.requires_grad_(False)

    spaces = {"T": T, "F": T.nn.functional, "w": w, "rnn": cells.get}
    return eval(f"lambda {', '.join(letters(text))}: {text}", spaces)


def values(letter, batch, seed=0):
    """An array for the variable, with the sizes of the batch in front."""
    shape = (*batch, *SHAPES[letter])
    # The numbers of a variable do not depend on the others of a program.
    draw = numpy.random.RandomState(ord(letter) + 1000 * seed + len(batch))
    if letter in "ijkl":
        return numpy.asarray(draw.randint(0, 3, shape))
    if letter in "mno":
        return numpy.asarray(draw.rand(*shape) > 0.5)
    if letter in "zy":
        return numpy.asarray(draw.randn(*shape) + 1j * draw.randn(*shape), dtype="c8")
    if letter == "p":
        return numpy.asarray(draw.rand(*shape) + 0.5, dtype="f4")
    return numpy.asarray(draw.randn(*shape), dtype="f4")


def choices(names):
    """Which variables are mapped over: at least one."""
    every = [kept for n in range(1, len(names) + 1) for kept in itertools.combinations(names, n)]
    return every if len(every) < 8 else [*every[: len(names)], *every[-len(names) - 1 :]]
