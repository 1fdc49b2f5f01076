#include "cli/params_file.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "cli/report.h"
#include "engine/value.h"

namespace rekey::cli {
namespace {

std::optional<Value> ValueOf(const toml::node& node) {
  if (const auto* integer = node.as_integer()) return Value(integer->get());
  if (const auto* real = node.as_floating_point()) return Value(real->get());
  if (const auto* text = node.as_string()) return Value(text->get());
  if (const auto* truth = node.as_boolean()) return Value(truth->get());
  if (const auto* array = node.as_array()) {
    ValueList list;
    for (const toml::node& item : *array) {
      std::optional<Value> value = ValueOf(item);
      if (!value) return std::nullopt;
      list.push_back(std::move(*value));
    }
    return Value(std::move(list));
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> ReadParamsFile(const std::string& path) {
  toml::parse_result parsed = toml::parse_file(path);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return Error("bad-params-file", path + ":" + std::to_string(error.source().begin.line) + ":" +
                                        std::to_string(error.source().begin.column) + ": " +
                                        std::string(error.description()))
        .Help("a params file is TOML with a line for each param: `layers = 24`");
  }
  // toml++ sorts its tables; the order does not matter, as a name stands once.
  std::vector<std::pair<std::string, std::string>> params;
  for (const auto& [key, node] : parsed.table()) {
    std::optional<Value> value = ValueOf(node);
    if (!value) {
      return Error("bad-params-file", path + ": `" + std::string(key.str()) +
                                          "` is neither a number, a text, a truth nor a list")
          .Help("a params file has a line for each param: `layers = 24`");
    }
    params.emplace_back(std::string(key.str()), ToString(*value));
  }
  return params;
}

}  // namespace rekey::cli
