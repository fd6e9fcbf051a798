"""A small neural network for handwritten digits with 40 options: what the demo tunes.

`error(config)` trains it on 600 of scikit-learn's digit images and returns the error on 1,197 others, in percent.
The options are real; which of them matter, and together with which others, is what Overtone is to find out.
"""

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float32]]
Config = dict[str, Any]
N_TRAIN, N_CLASSES = 600, 10


@cache
def digits() -> tuple[Array, Array, Array, Array]:
    """Images in 0..1 and one-hot labels, to train on and to judge by.  # (T, 8, 8), (T, 10), (V, 8, 8), (V, 10)"""
    from sklearn.datasets import load_digits
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)  # from now on: the matrices are small, and the workers share the cores already
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    X = (images[order] / 16).astype(np.float32).reshape(-1, 8, 8)
    Y = np.eye(N_CLASSES, dtype=np.float32)[labels[order]]
    return X[:N_TRAIN], Y[:N_TRAIN], X[N_TRAIN:], Y[N_TRAIN:]


def error(config: Config) -> float:
    """Percent of the images not trained on that are taken for another digit."""
    rng = np.random.default_rng(config["weights_seed"])
    X, Y, X_test, Y_test = digits()
    with np.errstate(all="ignore"):  # a training that diverges ends at 90 %
        X, Y = augmented(X, Y, config, rng)
        features = prepared(X, config)
        mean, spread = features.mean(axis=0), features.std(axis=0) + 0.1
        views = [X_test, *(np.roll(X_test, 1, axis=2),) * config["average_views"]]
        scale = (lambda x: (x - mean) / spread) if config["standardize"] else (lambda x: x)
        weights = trained(scale(features), Y, config, rng)
        scores = sum(forward(scale(prepared(view, config)), weights, config)[-1] for view in views)
    return float(100 * np.mean(np.argmax(scores, axis=1) != np.argmax(Y_test, axis=1)))


# the images


def augmented(X: Array, Y: Array, config: Config, rng: np.random.Generator) -> tuple[Array, Array]:
    """More images, made of those that there are.  # (T, 8, 8), (T, 10)"""
    copies = [X]
    if config["shifted_copies"]:
        copies.append(np.roll(X, 1, axis=2))
    if config["mirrored_copies"]:
        copies.append(X[:, :, ::-1])
    if config["turned_copies"]:
        copies.append(np.rot90(X, axes=(1, 2)))
    images, labels = np.concatenate(copies), np.tile(Y, (len(copies), 1))
    if config["pixel_noise"]:
        images = images + rng.normal(0, 0.2, images.shape).astype(np.float32)
    if config["erase_patches"]:
        images = images.copy()
        for image, (row, column) in zip(images, rng.integers(0, 6, (len(images), 2)), strict=True):
            image[row : row + 3, column : column + 3] = 0
    if config["mixup"]:
        other, share = rng.permutation(len(images)), np.float32(0.8)
        images, labels = (share * z + (1 - share) * z[other] for z in (images, labels))
    return images, labels


def prepared(X: Array, config: Config) -> Array:
    """Images as rows of features.  # (T, 8, 8) -> (T, p)"""
    X = np.clip(X, 0, 1)
    if config["invert"]:
        X = 1 - X
    if config["square_root"]:
        X = np.sqrt(X)
    if config["binarize"]:
        X = (config["binarize_at"] < X).astype(np.float32)
    if config["blur"]:
        X = sum((np.roll(X, shift, axis) for axis in (1, 2) for shift in (-1, 1)), X) / 5
    if config["crop"]:
        X = X[:, 1:7, 1:7]
    blocks = [X.reshape(len(X), -1)]
    if config["edges"]:
        blocks += [np.diff(X, axis=axis).reshape(len(X), -1) for axis in (1, 2)]
    if config["row_and_column_sums"]:
        blocks += [X.sum(axis=1) / 4, X.sum(axis=2) / 4]
    return np.hstack(blocks)


# the network


def initial(n_inputs: int, config: Config, rng: np.random.Generator) -> list[Array]:
    """Weights of each layer, the biases in the last row."""
    sizes = [n_inputs, *[config["width"]] * (2 if config["second_layer"] else 1), N_CLASSES]
    layers = []
    for a, b in pairwise(sizes):
        W = rng.normal(0, config["initial_scale"] / np.sqrt(a), (a + 1, b))
        W[-1] = 0.1 if config["positive_biases"] else 0
        layers.append(W.astype(np.float32))
    return layers


ACTIVATIONS: dict[str, tuple[Any, Any]] = {  # the function, and its derivative in terms of the output
    "relu": (lambda z: np.maximum(z, 0), lambda h: (h > 0).astype(np.float32)),
    "tanh": (np.tanh, lambda h: 1 - h * h),
    "leaky relu": (lambda z: np.where(z > 0, z, 0.1 * z), lambda h: np.where(h > 0, 1, 0.1).astype(np.float32)),
}


def forward(x: Array, weights: list[Array], config: Config) -> list[Array]:
    """The output of every layer, the input first, the scores of the classes last."""
    activate, _ = ACTIVATIONS[config["activation"]]
    outputs = [x]
    for number, W in enumerate(weights):
        z = outputs[-1] @ W[:-1] + W[-1]
        is_last = number == len(weights) - 1
        if not is_last and config["layer_norm"]:
            z = (z - z.mean(axis=1, keepdims=True)) / (z.std(axis=1, keepdims=True) + 1e-3)
        outputs.append(z if is_last else activate(z))
    return outputs


def gradients(x: Array, y: Array, weights: list[Array], config: Config, rng: np.random.Generator) -> list[Array]:
    """Of the loss of a batch; the layer norm's own derivative is left out, as in a frozen one."""
    _, slope = ACTIVATIONS[config["activation"]]
    outputs = forward(x, weights, config)
    y = y * 0.9 + 0.01 if config["label_smoothing"] else y
    back = loss_slope(outputs[-1], y, config["loss"]) / len(x)
    found: list[Array] = []
    for number in reversed(range(len(weights))):
        h, W = outputs[number], weights[number]
        if number and config["dropout"]:
            h = h * (rng.random(h.shape, np.float32) > 0.25)
        found.append(np.concatenate([h.T @ back, back.sum(axis=0, keepdims=True)]))
        if number:
            back = (back @ W[:-1].T) * slope(h)
    found = [g + config["weight_decay"] * W for g, W in zip(reversed(found), weights, strict=True)]
    if config["clip_gradients"]:
        found = [np.clip(g, -0.1, 0.1) for g in found]
    if config["gradient_noise"]:
        found = [g + 0.01 * rng.standard_normal(g.shape, np.float32) for g in found]
    return found


def loss_slope(scores: Array, y: Array, loss: str) -> Array:
    """d loss / d scores.  # (B, 10)"""
    if loss == "hinge":
        return np.where((2 * y - 1) * scores < 1, 1 - 2 * y, 0).astype(np.float32)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True) - y


# training


def trained(x: Array, y: Array, config: Config, rng: np.random.Generator) -> list[Array]:
    """Weights after all steps, or their running average."""
    weights = initial(x.shape[1], config, rng)
    average = [W.copy() for W in weights]
    memory: list[Array] = [np.zeros_like(W) for W in weights]
    n_steps = 160 if config["long_training"] else 80
    order = rng.permutation(len(x))
    for step in range(n_steps):
        batch = rows(order, step, config)
        slopes = gradients(x[batch], y[batch], weights, config, rng)
        rate = rate_at(step / n_steps, config)
        for i, change in enumerate(changes(slopes, memory, config)):
            weights[i] = weights[i] - rate * change
            if config["average_weights"]:
                average[i] += 0.1 * (weights[i] - average[i])
    final = average if config["average_weights"] else weights
    return [np.nan_to_num(W, nan=0.0, posinf=0.0, neginf=0.0) for W in final]


def rows(order: Any, step: int, config: Config) -> Any:
    """The images of a step: the next in a shuffled order, or blocks in the order of the file."""
    size = config["batch_size"]
    places = np.arange(step * size, (step + 1) * size) % len(order)
    return order[places] if config["shuffle"] else places


def rate_at(share: float, config: Config) -> float:
    """The learning rate after a share of all steps."""
    rate = float(config["learning_rate"])
    if config["warm_up"]:
        rate *= min(1.0, 0.1 + share / 0.2)
    falls = {"constant": 1.0, "linear": 1 - share, "cosine": 0.5 + float(np.cos(np.pi * share)) / 2}
    return rate * falls[config["schedule"]]


def changes(slopes: list[Array], memory: list[Array], config: Config) -> list[Array]:
    """What the optimizer makes of the gradients: as they are, or with momentum."""
    if config["optimizer"] == "plain":
        return slopes
    decay = config["momentum"]
    for i, g in enumerate(slopes):
        memory[i] = decay * memory[i] + g
    return [g + decay * m for g, m in zip(slopes, memory, strict=True)] if config["nesterov"] else memory
