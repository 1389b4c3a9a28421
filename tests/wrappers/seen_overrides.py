# SPDX-License-Identifier: Apache-2.0
"""Programs with modes and overriding classes, for test_overrides.py; tests/answered.py stores
PyTorch's answers."""

import copy
import importlib

from wrappers.answers import told


def overrides_of(m):
    return importlib.import_module(f"{m.__name__}.overrides")


def name_of(m, function):
    """The function's name, with PyTorch's for the places where functions are."""
    name = overrides_of(m).resolve_name(function) or function.__name__
    name = name.replace("libdl", "torch").replace("torch.functional.", "torch.")
    return name.replace("torch.nn.functional.conv", "torch.conv")


def log_of(m):
    class Log(overrides_of(m).TorchFunctionMode):
        def __init__(self):
            self.seen = []

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.seen.append([name_of(m, func), len(args), list(kwargs or {})])
            return func(*args, **(kwargs or {}))

    return Log()


# Each line runs under a mode of its own. x: float [3, 4], y: the same, p: a parameter [4],
# q: bool [2], i: int64 [2], lin: a module.
LINES = """
x+1 1+x y.__iadd__(1) x*2 2*x x-1 1-x x/2 2/x x//2 2//x x%2 2%x x**2 2**x x@x.T x[0] i<<1 i>>1
y.__setitem__(0,1) x<2 x<=2 x>2 x>=2 x==2 x!=2 -x ~q abs(x) q&q q|q q^q len(x) bool(x[0,0]>0)
float(x[0,0]) int(x[0,0]) hash(x) x.shape x.dtype x.device x.requires_grad x.grad x.T x.ndim x.data
x.is_leaf x.grad_fn x.size() x.size(0) x.dim() x.numel() x.view(-1) x.is_contiguous() x.real x.mT
x.contiguous() i[0].item() x.tolist() x.numpy() x.stride() x.data_ptr() x.to(m.float64) x.float()
x.cpu() x.is_cuda x._version m.zeros(3) m.ones(2,2) m.rand(2) m.tensor([1]) m.arange(3) m.empty(2)
m.full((2,),1.) m.as_tensor([1]) m.zeros_like(x) m.eye(2) m.linspace(0,1,3) m.randn(1)
m.randint(0,3,(2,)) m.randperm(3) m.is_tensor(x) m.empty_like(x) x.new_zeros(3)
m.get_default_dtype() m.promote_types(m.int,m.float) m.result_type(x,1) m.is_grad_enabled()
m.is_floating_point(x) m.numel(x) m.can_cast(m.int,m.float) m.asarray([1]) m.normal(0.,1.,(2,))
m.empty_strided((2,),(1,)) m.full_like(x,1) m.add(x,1) m.add(x,other=1,alpha=2) m.relu(x) F.relu(x)
F.softmax(x,dim=1) F.linear(x,x) F.dropout(x,.2) m.cat([x,x],dim=0) m.split(x,2) x.max(1)
m.max(x,1) F.max_pool1d(x,2) F.mse_loss(x,x) F.cross_entropy(x,x) F.gelu(x) F.one_hot(i) F.elu(x,2.)
F.pad(x,(1,1)) F.scaled_dot_product_attention(x,x,x) F.interpolate(x[None],2) F.layer_norm(x,(4,))
F.conv1d(x[None],x[None]) F.batch_norm(x,None,None,training=True) lin(x) p.requires_grad_()
setattr(y,'requires_grad',False) setattr(y,'data',x) y.detach() y.zero_() y.add_(1) y.copy_(x)
y.expand_as(x) y.is_floating_point() y.new_tensor([1]) copy.deepcopy(x) y.unflatten(0,(3,1))
y.type_as(x) y.double() format(y[0,0],'.2f') x.sum(dim=0) m.sum(x,dim=0) m.where(x>0,x,x)
m.sigmoid(x) m.stack((x,x)) m.allclose(x,x) m.equal(x,x) x.chunk(2,dim=0) x.permute(1,0)
x.masked_fill(x>0,1.0) x.any() x.clone() m.manual_seed(0) x.unbind(0) x.is_signed()
""".split()


def what_modes_see(m):
    x = m.rand(3, 4)
    names = {
        "m": m,
        "F": m.nn.functional,
        "x": x,
        "y": x.clone(),
        "p": m.nn.Parameter(m.rand(4)),
        "q": m.tensor([True, False]),
        "i": m.tensor([3, 4]),
        "lin": m.nn.Linear(4, 4),
        "copy": copy,
    }
    answers = {}
    for line in LINES:
        with log_of(m) as log:
            eval(line, names)
        answers[line] = log.seen
    return answers


def nested_modes(m):
    """The inner mode is asked first, and hands on to the outer one; neither sees its own calls."""
    order = []

    class Mode(overrides_of(m).TorchFunctionMode):
        def __init__(self, name):
            self.name = name

        def __torch_function__(self, func, types, args=(), kwargs=None):
            order.append([self.name, func.__name__])
            m.ones(1).exp()
            return func(*args, **(kwargs or {}))

    with Mode("outer"):
        with Mode("inner"):
            m.zeros(2)
        m.relu(m.ones(2))
    m.zeros(2)
    return order


def modes_replace_results(m):
    class Sevens(overrides_of(m).TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if func is m.zeros or func in {m.nn.functional.relu: 1, m.Tensor.add: 2}:
                return 7
            return NotImplemented if func is m.exp else func(*args, **(kwargs or {}))

    x = m.ones(2)
    with Sevens():
        found = [m.zeros(3), m.nn.functional.relu(x), x + 1, x.add(1), (x * 2).tolist()]
        refused = told(m.exp, x)
    return [found, refused, (x + 1).tolist()]


def errors_end_modes(m):
    class Failing(overrides_of(m).TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise KeyError("no")

    def failing():
        with Failing():
            m.ones(2)

    return [told(failing), told(lambda: m.ones(2).tolist())]


def disabled(m):
    class Loud(m.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    class Silent(m.Tensor):
        __torch_function__ = m._C._disabled_torch_function_impl

    seen = []
    silent = m.add(m.ones(2).as_subclass(Silent), 1)
    x = m.ones(2).as_subclass(Loud)
    with log_of(m) as log:
        with m._C.DisableTorchFunctionSubclass():
            a = type(m.add(x, 1)).__name__
        with m._C.DisableTorchFunction():
            m.mul(x, 1)
    return [seen, a, type(silent).__name__, [name for name, *_ in log.seen]]


def classes(m):
    """What a subclass and a class that is no tensor see, of composed functions, too."""
    seen = []
    F = m.nn.functional

    class Loud(m.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append([name_of(m, func), [t.__name__ for t in types], list(kwargs or {})])
            return super().__torch_function__(func, types, args, kwargs or {})

    class Louder(Loud):
        pass

    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return [name_of(m, func), [t.__name__ for t in types], len(args)]

    x, z = m.rand(2, 3).as_subclass(Loud), m.rand(2, 3).as_subclass(Louder)
    for call in (
        lambda: F.softmax(x, dim=1),
        lambda: F.dropout(x, 0.5),
        lambda: m.cat([m.ones(2, 3), x]),
        lambda: F.mse_loss(x, x),
        lambda: x + z,
        lambda: m.add(x, z),
        lambda: 1 - x,
        lambda: F.cosine_similarity(x, x),
        lambda: x[0],
        lambda: x.sum(dim=0),
        lambda: x @ m.ones(3, 2),
        lambda: m.split(x, 1),
        lambda: F.max_pool1d(x, 2),
        lambda: x.shape,
        lambda: x.T,
        lambda: x.dim(),
        lambda: x.numel(),
        lambda: x.view(-1),
        lambda: x.requires_grad_().grad,
        lambda: x.data,
        lambda: z.dtype,
        lambda: setattr(z, "requires_grad", True),
        lambda: x.size(0),
        lambda: x.is_contiguous(),
        lambda: x.tolist(),
        lambda: x.mean().item(),
    ):
        call()
    ducks = [
        m.add(Duck(), 1),
        m.ones(2) + Duck(),
        F.softmax(Duck(), 1),
        F.normalize(Duck()),
        m.stack([m.ones(2), Duck()]),
        F.linear(m.ones(2), Duck()),
        m.ones(2).mul(Duck()),
    ]
    return [seen, ducks]


def own_functions(m):
    """Functions of the program that take part."""
    o = overrides_of(m)

    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return ["duck", func.__name__, len(args), list(kwargs or {})]

    class Refusing:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    @o.wrap_torch_function(lambda a, b=None: (a, b))
    def wrapped(a, b=None):
        return "own"

    def handled(a, b=None):
        if o.has_torch_function((a, b)):
            return o.handle_torch_function(handled, (a, b), a, b=b)
        return "own"

    x = m.ones(2)
    with log_of(m) as log:
        inside = [wrapped(x), handled(x), o.has_torch_function((x,))]
    return [
        wrapped(x),
        wrapped(x, Duck()),
        handled(x),
        handled(x, Duck()),
        handled(1, b=Duck()),
        told(handled, Refusing()),
        told(m.add, Refusing(), 1),
        inside,
        len(log.seen),
        o.has_torch_function((x, 1)),
        o.has_torch_function((Duck(),)),
        [o.is_tensor_like(v) for v in (x, Duck(), 1, [x], m.nn.Parameter(x))],
    ]


def about_functions(m):
    o = overrides_of(m)
    T = m.Tensor
    functions = o.get_overridable_functions()
    return [
        [
            o.is_tensor_method_or_property(f)
            for f in (
                T.add,
                T.shape.__get__,
                T.grad.__get__,
                T.__add__,
                m.add,
                m.nn.functional.relu,
                m.zeros,
                T.view,
                T.__getitem__,
            )
        ],
        [
            name_of(m, f)
            for f in (
                m.add,
                T.add,
                m.nn.functional.relu,
                T.shape.__get__,
                m.zeros,
                T.grad.__set__,
                m.nn.init.uniform_,
            )
        ],
        o.resolve_name(len),
        [f in functions[m] for f in (m.add, m.relu, m.zeros, m.save)],
        [f in functions[m.nn.functional] for f in (m.nn.functional.relu, m.nn.functional.softmax)],
        [f in functions[T] for f in (T.add, T.view)],
        [f in o.get_ignored_functions() for f in (m.zeros, m.tensor, m.save, m.add)],
    ]


PROGRAMS = (
    what_modes_see,
    nested_modes,
    modes_replace_results,
    errors_end_modes,
    disabled,
    classes,
    own_functions,
    about_functions,
)
