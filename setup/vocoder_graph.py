"""Builds the two graphs that the CPU engine runs, from the float model: front and vocoder.

Does no file handling. The cut, and why it is where it is:
- front: text to durations, pitch, the harmonic source and the decoder's input. Stays in float, since rounding here moves
  durations and pitch. One matrix product gives scale and shift of all 58 adaptive norms ("affine").
- vocoder: decoder and generator. May run in bf16.

What the vocoder does differently from the export, with the same result:
- Four dimensions [1, C, 1, T] instead of three: only for these the runtime keeps its norms and element-wise kernels in the
  layout of its convolutions, which saves two reorders for each convolution.
- Snake, x + sin^2(ax)/a, as a chain of operations with one input each, which the runtime fuses into one pass:
  sin^2 has period pi in ax, so v = ax/pi is taken modulo 1, s = v - 1/2, sin^2(ax) = cos^2(pi s); cos(pi s/4) is a
  quadratic in s^2 (error 2e-7), and two doublings cos(2u) = 2cos^2(u) - 1 lead to cos(pi s). Error of the square 3e-6.
  Where |a| < 0.0015 the error over a would exceed the term a*x^2 itself, which is left out.
- Transposed convolutions with a kernel of two strides as a convolution with two taps and one output channel for each phase.
- The nearest-neighbour upsampling of a shortcut behind its 1x1 convolution instead of before it.
- The last convolution gives logarithms of magnitudes, and phases. Its result rounded to bf16 adds up to 0.8 dB at 2-4 kHz
  (all other rounding together 0.15 dB), so it must come out in float: a limit behind it that is never met, which the
  runtime fuses and computes in float, sees to that.
"""

import numpy as np
import onnx
import openvino
from onnx import numpy_helper

ops = openvino.opset13

DECODER = "/decoder/decoder/"
GENERATOR = DECODER + "generator/"
WEIGHTS = "decoder.decoder.generator."
STYLE = "/decoder/Slice_output_0"
FEATURES = DECODER + "Concat_output_0"  # text features 512, pitch 1, energy 1
SOURCE = GENERATOR + "Concat_3_output_0"
TEXT_CHANNELS, FEATURE_CHANNELS, SOURCE_CHANNELS, BINS = 512, 514, 22, 11
SMALLEST_ALPHA = 1.5e-3
# Constants that stay float32 in the files although they are large.
EXACT = {"affine/bias"}


def constant(value) -> openvino.Node:
    return ops.constant(np.ascontiguousarray(np.asarray(value, dtype=np.float32)))


def integers(*values: int) -> openvino.Node:
    return ops.constant(np.array(values, dtype=np.int64))


def named(node: openvino.Node, name: str) -> openvino.Node:
    node.output(0).get_tensor().set_names({name})
    return node


def parameter(name: str, shape: list[int]) -> openvino.Node:
    return named(ops.parameter(shape, openvino.Type.f32, name), name)


def cosine_quadratic() -> tuple[float, float, float]:
    """(a, b, d) with a*(s^2 + b)^2 + d close to cos(pi*s/4) for |s| <= 1/2: smallest largest error, by Lawson's weights."""
    y = np.linspace(0.0, 0.25, 4001)
    wanted = np.cos(np.pi * np.sqrt(y) / 4)
    terms = np.stack([np.ones_like(y), y, y * y], 1)
    weight = np.ones_like(y)
    for _ in range(200):
        root = np.sqrt(weight)
        k0, k1, k2 = np.linalg.lstsq(terms * root[:, None], wanted * root, rcond=None)[0]
        error = np.abs(terms @ np.array([k0, k1, k2]) - wanted)
        weight *= error / error.max() + 1e-3
        weight /= weight.max()
    # Rounded, since the last bits depend on the processor and the bytes of the model must not.
    return round(k2, 9), round(k1 / (2 * k2), 6), round(k0 - k1 * k1 / (4 * k2), 8)


class Builder:
    """Builds graphs from the named weights of the float model. Single use: norms are numbered in the order they are built."""

    def __init__(self, model: onnx.ModelProto):
        self.constants = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
        self.nodes = {n.name: n for n in model.graph.node}
        self.quadratic = cosine_quadratic()
        self.norms = [f"{b}/norm{i}" for b in ["encode", *(f"decode.{i}" for i in range(4))] for i in (1, 2)]
        for stage in range(2):
            for block in (f"noise_res.{stage}", *(f"resblocks.{3 * stage + j}" for j in range(3))):
                self.norms += [f"generator/{block}/adain{k}.{i}" for i in range(3) for k in (1, 2)]
        self.parts = {}

    def norm_weights(self, norm: str) -> tuple[np.ndarray, np.ndarray]:
        """Matrix [128, 2C] and bias [2C] of a norm; the export adds 1 to the scale afterwards, here it is in the bias."""
        product, add = (self.nodes[f"{DECODER}{norm}/fc/Gemm_{kind}"] for kind in ("MatMul", "Add"))
        matrix = self.constants[product.input[1]]
        (bias,) = [self.constants[i].copy() for i in add.input if i in self.constants]
        bias[: matrix.shape[1] // 2] += 1
        return matrix, bias

    def split_affine(self) -> openvino.Node:
        sizes = [self.norm_weights(n)[0].shape[1] // 2 for n in self.norms for _ in (0, 1)]
        affine = parameter("affine", [1, sum(sizes)])
        split = ops.variadic_split(ops.reshape(affine, integers(1, sum(sizes), 1, 1), False), integers(1), integers(*sizes))
        self.parts = {n: (split.output(2 * i), split.output(2 * i + 1)) for i, n in enumerate(self.norms)}
        return affine

    def convolution(self, x, name: str):
        node = self.nodes[name]
        attributes = {a.name: list(a.ints) for a in node.attribute if a.ints}
        kernel = self.constants[node.input[1]][:, :, None, :]
        begin, end = attributes["pads"]
        y = ops.convolution(x, constant(kernel), [1, attributes["strides"][0]], [0, begin], [0, end],
                            [1, attributes["dilations"][0]])
        return y if len(node.input) < 3 else ops.add(y, constant(self.constants[node.input[2]].reshape(1, -1, 1, 1)))

    @staticmethod
    def normalised(x):
        return ops.mvn(x, integers(2, 3), True, 1e-5, "inside_sqrt")

    @staticmethod
    def leaky(x, slope: float):
        return ops.prelu(x, constant([slope]))

    def snake(self, x, norm: str, alpha_name: str):
        scale, shift = self.parts[norm]
        alpha = self.constants[alpha_name][..., None].astype(np.float64)
        small = np.abs(alpha) < SMALLEST_ALPHA
        inverse = np.where(small, 0.0, 1.0 / np.where(small, 1.0, alpha))
        m = self.normalised(x)
        h = ops.add(ops.multiply(m, scale), shift)
        # From m and not from h: a chain with its own input is fused with the final addition of h.
        turns = constant(alpha / np.pi)
        v = ops.add(ops.multiply(m, ops.multiply(scale, turns)), ops.multiply(shift, turns))
        two, one = constant(2.0), constant(-1.0)
        a, b, d = self.quadratic
        t = ops.power(ops.add(ops.floor_mod(v, constant(1.0)), constant(-0.5)), two)
        t = ops.power(ops.add(t, constant(b)), two)
        t = ops.power(ops.add(ops.multiply(t, constant(a)), constant(d)), two)
        for _ in range(2):
            t = ops.power(ops.add(ops.multiply(t, two), one), two)
        return ops.add(ops.multiply(t, constant(inverse)), h)

    def residual_block(self, x, block: str):
        for i in range(3):
            t = x
            for k in (1, 2):
                t = self.snake(t, f"generator/{block}/adain{k}.{i}", f"{WEIGHTS}{block}.alpha{k}.{i}")
                t = self.convolution(t, f"{GENERATOR}{block}/convs{k}.{i}/Conv")
            x = ops.add(t, x)
        return x

    def decoder_block(self, x, block: str, double: bool):
        def activated(value, norm: str):
            scale, shift = self.parts[f"{block}/{norm}"]
            return self.leaky(ops.add(ops.multiply(self.normalised(value), scale), shift), 0.2)

        shortcut = self.convolution(x, f"{DECODER}{block}/conv1x1/Conv")
        t = activated(x, "norm1")
        if double:
            pool = self.nodes[f"{DECODER}{block}/pool/ConvTranspose"]
            kernel = self.constants[pool.input[1]][:, None, :, None, :]
            t = ops.group_convolution_backprop_data(t, constant(kernel), [1, 2], None, [0, 1], [0, 1], [1, 1], "explicit", [0, 1])
            t = ops.add(t, constant(self.constants[pool.input[2]].reshape(1, -1, 1, 1)))
            shortcut = ops.interpolate(shortcut, constant([2.0]), "nearest", "scales", [0] * 4, [0] * 4,
                                       "asymmetric", "floor", axes=integers(3))
        t = activated(self.convolution(t, f"{DECODER}{block}/conv1/Conv"), "norm2")
        t = self.convolution(t, f"{DECODER}{block}/conv2/Conv")
        return ops.multiply(ops.add(t, shortcut), constant(np.sqrt(0.5)))

    def upsample(self, x, name: str, reflect: bool):
        node = self.nodes[f"{GENERATOR}{name}/ConvTranspose"]
        attributes = {a.name: list(a.ints) for a in node.attribute if a.ints}
        stride, pad = attributes["strides"][0], attributes["pads"][0]
        kernel = self.constants[node.input[1]]
        inputs, outputs, taps = kernel.shape
        if taps != 2 * stride:
            raise ValueError(f"{name}: kernel of {taps} is not two strides of {stride}")
        # Output sample q*stride + r (before the pad is cut) is kernel[r] on x[q] plus kernel[r + stride] on x[q - 1].
        phases = np.stack([kernel[:, :, stride:], kernel[:, :, :stride]], -1).transpose(2, 1, 0, 3)
        y = ops.convolution(x, constant(phases.reshape(stride * outputs, inputs, 1, 2)), [1, 1], [0, 1], [0, 1], [1, 1])
        y = ops.add(y, constant(np.tile(self.constants[node.input[2]], stride).reshape(1, -1, 1, 1)))
        y = ops.transpose(ops.reshape(y, integers(1, stride, outputs, -1), False), integers(0, 2, 3, 1))
        y = ops.reshape(y, integers(1, outputs, 1, -1), False)
        y = ops.slice(y, integers(pad), integers(-pad), integers(1), integers(3))
        if reflect:  # one sample on the left
            y = ops.concat([ops.slice(y, integers(1), integers(2), integers(1), integers(3)), y], 3)
        return y

    def vocoder(self) -> openvino.Model:
        features, source = parameter("features", [1, FEATURE_CHANNELS, -1]), parameter("source", [1, SOURCE_CHANNELS, -1])
        affine = self.split_affine()
        f, harmonics = ops.unsqueeze(features, integers(2)), ops.unsqueeze(source, integers(2))

        # What every decoder block gets besides: 64 channels of text, then pitch and energy as they are.
        text = self.nodes[DECODER + "asr_res/asr_res.0/Conv"]
        kernel = self.constants[text.input[1]]
        channels = kernel.shape[0]
        beside = np.zeros((channels + 2, FEATURE_CHANNELS, 1, 1), np.float32)
        beside[:channels, :TEXT_CHANNELS, 0] = kernel
        beside[channels, TEXT_CHANNELS] = beside[channels + 1, TEXT_CHANNELS + 1] = 1
        bias = np.concatenate([self.constants[text.input[2]], [0, 0]]).reshape(1, -1, 1, 1)
        side = ops.add(ops.convolution(f, constant(beside), [1, 1], [0, 0], [0, 0], [1, 1]), constant(bias))

        x = self.decoder_block(f, "encode", False)
        for i in range(4):
            x = self.decoder_block(ops.concat([x, side], 1), f"decode.{i}", i == 3)
        for stage in range(2):
            noise = self.convolution(harmonics, f"{GENERATOR}noise_convs.{stage}/Conv")
            noise = self.residual_block(noise, f"noise_res.{stage}")
            x = ops.add(self.upsample(self.leaky(x, 0.1), f"ups.{stage}", stage == 1), noise)
            blocks = [self.residual_block(x, f"resblocks.{3 * stage + j}") for j in range(3)]
            x = ops.multiply(ops.add(ops.add(blocks[0], blocks[1]), blocks[2]), constant(1.0 / 3.0))
        return openvino.Model([named(self.samples(x), "audio")], [features, source, affine], "vocoder")

    def samples(self, x):
        """The inverse STFT, which is the last convolution's logarithms of magnitudes and phases turned into sound."""
        x = self.convolution(self.leaky(x, 0.01), GENERATOR + "conv_post/Conv")
        x = ops.clamp(x, -1e6, 1e6)  # fused into the convolution, so that its result stays float

        def part(value, begin: int, end: int, axis: int):
            return ops.slice(value, integers(begin), integers(end), integers(1), integers(axis))

        magnitude, phase = ops.exp(part(x, 0, BINS, 1)), ops.sin(part(x, BINS, 2 * BINS, 1))
        spectrum = ops.concat([ops.multiply(magnitude, ops.cos(phase)), ops.multiply(magnitude, ops.sin(phase))], 1)
        basis = self.constants[WEIGHTS + "stft.istft.stft.inverse_basis"] * 4.0  # times n_fft / hop, as the export ends
        window = self.constants[WEIGHTS + "stft.istft.stft.window_sum"]
        y = ops.convolution_backprop_data(spectrum, constant(basis[:, :, None, :]), [1, 5], None, [0, 0], [0, 0], [1, 1])
        y = ops.reshape(y, integers(1, -1), False)
        # The export divides the first 20 samples by the window's sum and cuts 10 at both ends.
        half = window.size // 2
        first = ops.divide(part(y, half, window.size, 1), constant(window[None, half:]))
        return ops.reshape(ops.concat([first, part(y, window.size, -half, 1)], 1), integers(-1), False)

    def front(self, whole: openvino.Model) -> openvino.Model:
        """`whole`: the float model as the runtime read it; it is cut where the decoder begins."""
        outputs = {name: out for node in whole.get_ordered_ops() for out in node.outputs() for name in out.get_names()}
        weights = [self.norm_weights(n) for n in self.norms]
        bias = constant(np.concatenate([b for _, b in weights])[None])
        bias.set_friendly_name("affine/bias")
        affine = ops.add(ops.matmul(outputs[STYLE], constant(np.concatenate([m for m, _ in weights], 1)), False, False), bias)
        results = []
        for out, name in ((outputs[FEATURES], "features"), (outputs[SOURCE], "source"), (affine.output(0), "affine")):
            out.get_tensor().set_names({name})
            results.append(ops.result(out))
        return openvino.Model(results, whole.get_parameters(), "front")
