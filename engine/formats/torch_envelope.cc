#include "engine/formats/torch_envelope.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/formats/torch_objects.h"
#include "engine/formats/torch_state.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

using Kind = Object::Kind;
using Items = std::vector<ObjectId>;

constexpr std::string_view kNames[] = {
    "state_dict", "model_state_dict", "model", "module",         "net",       "network",
    "params",     "weights",          "ema",   "ema_state_dict", "model_ema", "generator",
};

constexpr size_t kMaxListed = 8;
constexpr size_t kMaxLevels = 16;

struct Named {
  std::string path;
  ObjectId object = kNoObject;
};

std::string Quote(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string List(const std::vector<Named>& named) {
  std::string text;
  for (size_t i = 0; i < named.size() && i < kMaxListed; ++i) {
    text += (i == 0 ? "" : ", ") + Quote(named[i].path);
  }
  if (named.size() > kMaxListed) {
    text += " and " + std::to_string(named.size() - kMaxListed) + " more";
  }
  return text;
}

bool IsAnyModule(const ObjectGraph& graph, ObjectId id) {
  return IsModule(graph, id) || CompiledModule(graph, id) != kNoObject;
}

// Keys and values of the root: a dict's entries, or the attributes of an object of one's own.
const Items* RootEntries(const ObjectGraph& graph, ObjectId root) {
  const Items* dict = DictItems(graph, root);
  return dict != nullptr ? dict : Attributes(graph, root);
}

// An optimizer's state: dicts of tensors by parameter number, no state_dict of a model.
bool IsOptimizerState(const ObjectGraph& graph, ObjectId id) {
  const Items* dict = DictItems(graph, id);
  if (dict == nullptr || dict->size() > 16) return false;
  for (size_t i = 0; i < dict->size(); i += 2) {
    const Object& key = graph[(*dict)[i]];
    if (key.kind == Kind::kText && key.text == "param_groups") return true;
  }
  return false;
}

class Search {
 public:
  Search(const ObjectGraph& graph, ObjectId root, const TorchTensors& tensors,
         std::string_view file)
      : graph_(graph), root_(root), tensors_(tensors), file_(file) {}

  Result<Envelope> Find() const {
    std::vector<Named> found = NamedEntries();
    if (found.size() == 1) return Take(std::move(found[0]));
    if (found.empty()) {
      if (IsAnyModule(graph_, root_) || IsStateDict(graph_, root_, tensors_))
        return Take({"", root_});
      found = DictsOfTensors();
      if (found.size() == 1) return Take(std::move(found[0]));
    }
    if (found.empty()) return NoState();
    return Error("several-state-dicts", Quote(file_) + " holds " + std::to_string(found.size()) +
                                            " state_dicts: " + List(found))
        .Help("say which one is meant: `select " + found[0].path +
              "` in the rule file or `--select " + found[0].path + "`; `select all` takes all");
  }

  Result<Envelope> Select(const std::string& path) const {
    const ObjectId found = graph_.Find(root_, path);
    if (found == kNoObject) return NothingThere(path);
    if (IsAnyModule(graph_, found) || HoldsTensors(graph_, found, tensors_)) {
      const Object::Kind kind = graph_[found].kind;
      if (kind != Kind::kTensor && tensors_.others.count(found) == 0) return Take({path, found});
      return Error("select-tensor", "`select " + path + "`: that entry of " + Quote(file_) +
                                        " is one tensor, not a state_dict")
          .Help("leave out `select`; to take some keys only write `keep`");
    }
    return Error("select-no-tensors",
                 "`select " + path + "`: that entry of " + Quote(file_) + " holds no tensors")
        .Note(WhatThereIs());
  }

 private:
  Envelope Take(Named named) const {
    const bool flat =
        IsAnyModule(graph_, named.object) || IsStateDict(graph_, named.object, tensors_);
    return {.object = named.object, .path = std::move(named.path), .nested = !flat};
  }

  std::vector<Named> NamedEntries() const {
    std::vector<Named> found;
    if (IsAnyModule(graph_, root_)) return found;
    const Items* entries = RootEntries(graph_, root_);
    if (entries == nullptr) return found;
    for (size_t i = 0; i + 1 < entries->size(); i += 2) {
      const Object& key = graph_[(*entries)[i]];
      const ObjectId value = (*entries)[i + 1];
      if (key.kind != Kind::kText) continue;
      if (std::find(std::begin(kNames), std::end(kNames), key.text) == std::end(kNames)) continue;
      const Kind kind = graph_[value].kind;
      if (kind == Kind::kTensor || tensors_.others.count(value) > 0) continue;
      const bool is_twice = std::any_of(found.begin(), found.end(),
                                        [&](const Named& one) { return one.path == key.text; });
      if (!is_twice && HoldsTensors(graph_, value, tensors_)) found.push_back({key.text, value});
    }
    return found;
  }

  // Modules and dicts of tensors below the root, of the first level that has any.
  std::vector<Named> DictsOfTensors() const {
    std::unordered_set<ObjectId> seen = {root_};
    std::vector<Named> level = {{"", root_}};
    std::vector<Named> found;
    for (size_t depth = 0; depth < kMaxLevels && !level.empty() && found.empty(); ++depth) {
      std::vector<Named> next;
      for (const Named& parent : level) AddBelow(parent, seen, next);
      for (const Named& entry : next) {
        const bool fits =
            IsAnyModule(graph_, entry.object) || IsStateDict(graph_, entry.object, tensors_);
        if (fits) found.push_back(entry);
      }
      level = std::move(next);
    }
    return found;
  }

  // Each object once, by the first path that leads to it.
  void AddBelow(const Named& parent, std::unordered_set<ObjectId>& seen,
                std::vector<Named>& below) const {
    const std::string prefix = parent.path.empty() ? "" : parent.path + ".";
    if (prefix.size() > 4096 || IsOptimizerState(graph_, parent.object)) return;
    const auto add = [&](const std::string& name, ObjectId id) {
      const bool is_container = IsAnyModule(graph_, id) || DictItems(graph_, id) != nullptr ||
                                ListItems(graph_, id) != nullptr;
      if (is_container && seen.insert(id).second) below.push_back({prefix + name, id});
    };
    const bool is_root = parent.object == root_;
    const Items* entries = is_root ? RootEntries(graph_, root_) : DictItems(graph_, parent.object);
    if (entries != nullptr) {
      for (size_t i = 0; i + 1 < entries->size(); i += 2) {
        if (const auto key = KeyText(graph_, (*entries)[i])) add(*key, (*entries)[i + 1]);
      }
    } else if (const Items* list = ListItems(graph_, parent.object)) {
      for (size_t i = 0; i < list->size(); ++i) add(std::to_string(i), (*list)[i]);
    }
  }

  std::vector<std::string> RootKeys() const {
    std::vector<std::string> keys;
    const Items* entries = RootEntries(graph_, root_);
    for (size_t i = 0; entries != nullptr && i + 1 < entries->size(); i += 2) {
      if (auto key = KeyText(graph_, (*entries)[i])) keys.push_back(std::move(*key));
    }
    return keys;
  }

  std::string WhatThereIs() const {
    const std::vector<std::string> keys = RootKeys();
    if (keys.empty()) return "its root has no named entries";
    std::string text = "its root holds ";
    for (size_t i = 0; i < keys.size() && i < kMaxListed; ++i) {
      text += (i == 0 ? "" : ", ") + Quote(keys[i]);
    }
    if (keys.size() > kMaxListed)
      text += " and " + std::to_string(keys.size() - kMaxListed) + " more";
    return text;
  }

  Diagnostic NoState() const {
    if (graph_[root_].kind == Kind::kTensor || tensors_.others.count(root_) > 0) {
      return Error("no-state-dict", Quote(file_) + " holds one tensor that has no name")
          .Help("save it under a name: torch.save({\"name\": tensor}, …)");
    }
    Diagnostic error =
        Error("no-state-dict", Quote(file_) + " holds no state_dict").Note(WhatThereIs());
    const std::string_view name = ClassName(graph_, root_);
    if (!name.empty()) error.Note("its root is an object of class " + std::string(name));
    return error.Help("if tensors lie elsewhere in it, `select all` takes every tensor there is");
  }

  Diagnostic NothingThere(const std::string& path) const {
    if (NamedEntries().empty() &&
        (IsAnyModule(graph_, root_) || IsStateDict(graph_, root_, tensors_))) {
      return Error("no-envelope", "`select " + path + "`: " + Quote(file_) +
                                      " has no such entry; its root is the state_dict itself")
          .Help("leave out `select`; to take the keys below a prefix write `keep` or `strip`");
    }
    Diagnostic error =
        Error("select-not-found", "`select " + path + "`: " + Quote(file_) + " has no such entry")
            .Note(WhatThereIs());
    const std::vector<std::string> keys = RootKeys();
    const std::vector<std::string_view> views(keys.begin(), keys.end());
    const std::vector<std::string_view> near = Nearest(path, views, 1);
    if (!near.empty()) error.Help("write `select " + std::string(near[0]) + "`");
    return error;
  }

  const ObjectGraph& graph_;
  const ObjectId root_;
  const TorchTensors& tensors_;
  const std::string_view file_;
};

}  // namespace

Result<Envelope> FindEnvelope(const ObjectGraph& graph, ObjectId root, const TorchTensors& tensors,
                              const ReadOptions& options, std::string_view file) {
  if (options.select_all) return Envelope{.object = root, .nested = true, .whole_tree = true};
  const Search search(graph, root, tensors, file);
  return options.select ? search.Select(*options.select) : search.Find();
}

}  // namespace rekey
