#include <map>
#include <unordered_map>

#include "cli/key_views.h"
#include "cli/report.h"
#include "grammar/printable.h"

namespace rekey::cli {
namespace {

struct Node {
  std::string name;  // the segment with its separator
  std::vector<uint32_t> children;
  int entry = -1;  // of the catalog, when a key ends here
  uint64_t tensors = 0, bytes = 0;
};

// All nodes, the root first; children in the order in which their keys come.
std::vector<Node> Grow(const Catalog& catalog, const std::vector<uint32_t>& chosen, size_t depth) {
  std::vector<Node> nodes(1);
  std::vector<std::unordered_map<std::string, uint32_t>> by_name(1);
  for (uint32_t index : chosen) {
    const Entry& entry = catalog.entries[index];
    const uint64_t bytes = DataBytes(entry);
    uint32_t at = 0;
    std::string_view rest = entry.key;
    for (size_t level = 1; level == 1 || (!rest.empty() && (depth == 0 || level <= depth));
         ++level) {
      const size_t cut = rest.find_first_of("./");
      const size_t length = cut == std::string_view::npos ? rest.size() : cut + 1;
      const std::string name(rest.substr(0, length));
      rest.remove_prefix(length);
      const auto [child, is_new] = by_name[at].emplace(name, static_cast<uint32_t>(nodes.size()));
      const uint32_t to = child->second;  // `child` dies when by_name grows
      if (is_new) {
        nodes.push_back({.name = name});
        nodes[at].children.push_back(to);
        by_name.emplace_back();
      }
      at = to;
      ++nodes[at].tensors;
      nodes[at].bytes += bytes;
    }
    if (rest.empty()) nodes[at].entry = static_cast<int>(index);
  }
  return nodes;
}

}  // namespace

std::string KeyTree(const Catalog& catalog, const std::vector<uint32_t>& chosen, int depth) {
  const std::vector<Node> nodes = Grow(catalog, chosen, static_cast<size_t>(depth > 0 ? depth : 0));
  Table table({false, false, true});
  struct Visit {
    uint32_t node;
    std::string before;  // the lines of the branches left of it
    bool last;
  };
  std::vector<Visit> stack;
  const auto push_children = [&](const Node& node, const std::string& before) {
    for (size_t i = node.children.size(); i-- > 0;) {
      stack.push_back({node.children[i], before, i + 1 == node.children.size()});
    }
  };
  push_children(nodes[0], "");
  while (!stack.empty()) {
    const Visit visit = std::move(stack.back());
    stack.pop_back();
    const Node& node = nodes[visit.node];
    std::string what = Plural(node.tensors, "tensor");
    if (node.entry >= 0 && node.children.empty() && node.tensors == 1) {
      const Entry& entry = catalog.entries[static_cast<size_t>(node.entry)];
      what = std::string(Name(entry.dtype)) + ToString(entry.shape);
    }
    table.Row({visit.before + (visit.last ? "└─ " : "├─ ") + Printable(node.name), what,
               Size(node.bytes)});
    push_children(node, visit.before + (visit.last ? "   " : "│  "));
  }
  return table.ToString();
}

}  // namespace rekey::cli
