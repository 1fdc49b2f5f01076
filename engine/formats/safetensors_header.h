// The JSON of a safetensors header as entries: syntax only, nothing is proven against the file.
//
// One pass of RapidJSON's event parser without recursion, no tree in between: a header may have a
// million keys. Keys are copied into the catalog's text, so that the JSON can be freed.
//
//   Catalog catalog;
//   Status parsed = ParseSafetensorsHeader(json, "model.safetensors", catalog);
//   catalog.entries[0].key, catalog.storages[0].offset     // offset counts from the data's start
#ifndef REKEY_ENGINE_FORMATS_SAFETENSORS_HEADER_H_
#define REKEY_ENGINE_FORMATS_SAFETENSORS_HEADER_H_

#include <string>
#include <string_view>

#include "engine/catalog.h"
#include "engine/status.h"

namespace rekey {

// The way out of a header that cannot be true.
constexpr const char* kDamaged =
    "the file is damaged or made by hand: download it again, or ask who made it for another";

// Appends an entry and a storage per tensor (entry i lies in storage i) and the metadata, in the
// header's order. `json` is used up: strings are unescaped in place. `path` is for messages.
// Errors: not JSON, not UTF-8, a field that is missing, twice there or of another type, an unknown
// dtype, offsets that run backwards.
Status ParseSafetensorsHeader(std::string& json, std::string_view path, Catalog& catalog);

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_SAFETENSORS_HEADER_H_
