"""Turns the int8 export of Kokoro-82M back into a plain float ONNX graph, with the phase of its harmonic source put right.

Does no file handling and knows no runtime. Works on any graph made of the same dynamic-quantisation patterns and refuses
one in which a quantised operator is left over. Pure: same input, same bytes out.

What it changes, and why:
- ConvInteger, MatMulInteger and DynamicQuantizeLSTM with their DynamicQuantizeLinear become Conv (with the float bias that
  the graph still carries), MatMul and LSTM with float weights, which every runtime optimises.
- STFT becomes a convolution whose sine rows of the real bins (DC and Nyquist) are exactly zero, and the phase test becomes
  im >= 0, so that a negative real bin has phase +pi as in torch.angle. The export computes atan(im/re) and adds pi only for
  im > 0: an exact zero gives -pi, rounding noise gives either. A real part of zero is given +-pi/2 or 0 instead of NaN.
- In unvoiced stretches the source is a constant and nine of its eleven bins are zero but for rounding, so their phase
  would be whatever the runtime's and the processor's rounding makes of it, up to 0.6 dB in a band of a short word.
  Values below 1e-6 (the rounding is 1e-8, the signal 0.01 to 1) count as zero: phase 0 everywhere, and two runtimes agree
  within about 0.1 dB.
"""

import collections
import hashlib

import numpy as np
import onnx
from onnx import helper, numpy_helper


class Graph:
    """An ONNX graph with the indexes that rewriting needs. Not thread safe."""

    def __init__(self, model: onnx.ModelProto):
        self.model = model
        self.nodes = list(model.graph.node)
        self.constants = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
        self.index()

    def index(self) -> None:
        self.producer = {out: n for n in self.nodes for out in n.output}
        self.consumers = collections.defaultdict(list)
        for n in self.nodes:
            for name in n.input:
                self.consumers[name].append(n)

    def only_consumer(self, name: str) -> onnx.NodeProto:
        users = self.consumers[name]
        if len(users) != 1:
            raise ValueError(f"{name} has {len(users)} consumers, expected one")
        return users[0]

    def replace(self, replacements: dict[int, list[onnx.NodeProto]], dropped: set[int]) -> None:
        """Puts new nodes where old ones stood (keys are id() of the old node) and drops the rest."""
        result = []
        for n in self.nodes:
            if id(n) in replacements:
                result.extend(replacements[id(n)])
            elif id(n) not in dropped:
                result.append(n)
        self.nodes = result
        self.index()

    def drop_dead(self) -> None:
        """Removes nodes and constants that no output needs."""
        needed = {o.name for o in self.model.graph.output}
        kept = []
        for n in reversed(self.nodes):
            if any(out in needed for out in n.output):
                kept.append(n)
                needed.update(n.input)
        self.nodes = kept[::-1]
        self.constants = {k: v for k, v in self.constants.items() if k in needed}
        self.index()

    def share_duplicates(self) -> None:
        """Constants with the same type, shape and bytes become one."""
        first, alias = {}, {}
        for name in sorted(self.constants):
            value = self.constants[name]
            key = (value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).digest())
            alias[name] = first.setdefault(key, name)
        for n in self.nodes:
            for i, name in enumerate(n.input):
                if name in alias:
                    n.input[i] = alias[name]
        self.constants = {k: v for k, v in self.constants.items() if alias[k] == k}
        self.index()

    def finish(self) -> onnx.ModelProto:
        """A new model with the rewritten nodes; unused operator sets are dropped."""
        graph = helper.make_graph(
            self.nodes, self.model.graph.name, self.model.graph.input, self.model.graph.output,
            [numpy_helper.from_array(self.constants[k], k) for k in sorted(self.constants)])
        used = {n.domain for n in self.nodes}
        opsets = [o for o in self.model.opset_import if o.domain in used or o.domain == ""]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=self.model.ir_version,
                                  producer_name="headroom")
        return model


def attributes(node: onnx.NodeProto, drop: tuple[str, ...] = ()) -> dict:
    return {a.name: helper.get_attribute_value(a) for a in node.attribute if a.name not in drop}


def dequantise(quantised, zero_point, scale, channel_axis: int) -> np.ndarray:
    """(q - zero) * scale in float32; zero and scale are scalars or one per channel."""
    shape = [1] * quantised.ndim
    shape[channel_axis] = -1
    zero = np.asarray(zero_point, dtype=np.float32)
    scale = np.asarray(scale, dtype=np.float32)
    if zero.ndim:
        zero = zero.reshape(shape)
    if scale.ndim:
        scale = scale.reshape(shape)
    return ((quantised.astype(np.float32) - zero) * scale).astype(np.float32)


def _float_product(g: Graph, node: onnx.NodeProto) -> tuple[onnx.NodeProto, onnx.NodeProto, set[int]]:
    """Conv or MatMul for an integer one: (new node, the Mul it replaces, nodes that fall away)."""
    gone = {id(node)}
    source = g.producer[node.input[0]]
    if source.op_type != "DynamicQuantizeLinear":
        raise ValueError(f"{node.name}: input is not dynamically quantised")
    after = g.only_consumer(node.output[0])
    bias = None
    if after.op_type == "Add":
        # int32 bias = floor(bias / (x_scale * w_scale)); the float one is still there.
        reshape = g.producer[next(i for i in after.input if i != node.output[0])]
        divide = g.producer[g.producer[g.producer[reshape.input[0]].input[0]].input[0]]
        if divide.op_type != "Div":
            raise ValueError(f"{node.name}: bias is not in the expected form")
        bias = divide.input[0]
        gone.add(id(after))
        after = g.only_consumer(after.output[0])
    multiply = g.only_consumer(after.output[0])
    if after.op_type != "Cast" or multiply.op_type != "Mul":
        raise ValueError(f"{node.name}: no Cast and Mul behind it")
    gone.add(id(after))
    scales = g.producer[next(i for i in multiply.input if i != after.output[0])]
    weight_scale = next(i for i in scales.input if i in g.constants)
    axis = 0 if node.op_type == "ConvInteger" else -1
    weight = dequantise(g.constants[node.input[1]], g.constants[node.input[3]], g.constants[weight_scale], axis)
    name = f"{node.input[1]}_float"
    g.constants[name] = weight
    inputs = [source.input[0], name] + ([bias] if bias else [])
    kind = node.op_type.removesuffix("Integer")
    new = helper.make_node(kind, inputs, [multiply.output[0]], name=node.name.removesuffix("_quant"),
                           **attributes(node))
    return new, multiply, gone


def _float_lstm(g: Graph, node: onnx.NodeProto) -> onnx.NodeProto:
    """LSTM for DynamicQuantizeLSTM, whose W and R are stored transposed: [directions, input, 4*hidden]."""
    names = []
    for weight, scale, zero in ((1, 8, 9), (2, 10, 11)):
        value = dequantise(g.constants[node.input[weight]], g.constants[node.input[zero]],
                           g.constants[node.input[scale]], 0)
        names.append(f"{node.input[weight]}_float")
        g.constants[names[-1]] = np.ascontiguousarray(value.transpose(0, 2, 1))
    inputs = [node.input[0], *names, *node.input[3:8]]
    while inputs and inputs[-1] == "":
        inputs.pop()
    return helper.make_node("LSTM", inputs, list(node.output), name=node.name.removesuffix("_quant"),
                            **attributes(node))


def remove_quantisation(g: Graph) -> dict[str, int]:
    """Every quantised operator becomes its float form; returns how many of each kind."""
    replacements, dropped, count = {}, set(), collections.Counter()
    for node in g.nodes:
        if node.op_type in ("ConvInteger", "MatMulInteger"):
            new, multiply, gone = _float_product(g, node)
            replacements[id(multiply)] = [new]
            dropped |= gone
            count[new.op_type] += 1
        elif node.op_type == "DynamicQuantizeLSTM":
            replacements[id(node)] = [_float_lstm(g, node)]
            count["LSTM"] += 1
        elif node.op_type == "DequantizeLinear":
            # Embedding rows: Gather from an int8 table, then dequantise. The table itself is turned to float.
            gather = g.producer[node.input[0]]
            table = f"{gather.input[0]}_float"
            g.constants[table] = dequantise(g.constants[gather.input[0]], g.constants[node.input[2]],
                                            g.constants[node.input[1]], 0)
            replacements[id(node)] = [helper.make_node("Gather", [table, gather.input[1]], [node.output[0]],
                                                       name=gather.name, **attributes(gather))]
            dropped.add(id(gather))
            count["Gather"] += 1
    g.replace(replacements, dropped)
    g.drop_dead()
    left = sorted({n.op_type for n in g.nodes if "Quantize" in n.op_type or n.op_type.endswith("Integer")})
    if left:
        raise ValueError(f"quantised operators left over: {left}")
    return dict(count)


# Below this a part of the source's spectrum is rounding noise; see the module's text.
SPECTRUM_NOISE = 1e-6


def stft_kernel(window: np.ndarray) -> np.ndarray:
    """[2*bins, 1, n]: cosine rows, then minus sine rows, of a one-sided STFT; exact zeros where the bin is real."""
    n = window.size
    bins = n // 2 + 1
    angle = 2.0 * np.pi * np.outer(np.arange(bins), np.arange(n)) / n
    # Rounded, since the last bit of numpy's cos depends on the processor and the bytes must not.
    real, imaginary = np.round(np.cos(angle), 12), -np.round(np.sin(angle), 12)
    imaginary[0] = 0.0
    imaginary[bins - 1] = 0.0
    rows = np.concatenate([real, imaginary]) * window.astype(np.float64)
    return rows.astype(np.float32)[:, None, :]


def correct_phase(g: Graph) -> None:
    """Replaces STFT and the phase computation behind it; see the module's text for the reason."""
    (stft,) = [n for n in g.nodes if n.op_type == "STFT"]
    step = int(g.constants[stft.input[1]])
    window = g.constants[stft.input[2]]
    bins = window.size // 2 + 1
    transpose = g.only_consumer(stft.output[0])
    parts = {int(g.constants[n.input[1]]): n for n in g.consumers[transpose.output[0]]}
    if transpose.op_type != "Transpose" or sorted(parts) != [0, 1]:
        raise ValueError("the STFT is not followed by its real and imaginary parts")
    real, imaginary = parts[0].output[0], parts[1].output[0]

    g.constants["headroom_stft_kernel"] = stft_kernel(window)
    g.constants["headroom_noise"] = np.array(SPECTRUM_NOISE, dtype=np.float32)
    g.constants["headroom_zero"] = np.array(0.0, dtype=np.float32)
    g.constants["headroom_axis_1"] = np.array([1], dtype=np.int64)
    g.constants["headroom_stft_split"] = np.array([bins, bins], dtype=np.int64)
    convolution = [
        helper.make_node("Unsqueeze", [stft.input[0], "headroom_axis_1"], ["headroom_stft_in"], name="headroom/stft/in"),
        helper.make_node("Conv", ["headroom_stft_in", "headroom_stft_kernel"], ["headroom_stft_raw"],
                         name="headroom/stft/conv", strides=[step]),
        helper.make_node("Abs", ["headroom_stft_raw"], ["headroom_stft_abs"], name="headroom/stft/abs"),
        helper.make_node("Less", ["headroom_stft_abs", "headroom_noise"], ["headroom_stft_small"],
                         name="headroom/stft/small"),
        helper.make_node("Where", ["headroom_stft_small", "headroom_zero", "headroom_stft_raw"], ["headroom_stft_out"],
                         name="headroom/stft/clean"),
        helper.make_node("Split", ["headroom_stft_out", "headroom_stft_split"], [real, imaginary],
                         name="headroom/stft/split", axis=1),
    ]

    (atan,) = [n for n in g.nodes if n.op_type == "Atan"]
    (positive,) = [n for n in g.consumers[imaginary] if n.op_type == "Greater"]
    zero = positive.input[1]
    g.constants["headroom_half_pi"] = np.array(np.pi / 2, dtype=np.float32)
    raw = f"{atan.output[0]}_raw"
    phase = [
        helper.make_node("Atan", list(atan.input), [raw], name=atan.name),
        helper.make_node("Equal", [real, zero], ["headroom_real_is_zero"], name="headroom/phase/real_is_zero"),
        helper.make_node("Sign", [imaginary], ["headroom_sign"], name="headroom/phase/sign"),
        helper.make_node("Mul", ["headroom_sign", "headroom_half_pi"], ["headroom_right_angle"],
                         name="headroom/phase/right_angle"),
        helper.make_node("Where", ["headroom_real_is_zero", "headroom_right_angle", raw], [atan.output[0]],
                         name="headroom/phase/atan"),
    ]
    not_negative = helper.make_node("GreaterOrEqual", list(positive.input), list(positive.output), name=positive.name)
    g.replace({id(stft): convolution, id(atan): phase, id(positive): [not_negative]},
              {id(transpose), id(parts[0]), id(parts[1])})


def to_float(quantised: onnx.ModelProto) -> tuple[onnx.ModelProto, dict[str, int]]:
    """The corrected float model, and how many operators of each kind were turned back."""
    g = Graph(quantised)
    count = remove_quantisation(g)
    correct_phase(g)
    g.drop_dead()
    g.share_duplicates()
    model = g.finish()
    onnx.checker.check_model(model)
    return model, count
