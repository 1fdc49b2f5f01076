// JSON text as an object tree: config.json, params.json and other files beside the weights.
//
// Objects become kDict nodes in the order written, arrays kList. Integers of any length are kept
// exactly (kBigInt when they pass 64 bits), NaN and Infinity are taken as Python writes them. It is
// not for large indexes of keys: safetensors headers and shard indexes have readers of their own
// that make no node per value.
//
//   ObjectGraph graph;
//   Result<ObjectId> root = ParseJson(R"({"dim": 4096})", "params.json", graph);
//   graph.Find(*root, "dim")
#ifndef REKEY_ENGINE_JSON_H_
#define REKEY_ENGINE_JSON_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/object.h"
#include "engine/status.h"

namespace rekey {

// Objects and arrays inside each other.
constexpr size_t kMaxJsonDepth = 256;

// A JSON file beside the weights may not be larger.
constexpr uint64_t kMaxJsonBytes = uint64_t{256} << 20;

// `name` is the file's name for messages. Errors, with the line: not JSON, not UTF-8, a key twice
// in one object, nested deeper than kMaxJsonDepth.
Result<ObjectId> ParseJson(std::string_view text, std::string_view name, ObjectGraph& graph);

// The same for a file.
Result<ObjectId> ReadJsonFile(const std::string& path, ObjectGraph& graph);

// True if the text is well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates.
// RapidJSON makes half a surrogate pair of the escape `\udc00`, so its texts are checked with this.
bool IsUtf8(std::string_view text);

// For messages about text that is not UTF-8: each byte beyond ASCII as `\xff`.
std::string EscapeBytes(std::string_view text);

}  // namespace rekey

#endif  // REKEY_ENGINE_JSON_H_
