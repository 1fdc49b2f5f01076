#include "cli/key_views.h"
#include "cli/report.h"
#include "grammar/printable.h"

namespace rekey::cli {

std::string KeyTable(const Catalog& catalog, const std::vector<uint32_t>& chosen) {
  const std::vector<uint32_t> alias = Aliases(catalog);
  Table table({false, false, false, true, false});
  for (uint32_t i : chosen) {
    const Entry& entry = catalog.entries[i];
    std::string note;
    if (alias[i] != i) note = "same as " + Printable(catalog.entries[alias[i]].key);
    if (entry.no_bytes) note = "no bytes in the file";
    table.Row({Printable(entry.key), std::string(Name(entry.dtype)), ToString(entry.shape),
               Size(DataBytes(entry)), note});
  }
  return table.ToString();
}

}  // namespace rekey::cli
