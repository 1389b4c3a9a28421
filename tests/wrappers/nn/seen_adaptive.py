# SPDX-License-Identifier: Apache-2.0
"""Programs with the adaptive softmax, for test_adaptive.py. `m` is libdl, or PyTorch, whose answers
tests/answered.py stores."""

from wrappers.answers import digest, filled, gradients, leaf, numbers, told

TOGETHER = True

OPTIONS = {
    "plain": ([3, 6], {}),
    "bias": ([3, 6], {"head_bias": True}),
    "one": ([4], {"div_value": 1.0}),
    "many": ([1, 2, 3, 9], {"div_value": 2.0}),
    "narrow": ([3, 6], {"div_value": 9.0}),
}


def adaptive(m, cutoffs, **options):
    return filled(m, m.nn.AdaptiveLogSoftmaxWithLoss(6, 10, cutoffs, **options))


def targets_of_all_clusters(m):
    answers = {}
    for name, (cutoffs, options) in OPTIONS.items():
        module = adaptive(m, cutoffs, **options)
        for classes in ([0, 4, 9, 2, 6], [0, 1, 0], [9], [5, 4], [2], 0, 7):
            target = m.tensor(classes)
            x = leaf(m, *target.shape, 6)
            made = module(x, target)
            answers[f"{name} {classes}"] = [
                type(made).__name__,
                digest(m, made.output),
                digest(m, made[1]),
                gradients(m, made.output + made.loss, [x, *module.parameters()]),
            ]
    return answers


def all_classes(m):
    answers = {}
    for name, (cutoffs, options) in OPTIONS.items():
        module, x = adaptive(m, cutoffs, **options), leaf(m, 7, 6)
        logs = module.log_prob(x)
        found = [module.predict(x * scale).tolist() for scale in (1, -1, 5, -5)]
        answers[name] = [
            digest(m, logs),
            gradients(m, logs, [x, *module.parameters()]),
            found,
            module.predict(x[:0]).tolist(),
        ]
    return answers


def printed(m):
    answers = []
    for cutoffs, options in OPTIONS.values():
        module = m.nn.AdaptiveLogSoftmaxWithLoss(6, 10, cutoffs, **options)
        answers.append(
            [
                repr(module),
                list(module.state_dict()),
                module.cutoffs,
                module.n_clusters,
                module.head_size,
                module.shortlist_size,
                module.div_value,
                module.head_bias,
                module.reset_parameters(),
            ]
        )
    return answers


def errors(m):
    A, module, x = m.nn.AdaptiveLogSoftmaxWithLoss, adaptive(m, [3, 6]), numbers(m, 2, 6)
    refused = ([], [0, 3], [3, 3], [4, 3], [3, 10], [2.5], [-1], [9])
    calls = [lambda cutoffs=cutoffs: A(6, 10, cutoffs) for cutoffs in refused]
    for target, given in (
        ([0, 10], x),
        ([-1, 0], x),
        ([0], x),
        ([[0, 1]], x),
        ([0, 1], x[0]),
        (0, x),
        (11, x[0]),
    ):
        calls.append(lambda target=target, given=given: module(given, m.tensor(target)))
    found = [told(call) for call in calls]
    return [answer if isinstance(answer, dict) else "no error" for answer in found]


PROGRAMS = [targets_of_all_clusters, all_classes, printed, errors]
