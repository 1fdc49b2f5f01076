#include "engine/lints.h"

namespace rekey {

Diagnostics WithoutAllowed(Diagnostics diagnostics, const std::vector<std::string>& allow) {
  std::erase_if(diagnostics, [&](const Diagnostic& diagnostic) {
    if (std::find(allow.begin(), allow.end(), diagnostic.name) == allow.end()) return false;
    return diagnostic.severity != Severity::kError || IsLint(diagnostic.name);
  });
  return diagnostics;
}

}  // namespace rekey
