#include "engine/json.h"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/file.h"

namespace rekey {
namespace {

using rapidjson::SizeType;

// Builds nodes from RapidJSON's events, one open container on the stack for each nesting level.
class TreeBuilder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, TreeBuilder> {
 public:
  explicit TreeBuilder(ObjectGraph& graph) : graph_(graph) {}

  bool Null() { return Put({}); }
  bool Bool(bool value) { return Put({.kind = Object::Kind::kBool, .integer = value}); }
  bool String(const char* text, SizeType size, bool) { return PutText({text, size}); }
  bool Key(const char* text, SizeType size, bool) { return PutText({text, size}); }
  bool StartObject() { return Open(Object::Kind::kDict); }
  bool StartArray() { return Open(Object::Kind::kList); }
  bool EndArray(SizeType) { return Close(); }
  bool EndObject(SizeType) { return KeysDiffer(open_.back()) && Close(); }

  // Every number, as it is written; also NaN, Infinity and -Infinity.
  bool RawNumber(const char* text, SizeType size, bool) { return PutNumber({text, size}); }

  ObjectId root() const { return root_; }
  const std::string& problem() const { return problem_; }

 private:
  bool Put(Object object) {
    const ObjectId id = graph_.Add(std::move(object));
    if (open_.empty()) {
      root_ = id;
    } else {
      graph_[open_.back()].items.push_back(id);
    }
    return true;
  }

  bool PutText(std::string_view text) {
    if (!IsUtf8(text)) {
      problem_ = "a text is not UTF-8";
      return false;
    }
    return Put({.kind = Object::Kind::kText, .text = std::string(text)});
  }

  bool PutNumber(std::string_view text) {
    const char* end = text.data() + text.size();
    if (text.find_first_not_of("-0123456789") == std::string_view::npos) {
      int64_t integer = 0;
      if (std::from_chars(text.data(), end, integer).ec == std::errc()) {
        return Put({.kind = Object::Kind::kInt, .integer = integer});
      }
      return Put({.kind = Object::Kind::kBigInt, .text = std::string(text)});
    }
    double real = 0;
    const bool out_of_range = std::from_chars(text.data(), end, real).ec != std::errc();
    const bool underflow = out_of_range && text.find('-', 1) != std::string_view::npos;
    if (out_of_range && !underflow) {
      problem_ = "the number " + std::string(text) + " is out of range";
      return false;
    }
    return Put({.kind = Object::Kind::kFloat, .real = underflow ? 0 : real});
  }

  bool Open(Object::Kind kind) {
    if (open_.size() == kMaxJsonDepth) {
      problem_ = "it is nested deeper than " + std::to_string(kMaxJsonDepth) + " levels";
      return false;
    }
    Put({.kind = kind});
    open_.push_back(static_cast<ObjectId>(graph_.size() - 1));
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  bool KeysDiffer(ObjectId dict) {
    std::vector<std::string_view> keys;
    for (size_t i = 0; i < graph_[dict].items.size(); i += 2) {
      keys.push_back(graph_[graph_[dict].items[i]].text);
    }
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice == keys.end()) return true;
    problem_ = "the key `" + std::string(*twice) + "` stands twice in one object";
    return false;
  }

  ObjectGraph& graph_;
  std::vector<ObjectId> open_;
  ObjectId root_ = kNoObject;
  std::string problem_;
};

size_t LineOf(std::string_view text, size_t offset) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size()));
  return 1 + static_cast<size_t>(std::count(text.begin(), end, '\n'));
}

}  // namespace

bool IsUtf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t size = text.size();
  for (size_t i = 0; i < size;) {
    uint64_t eight = 0;
    if (i + sizeof eight <= size) {
      std::memcpy(&eight, text.data() + i, sizeof eight);
      if ((eight & 0x8080808080808080) == 0) {
        i += sizeof eight;
        continue;
      }
    }
    const unsigned char first = byte(i);
    if (first < 0x80) {
      ++i;
      continue;
    }
    const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || length > size - i) return false;
    const unsigned char lowest = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned char highest = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (byte(i + 1) < lowest || byte(i + 1) > highest) return false;
    for (size_t k = 2; k < length; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    }
    i += length;
  }
  return true;
}

std::string EscapeBytes(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string escaped;
  for (unsigned char byte : text) {
    if (byte < 0x80) {
      escaped.push_back(static_cast<char>(byte));
    } else {
      escaped += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return escaped;
}

Result<ObjectId> ParseJson(std::string_view text, std::string_view name, ObjectGraph& graph) {
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag |
      rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseNanAndInfFlag;
  rapidjson::MemoryStream stream(text.data(), text.size());
  TreeBuilder builder(graph);
  rapidjson::Reader reader;
  const rapidjson::ParseResult parsed = reader.Parse<kFlags>(stream, builder);
  // RapidJSON takes a NUL for the end of the text.
  const size_t end = parsed.IsError() ? parsed.Offset() : stream.Tell();
  if (!parsed.IsError() && end == text.size()) return builder.root();
  std::string problem = builder.problem();
  if (problem.empty() && parsed.IsError()) problem = rapidjson::GetParseError_En(parsed.Code());
  if (problem.empty()) problem = "there is a NUL byte";
  return Error("bad-json", "`" + std::string(name) + "` is not JSON that can be read, line " +
                               std::to_string(LineOf(text, end)) + ": " + problem)
      .Help("repair the file, or move it away if it is no part of the checkpoint");
}

Result<ObjectId> ReadJsonFile(const std::string& path, ObjectGraph& graph) {
  Result<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return std::move(file).error();
  if (file->size() > kMaxJsonBytes) {
    return Error("bad-json", "`" + path + "` is larger than " + std::to_string(kMaxJsonBytes) +
                                 " bytes, more than a description of a model takes")
        .Help("move it away if it is no part of the checkpoint");
  }
  Result<std::string> text = file->ReadText(0, file->size());
  if (!text.ok()) return std::move(text).error();
  return ParseJson(*text, path, graph);
}

}  // namespace rekey
