// The ways in which `keys` shows a catalog: a table, a tree of segments, families of keys, and the
// object tree around the state_dict. Each gives text for a terminal, keys escaped.
//
//   std::cout << FamilyTable(catalog, {0, 1, 2});
//   // layers.{0..2}.weight  f32  [64, 64]  x3  49.2 kB
#ifndef REKEY_CLI_KEY_VIEWS_H_
#define REKEY_CLI_KEY_VIEWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/catalog.h"

namespace rekey::cli {

// `chosen`: the entries to show, in order.

// Key, dtype, shape, bytes; a tied key names the one that it is tied to.
std::string KeyTable(const Catalog& catalog, const std::vector<uint32_t>& chosen);

// Segments as branches with the tensors and bytes below them; `depth` levels, 0 for all.
std::string KeyTree(const Catalog& catalog, const std::vector<uint32_t>& chosen, int depth);

// Keys that differ only in numbers that stand alone in their segment (or behind `_`, `-` or `:`),
// and agree in dtype and shape, are one line.
std::string FamilyTable(const Catalog& catalog, const std::vector<uint32_t>& chosen);

// The objects of a pickle with types and scalars, and every callable that it named. `depth` levels,
// 0 for a usual number. Long lists are cut, sharing and cycles are bounded by depth.
std::string EnvelopeText(const Catalog& catalog, int depth);

}  // namespace rekey::cli

#endif  // REKEY_CLI_KEY_VIEWS_H_
