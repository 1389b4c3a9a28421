# SPDX-License-Identifier: Apache-2.0
"""Programs with autocast, for test_autocast.py. `m` is libdl, or PyTorch, whose answers
tests/answered.py stores."""

from wrappers.answers import numbers, told


def x(m, *shape, dtype="float32", shift=0.0):
    return numbers(m, *shape, shift=shift).to(getattr(m, dtype))


def names(result):
    """The dtypes of a result, by name."""
    if isinstance(result, (tuple, list)):
        return [names(y) for y in result]
    return str(result.dtype).split(".")[-1] if hasattr(result, "dtype") else str(result)


def positive(m, *shape, dtype="float32"):
    return x(m, *shape, dtype=dtype) * 0.4 + 0.5


def products(m, d):
    f = m.nn.functional
    a, b, v = x(m, 4, 3, dtype=d), x(m, 3, 5, dtype=d), x(m, 3, dtype=d)
    batch = x(m, 2, 4, 3, dtype=d)
    return {
        "mm": lambda: m.mm(a, b),
        "matmul": lambda: a @ b,
        "method": lambda: a.matmul(b),
        "matmul of vectors": lambda: v @ v,
        "matmul with a vector": lambda: a @ v,
        "batches": lambda: m.matmul(batch, b),
        "bmm": lambda: m.bmm(batch, batch.transpose(1, 2)),
        "mv": lambda: m.mv(a, v),
        "dot": lambda: m.dot(v, v),
        "addmm": lambda: m.addmm(x(m, 5, dtype=d), a, b),
        "linear": lambda: f.linear(a, x(m, 6, 3, dtype=d), x(m, 6, dtype=d)),
        "bilinear": lambda: f.bilinear(a, a, x(m, 2, 3, 3, dtype=d)),
        "prelu": lambda: f.prelu(a, x(m, 1, dtype=d)),
        "attention": lambda: f.scaled_dot_product_attention(batch, batch, batch),
        "conv1d": lambda: f.conv1d(x(m, 1, 2, 7, dtype=d), x(m, 4, 2, 3, dtype=d)),
        "conv2d": lambda: f.conv2d(
            x(m, 1, 2, 7, 7, dtype=d), x(m, 4, 2, 3, 3, dtype=d), x(m, 4, dtype=d)
        ),
        "same": lambda: f.conv2d(
            x(m, 1, 2, 7, 7, dtype=d), x(m, 4, 2, 3, 3, dtype=d), padding="same"
        ),
        "conv3d": lambda: f.conv3d(x(m, 1, 2, 4, 4, 4, dtype=d), x(m, 4, 2, 3, 3, 3, dtype=d)),
        "conv_transpose1d": lambda: f.conv_transpose1d(
            x(m, 1, 2, 7, dtype=d), x(m, 2, 4, 3, dtype=d)
        ),
        "conv_transpose2d": lambda: f.conv_transpose2d(
            x(m, 1, 2, 5, 5, dtype=d), x(m, 2, 4, 3, 3, dtype=d)
        ),
        "conv_transpose3d": lambda: f.conv_transpose3d(
            x(m, 1, 2, 3, 3, 3, dtype=d), x(m, 2, 4, 2, 2, 2, dtype=d)
        ),
    }


def in_float32(m, d):
    f = m.nn.functional
    a, image, volume = x(m, 4, 3, dtype=d), x(m, 1, 2, 6, 6, dtype=d), x(m, 1, 2, 6, 6, 6, dtype=d)
    p, q, target = positive(m, 4, 3, dtype=d), positive(m, 4, 3), m.tensor([0, 2, 1, 1])
    signs = m.tensor([1.0, -1.0, 1.0, -1.0]).to(getattr(m, d))
    return {
        "prod": lambda: m.prod(a),
        "prod along": lambda: a.prod(1),
        "mse_loss": lambda: f.mse_loss(a, a),
        "l1_loss": lambda: f.l1_loss(a, a),
        "smooth_l1_loss": lambda: f.smooth_l1_loss(a, a),
        "huber_loss": lambda: f.huber_loss(a, a),
        "nll_loss": lambda: f.nll_loss(a, target),
        "cross_entropy": lambda: f.cross_entropy(a, target),
        "binary_cross_entropy": lambda: f.binary_cross_entropy(p, q.to(p.dtype)),
        "with_logits": lambda: f.binary_cross_entropy_with_logits(a, p),
        "kl_div": lambda: f.kl_div(a, p, reduction="sum"),
        "poisson_nll_loss": lambda: f.poisson_nll_loss(a, p),
        "gaussian_nll_loss": lambda: f.gaussian_nll_loss(a, a, p),
        "hinge_embedding_loss": lambda: f.hinge_embedding_loss(a, signs[:, None].expand(4, 3)),
        "cosine_embedding_loss": lambda: f.cosine_embedding_loss(a, a, signs),
        "margin_ranking_loss": lambda: f.margin_ranking_loss(a[:, 0], a[:, 1], signs),
        "soft_margin_loss": lambda: f.soft_margin_loss(a[:, 0], signs),
        "multi_margin_loss": lambda: f.multi_margin_loss(a, target),
        "multilabel_margin_loss": lambda: f.multilabel_margin_loss(
            a[:3], m.tensor([[0, -1, 1], [2, 1, -1], [1, 0, -1]])
        ),
        "multilabel_soft_margin_loss": lambda: f.multilabel_soft_margin_loss(a, p),
        "triplet_margin_loss": lambda: f.triplet_margin_loss(a, a + 1, a - 1),
        "ctc_loss": lambda: f.ctc_loss(
            x(m, 5, 1, 4, dtype=d).log_softmax(2), m.tensor([[1, 2]]), m.tensor([5]), m.tensor([2])
        ),
        "avg_pool2d": lambda: f.avg_pool2d(image, 2),
        "avg_pool3d": lambda: f.avg_pool3d(volume, 2),
        "max_pool2d": lambda: f.max_pool2d(image, 2),
        "max_pool3d": lambda: f.max_pool3d(volume, 2),
        "max_pool3d with indices": lambda: f.max_pool3d(volume, 2, return_indices=True),
        "adaptive_avg_pool2d": lambda: f.adaptive_avg_pool2d(image, 2),
        "adaptive_avg_pool3d": lambda: f.adaptive_avg_pool3d(volume, 2),
        "adaptive_max_pool2d": lambda: f.adaptive_max_pool2d(image, 2),
        "adaptive_max_pool3d": lambda: f.adaptive_max_pool3d(volume, 2),
        "lp_pool2d": lambda: f.lp_pool2d(image.abs(), 2, 2),
        "lp_pool3d": lambda: f.lp_pool3d(volume.abs(), 2, 2),
        "fractional_max_pool2d": lambda: f.fractional_max_pool2d(image, 2, output_size=2),
        "fractional_max_pool3d": lambda: f.fractional_max_pool3d(volume, 2, output_size=2),
        "max_unpool2d": lambda: f.max_unpool2d(*f.max_pool2d(image, 2, return_indices=True), 2),
        "max_unpool1d": lambda: f.max_unpool1d(*f.max_pool1d(image[0], 2, return_indices=True), 2),
        "grid_sample": lambda: f.grid_sample(image, x(m, 1, 3, 3, 2, dtype=d), align_corners=False),
        "reflect 1d": lambda: f.pad(image[0], (1, 1), mode="reflect"),
        "reflect 2d": lambda: f.pad(image, (1, 1, 1, 1), mode="reflect"),
        "reflect 3d": lambda: f.pad(volume, (1, 1, 1, 1, 1, 1), mode="reflect"),
        "replicate 1d": lambda: f.pad(image[0], (1, 1), mode="replicate"),
        "replicate 3d": lambda: f.pad(volume, (1, 1, 1, 1, 1, 1), mode="replicate"),
        "constant": lambda: f.pad(image, (1, 1)),
        "circular": lambda: f.pad(image, (1, 1, 1, 1), mode="circular"),
    }


def promoted(m, d):
    a, b = x(m, 4, 3, dtype=d), x(m, 4, 3)
    index = m.tensor([1, 0])
    return {
        "cat": lambda: m.cat([a, b]),
        "stack": lambda: m.stack([b, a]),
        "cat of one dtype": lambda: m.cat([a, a]),
        "index_copy": lambda: a.index_copy(0, index, b[:2]),
        "add": lambda: a + b,
    }


def left_alone(m, d):
    f = m.nn.functional
    a, image = x(m, 4, 3, dtype=d), x(m, 2, 2, 6, 6, dtype=d)
    return {
        "exp": lambda: a.exp(),
        "sum": lambda: a.sum(),
        "mean": lambda: a.mean(),
        "norm": lambda: a.norm(),
        "var": lambda: a.var(),
        "cumsum": lambda: a.cumsum(0),
        "pow": lambda: a.pow(2),
        "softmax": lambda: a.softmax(1),
        "log_softmax": lambda: a.log_softmax(1),
        "logsumexp": lambda: a.logsumexp(1),
        "gelu": lambda: f.gelu(a),
        "relu": lambda: f.relu(a),
        "softplus": lambda: f.softplus(a),
        "layer_norm": lambda: f.layer_norm(a, (3,), x(m, 3), x(m, 3)),
        "layer_norm alone": lambda: f.layer_norm(a, (3,)),
        "batch_norm": lambda: f.batch_norm(image, None, None, x(m, 2), x(m, 2), training=True),
        "group_norm": lambda: f.group_norm(image, 1, x(m, 2), x(m, 2)),
        "interpolate": lambda: f.interpolate(image, scale_factor=2),
        "embedding": lambda: f.embedding(m.tensor([1, 0]), a),
        "dropout": lambda: f.dropout(a, 0.0),
        "cosine_similarity": lambda: f.cosine_similarity(a, a),
        "normalize": lambda: f.normalize(a),
        "instance_norm": lambda: f.instance_norm(image),
        "pdist": lambda: f.pdist(a.float()),
        "pairwise_distance": lambda: f.pairwise_distance(a, a),
    }


def recurrent(m, d):
    """Of modules in float32."""
    answers = {}
    for name, batch in (
        ("LSTM", (5, 2, 3)),
        ("GRU", (5, 2, 3)),
        ("RNN", (5, 2, 3)),
        ("LSTMCell", (2, 3)),
        ("GRUCell", (2, 3)),
        ("RNNCell", (2, 3)),
    ):
        module = getattr(m.nn, name)(3, 4)
        states = [x(m, *([] if "Cell" in name else [1]), 2, 4) for _ in range(2)]
        given = tuple(states) if "LSTM" in name else states[0]
        answers[name] = lambda module=module, batch=batch: module(x(m, *batch, dtype=d))
        answers[f"{name} of a state"] = lambda module=module, batch=batch, given=given: module(
            x(m, *batch, dtype=d), given
        )
    return answers


def attention(m, d):
    """Of modules in float32."""
    layer = m.nn.MultiheadAttention(4, 2)
    encoder = m.nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True)
    y = x(m, 3, 2, 4, dtype=d)
    return {
        "with weights": lambda: layer(y, y, y),
        "without": lambda: layer(y, y, y, need_weights=False)[0],
        "encoder": lambda: encoder(y),
    }


def composed(m, d):
    """Functions that are composed of others, or of which a part is a product."""
    f = m.nn.functional
    a, b, v, w = x(m, 4, 3, dtype=d), x(m, 3, 4, dtype=d), x(m, 3, dtype=d), x(m, 4, dtype=d)
    square, batch, p = x(m, 4, 4, dtype=d), x(m, 2, 4, 3, dtype=d), positive(m, 4, 3, dtype=d)
    pair = batch, batch.transpose(1, 2)
    return {
        "baddbmm": lambda: m.baddbmm(x(m, 2, 4, 4, dtype=d), *pair),
        "baddbmm scaled": lambda: m.baddbmm(square, *pair, beta=0.5, alpha=2.0),
        "method baddbmm": lambda: x(m, 2, 4, 4, dtype=d).baddbmm(*pair),
        "addbmm": lambda: m.addbmm(square, *pair),
        "addmv": lambda: m.addmv(w, a, v),
        "method addmv": lambda: w.addmv(a, v),
        "addr": lambda: m.addr(a, w, v),
        "inner of vectors": lambda: m.inner(v, v),
        "inner": lambda: m.inner(a, a),
        "inner with a vector": lambda: m.inner(a, v),
        "outer": lambda: m.outer(v, w),
        "vdot": lambda: m.vdot(v, v),
        "vecdot": lambda: m.linalg.vecdot(a, a),
        "vecdot along": lambda: m.linalg.vecdot(a, a, dim=0),
        "tensordot": lambda: m.tensordot(a, b, 1),
        "kron": lambda: m.kron(a, b),
        "multi_dot": lambda: m.linalg.multi_dot([a, b, a]),
        "chain_matmul": lambda: m.chain_matmul(a, b, a),
        "matrix_power": lambda: m.linalg.matrix_power(square, 3),
        "cross": lambda: m.linalg.cross(a, a),
        "cov": lambda: m.cov(a),
        "affine_grid": lambda: f.affine_grid(x(m, 1, 2, 3, dtype=d), (1, 1, 2, 2), False),
        "affine_grid_generator": lambda: m.affine_grid_generator(
            x(m, 1, 2, 3, dtype=d), (1, 1, 2, 2), False
        ),
        "convolution": lambda: m.convolution(
            x(m, 1, 2, 7, dtype=d), x(m, 4, 2, 3, dtype=d), None, [1], [0], [1], False, [0], 1
        ),
        "conv_tbc": lambda: m.conv_tbc(
            x(m, 5, 2, 3, dtype=d), x(m, 3, 3, 4, dtype=d), x(m, 4, dtype=d)
        ),
        "cdist": lambda: m.cdist(a, a),
        "cdist 1": lambda: m.cdist(a, a, p=1.0),
        "quantile": lambda: m.quantile(a, 0.5),
        "nanquantile": lambda: m.nanquantile(a, 0.5),
        "polar": lambda: m.polar(p, a),
        "trace": lambda: m.trace(square),
        "method trace": lambda: square.trace(),
        "dist": lambda: m.dist(a, a),
        "std_mean": lambda: m.std_mean(a),
        "median": lambda: m.median(v),
        "lerp": lambda: m.lerp(a, a, 0.5),
        "addcmul": lambda: m.addcmul(a, a, a),
    }


GROUPS = (products, in_float32, promoted, left_alone, recurrent, attention, composed)


def dtypes(m):
    """Of the results of each operator, from float32 and from autocast's dtype."""
    answers = {}
    for fast in ("bfloat16", "float16"):
        for group in GROUPS:
            for given in ("float32", fast):
                for name, call in group(m, given).items():
                    if fast == "float16" and group is recurrent and name.split()[0] == "LSTM":
                        continue  # PyTorch's cannot be trained, or is another one
                    with m.autocast("cpu", dtype=getattr(m, fast)):
                        found = told(call)
                    key = f"{fast} {group.__name__} {name} of {given}"
                    answers[key] = found if isinstance(found, dict) else names(found)
    return answers


def left_out(m):
    """float64, integers, and calls that write into a tensor."""
    a, b, out = x(m, 4, 3), x(m, 3, 5), m.zeros(4, 5)
    with m.autocast("cpu"):
        whole = m.ones(2, 2, dtype=m.int64) @ m.ones(2, 2, dtype=m.int64)
        wide = a.double() @ b.double()
        m.mm(a, b, out=out)
        return [names([whole, wide, out]), names(m.zeros(4, 5).addmm_(a, b))]


def nested(m):
    a, seen = x(m, 4, 4), []

    def look():
        seen.append(
            [
                names(a @ a),
                m.is_autocast_enabled("cpu"),
                m.is_autocast_cpu_enabled(),
                str(m.get_autocast_dtype("cpu")).split(".")[-1],
                m.is_autocast_cache_enabled(),
            ]
        )

    look()
    with m.autocast("cpu"):
        look()
        with m.autocast("cpu", dtype=m.float16, cache_enabled=False):
            look()
            with m.autocast("cpu", enabled=False):
                look()
                with m.autocast("cpu"):
                    look()
            look()
        look()
    look()
    m.set_autocast_enabled("cpu", True)
    m.set_autocast_dtype("cpu", m.float16)
    look()
    m.set_autocast_dtype("cpu", m.bfloat16)
    m.set_autocast_enabled("cpu", False)
    look()

    @m.autocast("cpu")
    def decorated(y):
        look()
        return y @ y

    seen.append(names(decorated(a)))
    look()
    told(lambda: failing(m))
    look()
    return seen


def failing(m):
    with m.autocast("cpu"):
        raise ValueError("inside")


def refused(m):
    answers = {}
    for device in ("xyz", 3, None):
        answers[str(device)] = told(lambda device=device: names(m.autocast(device)))
    answers["available"] = m.amp.is_autocast_available("cpu")
    return answers


def gradients_arrive(m):
    """In the dtype of what was given, once for a weight that is used twice."""
    w, v = x(m, 3, 3).requires_grad_(), x(m, 2, 3, shift=1.0).requires_grad_()
    narrow = x(m, 3, 3, dtype="bfloat16").requires_grad_()
    with m.autocast("cpu"):
        y = (x(m, 2, 3) @ w).relu() @ w + v
        loss = m.nn.functional.mse_loss(y @ narrow, m.zeros(2, 3)) + v.sum()
    found = [names(y), names(loss)]
    loss.backward()
    return found + [names(t.grad) for t in (w, v, narrow)]


class Twice:
    """A function of the user, with and without the two decorators."""

    @staticmethod
    def of(m, seen, **options):
        class Product(m.autograd.Function):
            @staticmethod
            @m.amp.custom_fwd(device_type="cpu", **options)
            def forward(ctx, a, b):
                ctx.save_for_backward(a, b)
                seen.append([names(a), m.is_autocast_enabled("cpu")])
                return a @ b

            @staticmethod
            @m.amp.custom_bwd(device_type="cpu")
            def backward(ctx, dy):
                a, b = ctx.saved_tensors
                seen.append([names(dy), m.is_autocast_enabled("cpu")])
                return dy @ b.t(), a.t() @ dy

        return Product


def custom_functions(m):
    seen = []
    for options in ({}, {"cast_inputs": m.float32}, {"cast_inputs": m.bfloat16}):
        for on in (True, False):
            a, b = x(m, 3, 3).requires_grad_(), x(m, 3, 3, shift=1.0).requires_grad_()
            with m.autocast("cpu", enabled=on):
                y = Twice.of(m, seen, **options).apply(a, b)
            y.float().sum().backward()
            seen.append([names(y), names(a.grad)])
    return seen


def checkpointed(m):
    w = x(m, 3, 3).requires_grad_()
    seen = []

    def run(y):
        seen.append(m.is_autocast_enabled("cpu"))
        return (y @ w).tanh() @ w

    for reentrant in (False, True):
        with m.autocast("cpu"):
            y = m.utils.checkpoint.checkpoint(
                run, x(m, 2, 3).requires_grad_(), use_reentrant=reentrant
            )
        y.float().sum().backward()
        seen.append([names(y), names(w.grad)])
    return seen


def scaler(m):
    """Of a loss that once is not finite."""
    w = m.nn.Parameter(m.tensor([1.0, 2.0]))
    optimizer = m.optim.SGD([w], lr=0.125)
    scaler = m.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    seen = [scaler.get_scale(), scaler.is_enabled(), told(scaler.step, optimizer)]
    for turn in range(6):
        optimizer.zero_grad()
        loss = (w * w).sum() * (float("inf") if turn == 3 else 1.0)
        scaler.scale(loss).backward()
        if turn == 1:
            scaler.unscale_(optimizer)
            seen.append([w.grad.tolist(), told(scaler.unscale_, optimizer)])
        scaler.step(optimizer)
        seen.append([w.tolist(), told(scaler.step, optimizer)])
        scaler.update()
        seen.append([scaler.get_scale(), scaler.state_dict()])
    scaler.update(4.0)
    other = m.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    seen += [other.get_scale(), other.state_dict()]
    off = m.amp.GradScaler("cpu", enabled=False)
    seen += [off.scale(3.0), off.state_dict(), off.get_scale()]
    return seen + [[y.tolist() for y in other.scale([m.ones(2), m.zeros(1)])]]


PROGRAMS = (
    dtypes,
    left_out,
    nested,
    refused,
    gradients_arrive,
    custom_functions,
    checkpointed,
    scaler,
)
