#include "engine/module_paths.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace rekey {
namespace {

// The path of the module that holds a key or a module: "a.b" of "a.b.c", "" of "a".
std::string_view Parent(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

std::string_view Last(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

// Where the keys below a module went.
struct Vote {
  bool has_keys = false;   // the source has keys below it
  bool is_direct = false;  // `target` comes from keys directly in the module, which decide
  bool is_split = false;   // keys went to different modules
  std::optional<std::string_view> target;

  void Cast(std::string_view to, bool direct) {
    if (direct && !is_direct) {
      *this = {has_keys, true, false, to};
    } else if (direct == is_direct) {
      if (target && *target != to) is_split = true;
      target = to;
    }
  }
};

class Paths {
 public:
  explicit Paths(const Catalog& catalog) {
    for (const ModuleMetadata& module : catalog.module_metadata) votes_[module.module];
    for (const Entry& entry : catalog.entries) MarkAncestors(entry.key);
  }

  // Reads the modules off one renamed key, from its own module outwards as long as the segments
  // are the same.
  void Learn(std::string_view source, std::string_view target) {
    bool direct = true;
    while (true) {
      if (!direct && Last(source) != Last(target)) return;
      const bool at_root = source.find('.') == std::string_view::npos;
      const bool target_at_root = target.find('.') == std::string_view::npos;
      source = Parent(source);
      target = Parent(target);
      const auto vote = votes_.find(source);
      if (vote != votes_.end()) vote->second.Cast(target, direct);
      if (at_root || target_at_root) return;
      direct = false;
    }
  }

  std::optional<std::string> Target(std::string_view module) const {
    std::string below;
    while (true) {
      const auto vote = votes_.find(module);
      if (vote != votes_.end() && vote->second.has_keys) {
        if (!vote->second.target || vote->second.is_split) return std::nullopt;
        std::string path(*vote->second.target);
        if (!path.empty() && !below.empty()) path += '.';
        return path + below;
      }
      if (module.empty()) return std::nullopt;
      below = std::string(Last(module)) + (below.empty() ? "" : "." + below);
      module = Parent(module);
    }
  }

 private:
  void MarkAncestors(std::string_view key) {
    while (true) {
      const bool at_root = key.find('.') == std::string_view::npos;
      key = Parent(key);
      const auto vote = votes_.find(key);
      if (vote != votes_.end()) {
        if (vote->second.has_keys) return;
        vote->second.has_keys = true;
      }
      if (at_root) return;
    }
  }

  std::unordered_map<std::string_view, Vote> votes_;  // of the modules that have metadata
};

}  // namespace

std::vector<ModuleMetadata> FollowRenames(
    const Catalog& catalog,
    const std::vector<std::pair<std::string_view, std::string_view>>& renames) {
  std::vector<ModuleMetadata> followed;
  if (catalog.module_metadata.empty()) return followed;
  Paths paths(catalog);
  for (const auto& [source, target] : renames) paths.Learn(source, target);
  std::unordered_set<std::string> taken;
  for (const ModuleMetadata& module : catalog.module_metadata) {
    std::optional<std::string> path = paths.Target(module.module);
    if (path && taken.insert(*path).second) followed.push_back({std::move(*path), module.value});
  }
  return followed;
}

}  // namespace rekey
