#include "engine/formats/torch_tensors.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace rekey {
namespace {

using Kind = Object::Kind;

// What a call to a global gives.
enum class Form : uint8_t {
  kUnknown,   // nothing that readers model
  kData,      // known to be harmless data: a set, a size, a NumPy scalar
  kTensor,    // (storage, offset, size, stride[, requires_grad, hooks[, meta]])
  kTensorV3,  // (storage, offset, size, stride, requires_grad, hooks, dtype[, meta])
  kWrapped,   // (tensor, ...): parameters
  kFromType,  // (function, type, arguments[, state])
  kMeta,      // (dtype, size, stride, requires_grad)
  kSparse,    // (layout, (indices, values, size, ...))
  kOther,     // a tensor that is not dense
  kClass,     // (tensor), or a state: tensors and parameters of torch before 0.4
  kGetAttr,   // (object, name)
  kInstance,  // (class, base, state): an instance in protocols 0 and 1
  kOrderedDict
};

struct Known {
  std::string_view name;
  Form form;
};

// Sorted by name.
constexpr Known kKnown[] = {
    {"__builtin__.bytearray", Form::kData},
    {"__builtin__.complex", Form::kData},
    {"__builtin__.dict", Form::kData},
    {"__builtin__.frozenset", Form::kData},
    {"__builtin__.getattr", Form::kGetAttr},
    {"__builtin__.list", Form::kData},
    {"__builtin__.object", Form::kData},
    {"__builtin__.set", Form::kData},
    {"__builtin__.slice", Form::kData},
    {"__builtin__.tuple", Form::kData},
    {"__builtin__.xrange", Form::kData},
    {"_codecs.encode", Form::kData},
    {"argparse.Namespace", Form::kData},
    {"builtins.bytearray", Form::kData},
    {"builtins.complex", Form::kData},
    {"builtins.dict", Form::kData},
    {"builtins.frozenset", Form::kData},
    {"builtins.getattr", Form::kGetAttr},
    {"builtins.list", Form::kData},
    {"builtins.object", Form::kData},
    {"builtins.range", Form::kData},
    {"builtins.set", Form::kData},
    {"builtins.slice", Form::kData},
    {"builtins.tuple", Form::kData},
    {"collections.Counter", Form::kData},
    {"collections.OrderedDict", Form::kOrderedDict},
    {"collections.defaultdict", Form::kData},
    {"collections.deque", Form::kData},
    {"copy_reg._reconstructor", Form::kInstance},
    {"copyreg._reconstructor", Form::kInstance},
    {"numpy._core.multiarray._reconstruct", Form::kData},
    {"numpy._core.multiarray.scalar", Form::kData},
    {"numpy.core.multiarray._reconstruct", Form::kData},
    {"numpy.core.multiarray.scalar", Form::kData},
    {"numpy.dtype", Form::kData},
    {"numpy.ndarray", Form::kData},
    {"pathlib.PosixPath", Form::kData},
    {"pathlib.WindowsPath", Form::kData},
    {"torch.Size", Form::kData},
    {"torch._dynamo.eval_frame.OptimizedModule", Form::kData},
    {"torch._tensor._rebuild_from_type", Form::kFromType},
    {"torch._tensor._rebuild_from_type_v2", Form::kFromType},
    {"torch._utils._rebuild_device_tensor_from_cpu_tensor", Form::kWrapped},
    {"torch._utils._rebuild_meta_tensor_no_storage", Form::kMeta},
    {"torch._utils._rebuild_parameter", Form::kWrapped},
    {"torch._utils._rebuild_parameter_with_state", Form::kWrapped},
    {"torch._utils._rebuild_sparse_tensor", Form::kSparse},
    {"torch._utils._rebuild_tensor", Form::kTensor},
    {"torch._utils._rebuild_tensor_v2", Form::kTensor},
    {"torch._utils._rebuild_tensor_v3", Form::kTensorV3},
    {"torch.device", Form::kData},
    {"torch.jit._pickle.build_boollist", Form::kData},
    {"torch.jit._pickle.build_doublelist", Form::kData},
    {"torch.jit._pickle.build_intlist", Form::kData},
    {"torch.jit._pickle.build_tensorlist", Form::kData},
    {"torch.jit._pickle.restore_type_tag", Form::kData},
    {"torch.serialization._get_layout", Form::kData},
    {"torch.tensor._rebuild_from_type", Form::kFromType},
    {"torch.tensor._rebuild_from_type_v2", Form::kFromType},
};

static_assert(std::is_sorted(std::begin(kKnown), std::end(kKnown),
                             [](const Known& a, const Known& b) { return a.name < b.name; }));

// Classes that were pickled by themselves before torch 0.4: torch.nn.parameter.Parameter,
// torch.FloatTensor, torch.cuda.LongTensor.
bool IsTensorClass(std::string_view name) {
  if (name == "torch.nn.parameter.Parameter" || name == "torch.autograd.variable.Variable" ||
      name == "torch.Tensor") {
    return true;
  }
  constexpr std::string_view kTorch = "torch.";
  constexpr std::string_view kCuda = "cuda.";
  constexpr std::string_view kTensor = "Tensor";
  if (!name.starts_with(kTorch) || !name.ends_with(kTensor)) return false;
  name.remove_prefix(kTorch.size());
  if (name.starts_with(kCuda)) name.remove_prefix(kCuda.size());
  name.remove_suffix(kTensor.size());
  return DTypeByTorchStorageName(std::string(name) + "Storage").has_value();
}

Form FormOf(std::string_view callable) {
  const auto* at =
      std::lower_bound(std::begin(kKnown), std::end(kKnown), callable,
                       [](const Known& known, std::string_view name) { return known.name < name; });
  if (at != std::end(kKnown) && at->name == callable) return at->form;
  if (IsTensorClass(callable)) return Form::kClass;
  return callable.starts_with("torch._utils._rebuild_") ? Form::kOther : Form::kUnknown;
}

std::string_view LastPart(std::string_view name) { return name.substr(name.rfind('.') + 1); }

class Finder {
 public:
  explicit Finder(ObjectGraph& graph) : graph_(graph) {}

  TorchTensors Run() {
    // A node's arguments were made before it, so that one pass finds them done; its state was made
    // after it and is looked at later. The pass adds nodes of its own, which need no look.
    const size_t count = graph_.size();
    for (size_t i = 0; i < count; ++i) {
      const ObjectId id = static_cast<ObjectId>(i);
      if (graph_[id].kind == Kind::kPersistent) {
        ReadPersistent(id);
      } else if (graph_[id].kind == Kind::kCall) {
        ReadCall(id);
      }
    }
    for (const ObjectId id : instances_) ReadTensorState(id);
    for (const ObjectId id : instances_) ReadVariable(id);
    out_.callables.assign(callables_.begin(), callables_.end());
    std::sort(out_.callables.begin(), out_.callables.end());
    return std::move(out_);
  }

 private:
  using Items = std::vector<ObjectId>;

  const Items& Arguments(ObjectId call) const { return graph_[graph_[call].items[1]].items; }

  std::optional<int64_t> Int(ObjectId id) const {
    if (graph_[id].kind != Kind::kInt) return std::nullopt;
    return graph_[id].integer;
  }

  // A tuple or list of integers, or torch.Size of one.
  std::optional<Dims> ReadDims(ObjectId id) const {
    if (graph_[id].kind == Kind::kCall && !Arguments(id).empty()) {
      const Object& callee = graph_[graph_[id].items[0]];
      if (callee.kind == Kind::kGlobal && callee.text == "torch.Size") id = Arguments(id)[0];
    }
    const Object& object = graph_[id];
    if (object.kind != Kind::kTuple && object.kind != Kind::kList) return std::nullopt;
    if (object.items.size() > kMaxRank) return std::nullopt;
    Dims dims;
    for (const ObjectId item : object.items) {
      const std::optional<int64_t> value = Int(item);
      if (!value) return std::nullopt;
      dims.push_back(*value);
    }
    return dims;
  }

  std::optional<DType> ReadDType(ObjectId id) const {
    const Object& object = graph_[id];
    if (object.kind != Kind::kGlobal || !object.text.starts_with("torch.")) return std::nullopt;
    return DTypeByTorchName(std::string_view(object.text).substr(6));
  }

  // --- Persistent ids.

  // The node's number is that of the storage; -1 if it is none that can be read.
  void ReadPersistent(ObjectId id) {
    graph_[id].integer = -1;
    const Object& tuple = graph_[graph_[id].items[0]];
    if (tuple.kind != Kind::kTuple || tuple.items.size() < 2) return;
    const Object& what = graph_[tuple.items[0]];
    if (what.kind != Kind::kText) return;
    const Object& named = graph_[tuple.items[1]];
    if (what.text == "module" && named.kind == Kind::kGlobal) {
      std::string name = named.text;
      graph_[id] = {.kind = Kind::kGlobal, .text = std::move(name)};
    } else if (what.text == "storage") {
      ReadStorage(id, tuple.items);
    }
  }

  // Sets the node's number to that of the storage, if it can be read.
  void ReadStorage(ObjectId id, const Items& items) {
    if (items.size() < 5) return;
    const Object& type = graph_[items[1]];
    const Object& key = graph_[items[2]];
    const std::optional<int64_t> numel = Int(items[4]);
    if (type.kind != Kind::kGlobal || key.kind != Kind::kText || !numel || *numel < 0) return;
    const std::string_view name = LastPart(type.text);
    const std::optional<DType> dtype =
        name == "UntypedStorage" ? DType::kU8 : DTypeByTorchStorageName(name);
    if (!dtype) return;
    const uint64_t width = static_cast<uint64_t>(BitsOf(*dtype)) / 8;
    TorchStorage storage = {.key = key.text, .dtype = *dtype};
    if (__builtin_mul_overflow(static_cast<uint64_t>(*numel), width, &storage.bytes)) return;
    storage.span = storage.bytes;
    if (items.size() > 5 && !ReadView(items[5], width, storage)) return;
    graph_[id].integer = static_cast<int64_t>(out_.storages.size());
    out_.storages.push_back(std::move(storage));
  }

  // None, or (view key, offset, numel): a storage that is a part of another.
  bool ReadView(ObjectId id, uint64_t width, TorchStorage& storage) const {
    const Object& view = graph_[id];
    if (view.kind == Kind::kNone) return true;
    if (view.kind != Kind::kTuple || view.items.size() != 3) return false;
    const std::optional<int64_t> offset = Int(view.items[1]);
    const std::optional<int64_t> numel = Int(view.items[2]);
    if (!offset || !numel || *offset < 0 || *numel < 0) return false;
    if (__builtin_mul_overflow(static_cast<uint64_t>(*offset), width, &storage.begin)) return false;
    if (__builtin_mul_overflow(static_cast<uint64_t>(*numel), width, &storage.span)) return false;
    return storage.begin <= storage.bytes && storage.span <= storage.bytes - storage.begin;
  }

  // --- Calls.

  void ReadCall(ObjectId id) {
    const Object& callee = graph_[graph_[id].items[0]];
    if (callee.kind != Kind::kGlobal) return;
    const Form form = FormOf(callee.text);
    switch (form) {
      case Form::kUnknown:
        return AddCallable(callee.text, graph_[id].is_new);
      case Form::kInstance: {
        const Items& arguments = Arguments(id);
        if (arguments.empty() || graph_[arguments[0]].kind != Kind::kGlobal) return;
        return AddCallable(graph_[arguments[0]].text, true);
      }
      case Form::kData:
        return;
      case Form::kGetAttr:
        return ReadGetAttr(id);
      case Form::kOrderedDict:
        return ReadOrderedDict(id);
      case Form::kWrapped:
        return ReadWrapped(id);
      case Form::kFromType:
        return ReadFromType(id);
      default:
        return Rebuild(id, callee.text, form, Arguments(id));
    }
  }

  void AddCallable(const std::string& name, bool is_instance) {
    const bool is_torch = name.starts_with("torch.") || name.starts_with("__torch__.");
    const bool is_modelled = is_instance && (is_torch || FormOf(name) != Form::kUnknown);
    if (!is_modelled) callables_.insert(name);
  }

  // A nested class, or a method of a class, gets its full name.
  void ReadGetAttr(ObjectId id) {
    const Items& arguments = Arguments(id);
    const bool is_name = arguments.size() == 2 && graph_[arguments[0]].kind == Kind::kGlobal &&
                         graph_[arguments[1]].kind == Kind::kText;
    const std::string& getattr = graph_[graph_[id].items[0]].text;
    // Names may not grow without end: getattr(getattr(...)).
    if (!is_name || graph_[arguments[0]].text.size() > 1024) {
      callables_.insert(getattr);
      return;
    }
    std::string name = graph_[arguments[0]].text + "." + graph_[arguments[1]].text;
    graph_[id] = {.kind = Kind::kGlobal, .text = std::move(name)};
  }

  // Python 2 wrote OrderedDict([[key, value], ...]).
  void ReadOrderedDict(ObjectId id) {
    const Items& arguments = Arguments(id);
    if (arguments.size() != 1 || graph_[id].items.size() != 2) return;
    const ObjectId pairs = arguments[0];
    const auto [at, is_new] = dicts_.emplace(pairs, kNoObject);
    if (is_new) {
      Object dict{.kind = Kind::kDict};
      for (const ObjectId pair : graph_[pairs].items) {
        const Items& two = graph_[pair].items;
        if (two.size() != 2) return;
        dict.items.insert(dict.items.end(), two.begin(), two.end());
      }
      at->second = graph_.Add(std::move(dict));
    }
    if (at->second != kNoObject) graph_[id].items.push_back(at->second);
  }

  void ReadWrapped(ObjectId id) {
    const Items& arguments = Arguments(id);
    if (!arguments.empty()) Wrap(id, arguments[0]);
  }

  // The node is the same tensor as `data`.
  void Wrap(ObjectId id, ObjectId data) {
    if (graph_[data].kind == Kind::kTensor) {
      out_.others.erase(id);
      SetTensor(id, graph_[data].integer);
    } else if (const auto it = out_.others.find(data); it != out_.others.end()) {
      out_.others[id] = std::string(it->second);
    }
  }

  // Of the two forms (function, type, arguments, state) only the function and its arguments say
  // what the numbers are.
  void ReadFromType(ObjectId id) {
    const Items& arguments = Arguments(id);
    const bool is_call = arguments.size() >= 3 && graph_[arguments[0]].kind == Kind::kGlobal &&
                         graph_[arguments[2]].kind == Kind::kTuple;
    if (!is_call) {
      out_.others[id] = "a tensor in an unknown form";
      return;
    }
    const std::string& function = graph_[arguments[0]].text;
    const Form form = FormOf(function);
    const Items& inner = graph_[arguments[2]].items;
    if (form == Form::kWrapped && !inner.empty() && graph_[inner[0]].kind == Kind::kTensor) {
      return SetTensor(id, graph_[inner[0]].integer);
    }
    Rebuild(id, function, form, inner);
  }

  void Rebuild(ObjectId id, const std::string& function, Form form, const Items& arguments) {
    switch (form) {
      case Form::kTensor:
        return ReadTensor(id, arguments, std::nullopt, 6);
      case Form::kTensorV3: {
        const std::optional<DType> dtype =
            arguments.size() > 6 ? ReadDType(arguments[6]) : std::nullopt;
        if (dtype) return ReadTensor(id, arguments, dtype, 7);
        return AddFault(id, "has a dtype that is not known here");
      }
      case Form::kMeta:
        return ReadMeta(id, arguments);
      case Form::kClass:
        out_.others[id] = "a tensor in an unknown form";
        instances_.push_back(id);
        return;
      case Form::kSparse:
        out_.others[id] = Sparse(arguments);
        return;
      default:
        out_.others[id] = Describe(function, arguments);
    }
  }

  std::string Sparse(const Items& arguments) const {
    if (arguments.empty()) return "a sparse tensor";
    const Object& layout = graph_[arguments[0]];
    if (layout.kind != Kind::kCall || Arguments(arguments[0]).empty()) return "a sparse tensor";
    const Object& name = graph_[Arguments(arguments[0])[0]];
    if (name.kind != Kind::kText) return "a sparse tensor";
    return "a sparse tensor, " + name.text;
  }

  std::string Describe(const std::string& function, const Items& arguments) const {
    const std::string_view name = LastPart(function);
    if (name == "_rebuild_qtensor") return "a quantised tensor";
    if (name == "_rebuild_nested_tensor") return "a nested tensor";
    if (name == "_rebuild_sparse_csr_tensor") return "a sparse tensor, torch.sparse_csr";
    if (name == "_rebuild_wrapper_subclass" && !arguments.empty()) {
      const Object& type = graph_[arguments[0]];
      const std::string_view class_name = LastPart(type.text);
      if (class_name == "DTensor" || class_name == "ShardedTensor") {
        return "a piece of a distributed tensor, " + std::string(class_name);
      }
      if (type.kind == Kind::kGlobal) return "a tensor of class " + type.text;
    }
    return "a tensor rebuilt by " + function;
  }

  void SetTensor(ObjectId id, int64_t tensor) {
    graph_[id] = {.kind = Kind::kTensor, .integer = tensor};
  }
  void AddTensor(ObjectId id, TorchTensor tensor) {
    SetTensor(id, static_cast<int64_t>(out_.tensors.size()));
    out_.tensors.push_back(std::move(tensor));
  }
  void AddFault(ObjectId id, std::string fault) { AddTensor(id, {.fault = std::move(fault)}); }

  // --- Instances of tensor classes: torch/_tensor.py, Tensor.__setstate__.

  // The items of the node's state, if that is a tuple of so many; nullptr otherwise.
  const Items* StateItems(ObjectId id, size_t count) const {
    const ObjectId state = graph_[id].state;
    if (state == kNoObject || graph_[state].kind != Kind::kTuple) return nullptr;
    return graph_[state].items.size() == count ? &graph_[state].items : nullptr;
  }

  // A tensor: (storage, offset, size, stride).
  void ReadTensorState(ObjectId id) {
    const Items* state = StateItems(id, 4);
    if (state == nullptr) return;
    out_.others.erase(id);
    ReadTensor(id, *state, std::nullopt, state->size());
  }

  // A variable or parameter made of a tensor, or with the state (data, grad, hooks, requires_grad,
  // volatile).
  void ReadVariable(ObjectId id) {
    if (graph_[id].kind == Kind::kTensor) return;
    const Items& arguments = Arguments(id);
    const Items* state = StateItems(id, 5);
    if (!arguments.empty()) {
      Wrap(id, arguments[0]);
    } else if (state != nullptr) {
      Wrap(id, (*state)[0]);
    }
  }

  void ReadMeta(ObjectId id, const Items& arguments) {
    TorchTensor tensor;
    tensor.no_bytes = true;
    const std::optional<DType> dtype = arguments.empty() ? std::nullopt : ReadDType(arguments[0]);
    if (!dtype) return AddFault(id, "has a dtype that is not known here");
    tensor.dtype = *dtype;
    if (!ReadGeometry(arguments, 1, tensor)) return AddFault(id, kBadCall);
    AddTensor(id, std::move(tensor));
  }

  // Size and stride from `arguments[at]` on. False if they are not lists of integers.
  bool ReadGeometry(const Items& arguments, size_t at, TorchTensor& tensor) const {
    if (arguments.size() < at + 2) return false;
    std::optional<Dims> shape = ReadDims(arguments[at]);
    std::optional<Dims> strides = ReadDims(arguments[at + 1]);
    if (!shape || !strides || shape->size() != strides->size()) return false;
    tensor.shape = std::move(*shape);
    tensor.strides = std::move(*strides);
    if (!NumElements(tensor.shape)) {
      tensor.fault = "has sizes " + ToString(tensor.shape) + ", negative or past 2^63 elements";
      return true;
    }
    if (std::any_of(tensor.strides.begin(), tensor.strides.end(),
                    [](int64_t s) { return s < 0; })) {
      tensor.fault = "has negative strides " + ToString(tensor.strides);
      return true;
    }
    if (tensor.dtype == DType::kF4) UnpackPairs(tensor);
    return true;
  }

  // torch counts pairs of f4 in float4_e2m1fn_x2; rekey counts elements.
  static void UnpackPairs(TorchTensor& tensor) {
    if (tensor.shape.empty() || tensor.strides.back() != 1) {
      tensor.fault = "is f4 whose pairs do not lie side by side";
      return;
    }
    for (size_t i = 0; i + 1 < tensor.strides.size(); ++i) {
      if (__builtin_mul_overflow(tensor.strides[i], 2, &tensor.strides[i])) tensor.fault = kTooFar;
    }
    if (__builtin_mul_overflow(tensor.shape.back(), 2, &tensor.shape.back())) {
      tensor.fault = kTooFar;
    }
  }

  void ReadTensor(ObjectId id, const Items& arguments, std::optional<DType> dtype, size_t meta) {
    if (arguments.size() < 4 || graph_[arguments[0]].kind != Kind::kPersistent ||
        graph_[arguments[0]].integer < 0) {
      return AddFault(id, "lies in a storage of a kind that is not known here");
    }
    TorchTensor tensor;
    tensor.storage = static_cast<uint32_t>(graph_[arguments[0]].integer);
    const TorchStorage& storage = out_.storages[tensor.storage];
    tensor.dtype = dtype.value_or(storage.dtype);
    const std::optional<int64_t> offset = Int(arguments[1]);
    if (!offset || !ReadGeometry(arguments, 2, tensor)) return AddFault(id, kBadCall);
    if (arguments.size() > meta) ReadFlags(arguments[meta], tensor);
    if (tensor.fault.empty()) Place(*offset, storage, tensor);
    AddTensor(id, std::move(tensor));
  }

  // {"conj": True, "neg": True}. A larger dict is nothing that torch writes, and one that many
  // tensors share would be searched for each.
  void ReadFlags(ObjectId id, TorchTensor& tensor) const {
    const ObjectId entries = graph_.Entries(id);
    if (entries == kNoObject || graph_[entries].items.size() > 16) return;
    const auto is_set = [&](std::string_view name) {
      const ObjectId flag = graph_.Child(entries, name);
      return flag != kNoObject && graph_[flag].kind == Kind::kBool && graph_[flag].integer != 0;
    };
    tensor.conj = is_set("conj");
    tensor.neg = is_set("neg");
  }

  // Proves that all elements lie inside the storage.
  void Place(int64_t offset, const TorchStorage& storage, TorchTensor& tensor) const {
    if (std::count(tensor.shape.begin(), tensor.shape.end(), 0) > 0) return;
    int64_t elements = 1;
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
      int64_t reach = 0;
      if (__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &reach) ||
          __builtin_add_overflow(elements, reach, &elements)) {
        tensor.fault = kTooFar;
        return;
      }
    }
    // f4 is counted in bytes here: torch's offset is, and its pairs fill whole bytes.
    const bool is_f4 = tensor.dtype == DType::kF4;
    const int64_t width = is_f4 ? 1 : BitsOf(tensor.dtype) / 8;
    if (is_f4) elements = elements / 2 + elements % 2;
    int64_t start = 0;
    int64_t bytes = 0;
    int64_t end = 0;
    if (offset < 0 || __builtin_mul_overflow(offset, width, &start) ||
        __builtin_mul_overflow(elements, width, &bytes) ||
        __builtin_add_overflow(start, bytes, &end) || static_cast<uint64_t>(end) > storage.span) {
      tensor.fault = "does not fit its storage `" + storage.key + "` of " +
                     std::to_string(storage.span) + " bytes: element " + std::to_string(offset) +
                     ", sizes " + ToString(tensor.shape) + ", strides " + ToString(tensor.strides) +
                     " of " + std::string(Name(tensor.dtype));
      return;
    }
    tensor.start = storage.begin + static_cast<uint64_t>(start);
  }

  static constexpr const char* kBadCall = "is not rebuilt from a storage, sizes and strides";
  static constexpr const char* kTooFar = "has sizes and strides that reach past 2^63";

  ObjectGraph& graph_;
  TorchTensors out_;
  std::unordered_set<std::string> callables_;
  std::unordered_map<ObjectId, ObjectId> dicts_;  // of lists of pairs
  std::vector<ObjectId> instances_;               // of tensor classes, to be read at the end
};

}  // namespace

TorchTensors FindTorchTensors(ObjectGraph& graph) { return Finder(graph).Run(); }

}  // namespace rekey
