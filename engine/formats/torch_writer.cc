#include "engine/formats/torch_writer.h"

#include <string>
#include <utility>
#include <vector>

#include "engine/formats/pickle_writer.h"
#include "engine/formats/zip_writer.h"
#include "engine/json.h"

namespace rekey {
namespace {

// Python's own pickler sets so many items of a dict at a time.
constexpr size_t kBatch = 1000;
// Bounds of one module's metadata, which is a small dict in every honest file.
constexpr int kMaxDepth = 32;
constexpr size_t kMaxMetadataBytes = 1 << 20;

std::string Tensor(const OutputTensor& tensor) {
  return "tensor `" + std::string(tensor.key) + "`";
}

Status CheckTensor(const OutputTensor& tensor) {
  const std::string type(Name(tensor.dtype));
  if (!IsUtf8(tensor.key)) {
    return Error("not-utf8", "the key `" + EscapeBytes(tensor.key) +
                                 "` is not UTF-8, and a pickle's texts are nothing else")
        .Help("rename it");
  }
  if (KindOf(tensor.dtype) == DTypeKind::kQuantized) {
    return Error("dtype-not-in-format",
                 Tensor(tensor) + " is " + type +
                     ", whose scale and zero point a state_dict of plain tensors cannot hold")
        .Help("drop it, or dequantise it in torch before");
  }
  if (TorchName(tensor.dtype).empty()) {
    return Error("dtype-not-in-format",
                 Tensor(tensor) + " is " + type + ", which torch does not have")
        .Help("write a .safetensors file, or drop it");
  }
  if (tensor.dtype == DType::kF4 && (tensor.shape.empty() || tensor.shape.back() % 2 != 0)) {
    return Error("dtype-not-in-format", Tensor(tensor) + " is f4" + ToString(tensor.shape) +
                                            ": torch holds f4 in pairs along the last size, "
                                            "which must be even")
        .Help("write a .safetensors file");
  }
  return {};
}

// The state_dict's pickle. One object is used for one pickle.
class StateDict {
 public:
  explicit StateDict(const OutputDescription& description);

  Result<std::string> Pickle();

  // For each tensor the number of its record, `data/N`.
  const std::vector<uint32_t>& records() const { return records_; }

 private:
  void PutOrderedDict();
  void PutTensor(uint32_t i);
  // False: the value holds what is no plain data, or too much of it.
  bool PutValue(ObjectId id, int depth);
  bool PutDict(ObjectId id, int depth);
  bool PutItems(ObjectId id, int depth);
  Status PutModuleMetadata();

  const OutputDescription& description_;
  std::vector<uint32_t> kept_;     // for each tensor the one whose bytes are written
  std::vector<uint32_t> records_;  // by tensor
  std::vector<bool> untyped_;      // by kept tensor: its storage is an UntypedStorage
  PickleWriter out_;
  size_t metadata_limit_ = 0;  // where the pickle may end for the module at hand
};

StateDict::StateDict(const OutputDescription& description) : description_(description) {
  const std::vector<OutputTensor>& tensors = description.tensors;
  kept_.resize(tensors.size());
  records_.resize(tensors.size());
  untyped_.resize(tensors.size());
  uint32_t records = 0;
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    const bool own = tensors[i].same_as == i;
    kept_[i] = own ? i : kept_[tensors[i].same_as];
    records_[i] = own ? records++ : records_[kept_[i]];
    // A typed storage has one type only: others that share it make it untyped.
    if (TorchStorageName(tensors[i].dtype).empty() || tensors[i].dtype != tensors[kept_[i]].dtype) {
      untyped_[kept_[i]] = true;
    }
  }
}

Result<std::string> StateDict::Pickle() {
  const size_t count = description_.tensors.size();
  PutOrderedDict();
  for (size_t i = 0; i < count; i += kBatch) {
    out_.Mark();
    for (size_t k = i; k < count && k < i + kBatch; ++k) PutTensor(static_cast<uint32_t>(k));
    out_.SetItems();
  }
  if (!description_.module_metadata.empty()) {
    Status put = PutModuleMetadata();
    if (!put.ok()) return std::move(put).error();
  }
  return out_.Finish();
}

void StateDict::PutOrderedDict() {
  out_.Global("collections", "OrderedDict");
  out_.EmptyTuple();
  out_.Reduce();
}

void StateDict::PutTensor(uint32_t i) {
  const OutputTensor& tensor = description_.tensors[i];
  const bool untyped = untyped_[kept_[i]];
  Shape shape = tensor.shape;
  if (tensor.dtype == DType::kF4) shape.back() /= 2;
  const uint64_t elements = tensor.bytes * 8 / static_cast<uint64_t>(BitsOf(tensor.dtype));

  out_.Text(tensor.key);
  out_.Global("torch._utils", untyped ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
  out_.Mark();
  out_.Mark();
  out_.Word("storage");
  if (untyped) {
    out_.Global("torch.storage", "UntypedStorage");
  } else {
    out_.Global("torch", TorchStorageName(tensor.dtype));
  }
  out_.Text(std::to_string(records_[i]));
  out_.Word("cpu");
  out_.Int(static_cast<int64_t>(untyped ? tensor.bytes : elements));
  out_.Tuple();
  out_.PersistentId();
  out_.Int(0);  // offset
  out_.IntTuple(shape);
  out_.IntTuple(ContiguousStrides(shape));
  out_.Bool(false);  // requires_grad
  PutOrderedDict();  // hooks
  if (untyped) out_.Global("torch", TorchName(tensor.dtype));
  out_.Tuple();
  out_.Reduce();
}

bool StateDict::PutItems(ObjectId id, int depth) {
  for (ObjectId item : (*description_.objects)[id].items) {
    if (!PutValue(item, depth + 1)) return false;
  }
  return true;
}

bool StateDict::PutDict(ObjectId id, int depth) {
  if ((*description_.objects)[id].items.empty()) return true;
  out_.Mark();
  if (!PutItems(id, depth)) return false;
  out_.SetItems();
  return true;
}

bool StateDict::PutValue(ObjectId id, int depth) {
  if (id >= description_.objects->size() || depth > kMaxDepth || out_.size() > metadata_limit_) {
    return false;
  }
  const Object& object = (*description_.objects)[id];
  if (object.state != kNoObject) return false;
  switch (object.kind) {
    case Object::Kind::kNone:
      out_.None();
      return true;
    case Object::Kind::kBool:
      out_.Bool(object.integer != 0);
      return true;
    case Object::Kind::kInt:
      out_.Int(object.integer);
      return true;
    case Object::Kind::kFloat:
      out_.Float(object.real);
      return true;
    case Object::Kind::kText:
      if (!IsUtf8(object.text)) return false;
      out_.Word(object.text);
      return true;
    case Object::Kind::kList:
      out_.EmptyList();
      if (object.items.empty()) return true;
      out_.Mark();
      if (!PutItems(id, depth)) return false;
      out_.Appends();
      return true;
    case Object::Kind::kTuple:
      out_.Mark();
      if (!PutItems(id, depth)) return false;
      out_.Tuple();
      return true;
    case Object::Kind::kDict:
      out_.EmptyDict();
      return PutDict(id, depth);
    case Object::Kind::kCall: {
      // Of calls only that of an OrderedDict, whose entries stand in a dict of their own.
      const ObjectId entries = description_.objects->Entries(id);
      const Object& callee = (*description_.objects)[object.items.at(0)];
      if (callee.text != "collections.OrderedDict") return false;
      PutOrderedDict();
      return entries == kNoObject || PutDict(entries, depth);
    }
    default:
      return false;
  }
}

Status StateDict::PutModuleMetadata() {
  out_.EmptyDict();
  out_.Text("_metadata");
  PutOrderedDict();
  for (const ModuleMetadata& module : description_.module_metadata) {
    if (!IsUtf8(module.module)) {
      return Error("not-utf8", "the module path `" + EscapeBytes(module.module) +
                                   "` in the state_dict's _metadata is not UTF-8")
          .Help("rename it");
    }
    out_.Text(module.module);
    metadata_limit_ = out_.size() + kMaxMetadataBytes;
    if (description_.objects == nullptr || !PutValue(module.value, 0)) {
      return Error("metadata-not-plain",
                   "the state_dict's _metadata of module `" + module.module +
                       "` is more than numbers, texts, lists and dicts, and rekey makes no objects")
          .Help("write a .safetensors file, which has no such metadata");
    }
    out_.SetItem();
  }
  out_.SetItem();
  out_.Build();
  return {};
}

// The folder of all records. torch takes any; the name must be one segment of UTF-8.
std::string RootFolder(const std::string& name) {
  const bool fits = !name.empty() && name.size() <= 255 && IsUtf8(name) &&
                    name.find_first_of("/\\") == std::string::npos;
  return fits ? name : "archive";
}

}  // namespace

Result<FileLayout> LayOutTorch(const OutputDescription& description) {
  const std::vector<OutputTensor>& tensors = description.tensors;
  for (const OutputTensor& tensor : tensors) {
    Status fits = CheckTensor(tensor);
    if (!fits.ok()) return std::move(fits).error();
  }
  StateDict state_dict(description);
  Result<std::string> pickle = state_dict.Pickle();
  if (!pickle.ok()) return std::move(pickle).error();

  ZipWriter zip(RootFolder(description.archive_name));
  zip.Add("data.pkl", *pickle);
  zip.Add("byteorder", "little");
  std::vector<uint64_t> offsets(tensors.size());
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].same_as != i) {
      offsets[i] = offsets[tensors[i].same_as];
      continue;
    }
    offsets[i] = zip.AddTensor("data/" + std::to_string(state_dict.records()[i]), i, tensors[i]);
  }
  zip.Add("version", "3\n");
  FileLayout layout = zip.Finish();
  layout.offsets = std::move(offsets);
  return layout;
}

}  // namespace rekey
