#include "engine/formats/torchscript_code.h"

#include <algorithm>

namespace rekey {
namespace {

constexpr std::string_view kClass = "class ";
constexpr std::string_view kParameters = "  __parameters__ = [";
constexpr std::string_view kBuffers = "  __buffers__ = [";

// The texts of `"a", "b", ]`.
std::vector<std::string> Names(std::string_view list) {
  std::vector<std::string> names;
  for (;;) {
    const size_t begin = list.find('"');
    if (begin == std::string_view::npos) return names;
    const size_t end = list.find('"', begin + 1);
    if (end == std::string_view::npos) return names;
    names.emplace_back(list.substr(begin + 1, end - begin - 1));
    list.remove_prefix(end + 1);
  }
}

}  // namespace

std::string ScriptCodePath(std::string_view class_name) {
  const size_t dot = class_name.rfind('.');
  std::string path(class_name.substr(0, dot == std::string_view::npos ? 0 : dot));
  std::replace(path.begin(), path.end(), '.', '/');
  return "code/" + path + ".py";
}

void AddScriptClasses(std::string_view source, std::string_view module, ScriptClasses& classes) {
  ScriptClass* current = nullptr;
  while (!source.empty()) {
    const size_t end = std::min(source.find('\n'), source.size());
    const std::string_view line = source.substr(0, end);
    source.remove_prefix(std::min(end + 1, source.size()));
    if (line.starts_with(kClass)) {
      const std::string_view name = line.substr(kClass.size());
      const size_t name_end = std::min(name.find_first_of("(:"), name.size());
      current = &classes[std::string(module) + "." + std::string(name.substr(0, name_end))];
      current->is_module = name.substr(name_end).starts_with("(Module)");
    } else if (current != nullptr && line.starts_with(kParameters)) {
      current->parameters = Names(line.substr(kParameters.size()));
    } else if (current != nullptr && line.starts_with(kBuffers)) {
      current->buffers = Names(line.substr(kBuffers.size()));
    }
  }
}

}  // namespace rekey
