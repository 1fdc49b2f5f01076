#include "engine/formats/safetensors_writer.h"

#include <rapidjson/writer.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/formats/safetensors_reader.h"
#include "engine/json.h"

namespace rekey {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kAlignment = 8;  // the largest element's size
constexpr uint64_t kPage = 4096;

// RapidJSON's output stream over a text, so that a large header is held once.
struct TextSink {
  using Ch = char;
  std::string* text;
  void Put(char c) { text->push_back(c); }
  void Flush() {}
};

using JsonWriter = rapidjson::Writer<TextSink>;

uint64_t ElementBytes(const OutputTensor& tensor) {
  return std::max<uint64_t>(1, static_cast<uint64_t>(BitsOf(tensor.dtype)) / 8);
}

std::string Tensor(const OutputTensor& tensor) {
  return "tensor `" + std::string(tensor.key) + "`";
}

// The tensor whose bytes are written for this one.
uint32_t KeptFor(const OutputDescription& description, uint32_t i) {
  while (description.tensors[i].same_as != i) i = description.tensors[i].same_as;
  return i;
}

Status CheckTensor(const OutputTensor& tensor) {
  if (tensor.key == "__metadata__") {
    return Error("reserved-key", Tensor(tensor) + ": safetensors uses this key for its metadata")
        .Help("rename it, or write a .pt file");
  }
  if (!SafetensorsName(tensor.dtype).empty()) return {};
  Diagnostic error =
      Error("dtype-not-in-format", Tensor(tensor) + " is " + std::string(Name(tensor.dtype)) +
                                       ", which safetensors cannot hold");
  if (KindOf(tensor.dtype) == DTypeKind::kComplex) {
    return error.Help("convert it with `| cast(c64)`, or write a .pt file");
  }
  return error.Help("convert it with `| cast(...)`, drop it, or write a .pt file");
}

// The tensors that are written, in the order of their bytes.
std::vector<uint32_t> DataOrder(const OutputDescription& description) {
  const std::vector<OutputTensor>& tensors = description.tensors;
  std::vector<uint32_t> order;
  uint64_t at = 0;
  bool aligned = true;
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].same_as != i) continue;
    order.push_back(i);
    aligned = aligned && at % ElementBytes(tensors[i]) == 0;
    at += tensors[i].bytes;
  }
  if (!aligned) {
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return ElementBytes(tensors[a]) > ElementBytes(tensors[b]);
    });
  }
  return order;
}

// Sorted. What torch.distributed.checkpoint says of pieces in a source is not true of this file.
Result<std::map<std::string, std::string>> Metadata(const OutputDescription& description) {
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : description.metadata) {
    if (key != "DCP_SHARDING_INFO" && key != "DCP_VERSION") metadata[key] = value;
  }
  metadata.try_emplace("format", "pt");
  for (uint32_t i = 0; i < description.tensors.size(); ++i) {
    const OutputTensor& tensor = description.tensors[i];
    if (tensor.same_as == i) continue;
    if (tensor.key == "format") {
      return Error("reserved-key", Tensor(tensor) +
                                       " shares its bytes with another, and the metadata, where "
                                       "safetensors notes that, has an entry `format` already")
          .Help("rename it, or write both copies: --ties copy");
    }
    metadata[std::string(tensor.key)] = description.tensors[KeptFor(description, i)].key;
  }
  return metadata;
}

void Put(JsonWriter& json, std::string_view text) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void PutTensor(JsonWriter& json, const OutputTensor& tensor, uint64_t begin) {
  json.StartObject();
  Put(json, "dtype");
  Put(json, SafetensorsName(tensor.dtype));
  Put(json, "shape");
  json.StartArray();
  for (int64_t size : tensor.shape) json.Int64(size);
  json.EndArray();
  Put(json, "data_offsets");
  json.StartArray();
  json.Uint64(begin);
  json.Uint64(begin + tensor.bytes);
  json.EndArray();
  json.EndObject();
}

Diagnostic NotUtf8(const std::string& thing) {
  return Error("not-utf8", thing + " is not UTF-8, and safetensors allows nothing else")
      .Help("rename it, or write a .pt file");
}

// The header's JSON. `begins` counts from the start of the data.
Result<std::string> HeaderText(const OutputDescription& description,
                               const std::vector<uint32_t>& order,
                               const std::vector<uint64_t>& begins) {
  Result<std::map<std::string, std::string>> metadata = Metadata(description);
  if (!metadata.ok()) return std::move(metadata).error();
  std::string text;
  TextSink sink{&text};
  JsonWriter json(sink);
  json.StartObject();
  Put(json, "__metadata__");
  json.StartObject();
  for (const auto& [key, value] : *metadata) {
    if (!IsUtf8(key) || !IsUtf8(value)) {
      return NotUtf8("the metadata entry `" + EscapeBytes(key) + "`");
    }
    Put(json, key);
    Put(json, value);
  }
  json.EndObject();
  for (uint32_t i : order) {
    const OutputTensor& tensor = description.tensors[i];
    if (!IsUtf8(tensor.key)) return NotUtf8("the key `" + EscapeBytes(tensor.key) + "`");
    Put(json, tensor.key);
    PutTensor(json, tensor, begins[i]);
  }
  json.EndObject();
  return text;
}

// Where the data begins: after `header_end`, at a multiple of 8, and at that place of a page which
// lets most of the bytes that are copied lie as they do in the source.
uint64_t DataStart(const OutputDescription& description, const std::vector<uint32_t>& order,
                   const std::vector<uint64_t>& begins, uint64_t header_end) {
  std::array<uint64_t, kPage / kAlignment> bytes_for{};  // by the place of a page, in eights
  for (uint32_t i : order) {
    const OutputTensor& tensor = description.tensors[i];
    if (!tensor.source_phase) continue;
    const uint64_t phase = (*tensor.source_phase + kPage - begins[i] % kPage) % kPage;
    if (phase % kAlignment == 0) bytes_for[phase / kAlignment] += tensor.bytes;
  }
  const auto most = std::max_element(bytes_for.begin(), bytes_for.end());
  if (*most < kPage) return (header_end + kAlignment - 1) / kAlignment * kAlignment;
  const uint64_t phase = static_cast<uint64_t>(most - bytes_for.begin()) * kAlignment;
  return header_end + (phase + kPage - header_end % kPage) % kPage;
}

std::string Length(uint64_t value) {
  std::string bytes;
  for (size_t i = 0; i < kLengthBytes; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

}  // namespace

Result<FileLayout> LayOutSafetensors(const OutputDescription& description) {
  const std::vector<OutputTensor>& tensors = description.tensors;
  for (const OutputTensor& tensor : tensors) {
    Status fits = CheckTensor(tensor);
    if (!fits.ok()) return std::move(fits).error();
  }
  const std::vector<uint32_t> order = DataOrder(description);
  std::vector<uint64_t> begins(tensors.size());
  uint64_t data_bytes = 0;
  for (uint32_t i : order) {
    begins[i] = data_bytes;
    data_bytes += tensors[i].bytes;
  }
  Result<std::string> text = HeaderText(description, order, begins);
  if (!text.ok()) return std::move(text).error();
  const uint64_t start = DataStart(description, order, begins, kLengthBytes + text->size());
  if (start - kLengthBytes > kMaxSafetensorsHeader) {
    return Error("header-too-large", "the header of " + std::to_string(order.size()) +
                                         " tensors takes " + std::to_string(start - kLengthBytes) +
                                         " bytes, safetensors allows " +
                                         std::to_string(kMaxSafetensorsHeader))
        .Help("write several files: --max-shard-size");
  }
  text->resize(start - kLengthBytes, ' ');
  FileLayout layout;
  layout.size = start + data_bytes;
  text->insert(0, Length(text->size()));
  layout.literals.push_back({0, std::move(*text)});
  layout.offsets.resize(tensors.size());
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    layout.offsets[i] = start + begins[KeptFor(description, i)];
  }
  return layout;
}

}  // namespace rekey
