#include "engine/formats/safetensors_header.h"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "engine/json.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

using rapidjson::SizeType;

// Fields that the format does not know are skipped, as other readers do, but not to any depth.
constexpr int kMaxSkippedDepth = 64;

class HeaderParser : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, HeaderParser> {
 public:
  explicit HeaderParser(Catalog& catalog) : catalog_(catalog) {}

  bool Null();
  bool Bool(bool) { return Other(); }
  bool Int(int value) { return Number(value, value < 0); }
  bool Uint(unsigned value) { return Number(value, false); }
  bool Int64(int64_t value) { return Number(value, value < 0); }
  bool Uint64(uint64_t value);
  bool Double(double) { return Other(); }
  bool String(const char* text, SizeType size, bool);
  bool Key(const char* text, SizeType size, bool);
  bool StartObject();
  bool EndObject(SizeType);
  bool StartArray();
  bool EndArray(SizeType);

  bool HasProblem() const { return problem_.has_value(); }
  Diagnostic& problem() { return *problem_; }

 private:
  enum class State {
    kRoot,         // before the outer {
    kKey,          // a key, or the end
    kTensor,       // the { of a tensor
    kField,        // "dtype", "shape", "data_offsets", or the end of a tensor
    kDType,        // a text
    kShape,        // [
    kShapeItem,    // a size, or ]
    kOffsets,      // [
    kOffsetItem,   // a number, or ]
    kMetadata,     // the { of __metadata__, or null
    kMetadataKey,  // a key, or the end of __metadata__
    kMetadataValue,
    kSkip,  // inside the value of an unknown field
    kDone,
  };

  bool Fail(std::string name, const std::string& fact);
  bool Other();
  bool Number(int64_t value, bool negative);
  bool SkipScalar();
  bool StartField(std::string_view field);
  bool FinishTensor();

  Catalog& catalog_;
  State state_ = State::kRoot;
  bool seen_metadata_ = false;
  bool has_dtype_ = false, has_shape_ = false, has_offsets_ = false;
  int skipped_depth_ = 0;
  Entry entry_;
  std::vector<int64_t> offsets_;
  std::string metadata_key_;
  std::optional<Diagnostic> problem_;
};

std::string Where(std::string_view key) { return "tensor `" + std::string(key) + "`: "; }

bool HeaderParser::Fail(std::string name, const std::string& fact) {
  problem_ = Error(std::move(name), fact);
  return false;
}

// A value where the format wants another.
bool HeaderParser::Other() {
  switch (state_) {
    case State::kSkip:
      return SkipScalar();
    case State::kRoot:
      return Fail("bad-header", "the header is not a JSON object");
    case State::kTensor:
      return Fail("bad-header", Where(entry_.key) + "its entry is not a JSON object");
    case State::kDType:
      return Fail("bad-header", Where(entry_.key) + "`dtype` is not a text");
    case State::kShape:
    case State::kShapeItem:
      return Fail("bad-header", Where(entry_.key) + "`shape` is not a list of whole numbers");
    case State::kOffsets:
    case State::kOffsetItem:
      return Fail("bad-header",
                  Where(entry_.key) + "`data_offsets` is not a pair of whole numbers");
    case State::kMetadata:
      return Fail("bad-header", "`__metadata__` is not a JSON object");
    case State::kMetadataValue:
      return Fail("bad-header", "`__metadata__`: the value of `" + metadata_key_ +
                                    "` is not a text, and the format allows nothing else there");
    default:
      return Fail("bad-header", "a value stands where none may");
  }
}

bool HeaderParser::Null() {
  if (state_ != State::kMetadata) return Other();
  state_ = State::kKey;
  return true;
}

bool HeaderParser::Number(int64_t value, bool negative) {
  if (state_ == State::kSkip) return SkipScalar();
  if (negative) return Other();
  if (state_ == State::kShapeItem) {
    if (entry_.shape.size() == kMaxRank) {
      return Fail("bad-header", Where(entry_.key) + "its shape has more than " +
                                    std::to_string(kMaxRank) + " dimensions");
    }
    entry_.shape.push_back(value);
    return true;
  }
  if (state_ == State::kOffsetItem && offsets_.size() < 2) {
    offsets_.push_back(value);
    return true;
  }
  return Other();
}

bool HeaderParser::Uint64(uint64_t value) {
  if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return Number(static_cast<int64_t>(value), false);
  }
  if (state_ == State::kShapeItem) {
    return Fail("shape-overflow", Where(entry_.key) + "the size " + std::to_string(value) +
                                      " of its shape passes 2^63 - 1");
  }
  if (state_ == State::kOffsetItem) {
    return Fail("bad-header",
                Where(entry_.key) + "the offset " + std::to_string(value) + " passes 2^63 - 1");
  }
  return Other();
}

bool HeaderParser::String(const char* text, SizeType size, bool) {
  const std::string_view value(text, size);
  if (state_ == State::kDType) {
    const std::optional<DType> dtype = DTypeBySafetensorsName(value);
    if (!dtype) {
      std::vector<std::string_view> names;
      for (std::string_view name : DTypeNames()) {
        const std::string_view known = SafetensorsName(*DTypeByName(name));
        if (!known.empty()) names.push_back(known);
      }
      Fail("unknown-dtype",
           Where(entry_.key) + "the dtype \"" + std::string(value) + "\" is not one of the format");
      for (std::string_view near : Nearest(value, names)) {
        problem_->Note("the nearest that is: \"" + std::string(near) + "\"");
      }
      return false;
    }
    entry_.dtype = *dtype;
    state_ = State::kField;
    return true;
  }
  if (state_ == State::kMetadataValue) {
    if (!IsUtf8(value)) {
      return Fail("bad-header",
                  "`__metadata__`: the value of `" + metadata_key_ + "` is not UTF-8");
    }
    catalog_.metadata.emplace_back(std::move(metadata_key_), value);
    state_ = State::kMetadataKey;
    return true;
  }
  return Other();
}

bool HeaderParser::Key(const char* text, SizeType size, bool) {
  const std::string_view key(text, size);
  if (state_ == State::kSkip) return true;
  if (state_ == State::kField) return StartField(key);
  if (!IsUtf8(key)) {
    return Fail("bad-header", "the key `" + EscapeBytes(key) + "` is not UTF-8");
  }
  if (state_ == State::kMetadataKey) {
    metadata_key_ = key;
    state_ = State::kMetadataValue;
    return true;
  }
  if (key == "__metadata__") {
    if (seen_metadata_) return Fail("duplicate-key", "`__metadata__` stands twice in the header");
    seen_metadata_ = true;
    state_ = State::kMetadata;
    return true;
  }
  entry_.key = catalog_.text->Add(key);
  entry_.shape.clear();
  offsets_.clear();
  has_dtype_ = has_shape_ = has_offsets_ = false;
  state_ = State::kTensor;
  return true;
}

bool HeaderParser::StartField(std::string_view field) {
  bool unknown = false;
  bool* seen = field == "dtype"          ? &has_dtype_
               : field == "shape"        ? &has_shape_
               : field == "data_offsets" ? &has_offsets_
                                         : &unknown;
  if (*seen) {
    return Fail("bad-header", Where(entry_.key) + "`" + std::string(field) + "` stands twice");
  }
  if (seen == &unknown) {
    state_ = State::kSkip;
    skipped_depth_ = 0;
    return true;
  }
  *seen = true;
  state_ = seen == &has_dtype_   ? State::kDType
           : seen == &has_shape_ ? State::kShape
                                 : State::kOffsets;
  return true;
}

bool HeaderParser::SkipScalar() {
  if (skipped_depth_ == 0) state_ = State::kField;
  return true;
}

bool HeaderParser::StartObject() {
  switch (state_) {
    case State::kRoot:
      state_ = State::kKey;
      return true;
    case State::kTensor:
      state_ = State::kField;
      return true;
    case State::kMetadata:
      state_ = State::kMetadataKey;
      return true;
    case State::kSkip:
      if (++skipped_depth_ > kMaxSkippedDepth) {
        return Fail("bad-header", Where(entry_.key) + "its entry is nested too deeply");
      }
      return true;
    default:
      return Other();
  }
}

bool HeaderParser::EndObject(SizeType) {
  switch (state_) {
    case State::kKey:
      state_ = State::kDone;
      return true;
    case State::kField:
      return FinishTensor();
    case State::kMetadataKey:
      state_ = State::kKey;
      return true;
    default:  // kSkip: RapidJSON pairs the braces
      if (--skipped_depth_ == 0) state_ = State::kField;
      return true;
  }
}

bool HeaderParser::StartArray() {
  switch (state_) {
    case State::kShape:
      state_ = State::kShapeItem;
      return true;
    case State::kOffsets:
      state_ = State::kOffsetItem;
      return true;
    case State::kSkip:
      return StartObject();
    default:
      return Other();
  }
}

bool HeaderParser::EndArray(SizeType) {
  if (state_ == State::kSkip) return EndObject(0);
  if (state_ == State::kOffsetItem && offsets_.size() != 2) return Other();
  state_ = State::kField;
  return true;
}

bool HeaderParser::FinishTensor() {
  for (const auto& [seen, field] : {std::pair(has_dtype_, "dtype"), std::pair(has_shape_, "shape"),
                                    std::pair(has_offsets_, "data_offsets")}) {
    if (!seen) return Fail("bad-header", Where(entry_.key) + "`" + field + "` is missing");
  }
  if (offsets_[1] < offsets_[0]) {
    return Fail("bad-header", Where(entry_.key) + "it ends at byte " + std::to_string(offsets_[1]) +
                                  ", before it begins at " + std::to_string(offsets_[0]));
  }
  Storage storage;
  storage.offset = static_cast<uint64_t>(offsets_[0]);
  storage.bytes = storage.stored_bytes = static_cast<uint64_t>(offsets_[1] - offsets_[0]);
  entry_.storage = static_cast<uint32_t>(catalog_.storages.size());
  catalog_.storages.push_back(storage);
  catalog_.entries.push_back(entry_);
  state_ = State::kKey;
  return true;
}

}  // namespace

Status ParseSafetensorsHeader(std::string& json, std::string_view path, Catalog& catalog) {
  constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag;
  rapidjson::InsituStringStream stream(json.data());
  HeaderParser parser(catalog);
  rapidjson::Reader reader;
  const rapidjson::ParseResult parsed = reader.Parse<kFlags>(stream, parser);
  const std::string file = "the header of `" + std::string(path) + "`: ";
  if (parser.HasProblem()) {
    parser.problem().message = file + parser.problem().message;
    return std::move(parser.problem()).Help(kDamaged);
  }
  // RapidJSON takes a NUL for the end of the text.
  const size_t end = parsed.IsError() ? parsed.Offset() : stream.Tell();
  if (!parsed.IsError() && end == json.size()) return {};
  const std::string fact =
      parsed.IsError() ? rapidjson::GetParseError_En(parsed.Code()) : "There is a NUL byte.";
  return Error("bad-header", file + "it is not JSON, at byte " + std::to_string(8 + end))
      .Note("the JSON parser says: " + fact)
      .Help(kDamaged);
}

}  // namespace rekey
