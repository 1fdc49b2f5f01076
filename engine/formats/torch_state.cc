#include "engine/formats/torch_state.h"

#include <optional>
#include <unordered_set>
#include <utility>

#include "engine/formats/torch_objects.h"
#include "engine/json.h"

namespace rekey {
namespace {

using Kind = Object::Kind;
using Items = std::vector<ObjectId>;

constexpr size_t kMaxDepth = 512;
constexpr std::string_view kCheckpointWrapper =
    "torch.distributed.algorithms._checkpoint.checkpoint_wrapper.";
constexpr std::string_view kWrappedByCheckpoint = "_checkpoint_wrapped_module";

bool IsTensor(const ObjectGraph& graph, ObjectId id, const TorchTensors& tensors) {
  return graph[id].kind == Kind::kTensor || tensors.others.count(id) > 0;
}

std::string Quote(std::string_view key) { return "`" + std::string(key) + "`"; }

class Walker {
 public:
  Walker(const ObjectGraph& graph, const TorchTensors& tensors, const WalkOptions& options,
         std::string_view file, TextArena& text)
      : graph_(graph), tensors_(tensors), options_(options), file_(file), text_(text) {
    // Far above what sharing takes in honest files, where each key is made of nodes of its own.
    budget_ = (uint64_t{1} << 20) + 1024 * uint64_t{graph.size()};
  }

  Result<TorchState> Run(ObjectId root) {
    ReadMetadata(root);
    Enter(root, 0);
    while (!frames_.empty() && !fault_) {
      Frame& frame = frames_.back();
      if (frame.next == frame.children.size()) {
        frames_.pop_back();
      } else {
        prefix_.resize(frame.prefix);
        const Child child = std::move(frame.children[frame.next++]);
        Visit(child);
      }
    }
    if (fault_) return std::move(*fault_);
    return std::move(state_);
  }

 private:
  enum class Role : uint8_t {
    kValue,   // of a dict or list
    kTensor,  // a parameter or buffer
    kModule,  // a child of a module
  };
  struct Child {
    std::string name;
    ObjectId id = kNoObject;
    Role role = Role::kValue;
    bool unnamed = false;  // its keys carry no name for it
  };
  struct Frame {
    ObjectId object = kNoObject;
    std::vector<Child> children;
    size_t next = 0;
    size_t prefix = 0;  // characters of prefix_
  };

  void Fail(Diagnostic error) {
    if (!fault_) fault_ = std::move(error);
  }

  void Charge(uint64_t cost) {
    if (cost <= budget_) {
      budget_ -= cost;
      return;
    }
    budget_ = 0;
    Fail(Error("endless-sharing", Quote(file_) + ": its objects share parts so often that listing "
                                                 "their tensors would not end")
             .Help("no honest checkpoint does that: do not trust the file"));
  }

  // --- Children of one object.

  // Modules, and instances of TorchScript modules.
  bool IsModuleLike(ObjectId id) const {
    return IsModule(graph_, id) || CompiledModule(graph_, id) != kNoObject || IsScript(id);
  }
  const ScriptClass* ScriptClassOf(ObjectId id) const {
    const auto it = options_.script->find(std::string(ClassName(graph_, id)));
    return it == options_.script->end() ? nullptr : &it->second;
  }
  bool IsScript(ObjectId id) const {
    if (options_.script == nullptr || !ClassName(graph_, id).starts_with("__torch__."))
      return false;
    if (Attributes(graph_, id) == nullptr) return false;
    const ScriptClass* script_class = ScriptClassOf(id);
    return script_class == nullptr || script_class->is_module;
  }

  std::vector<Child> Children(ObjectId id) {
    if (IsModule(graph_, id)) return ModuleChildren(id);
    if (IsScript(id)) return ScriptChildren(id);
    const ObjectId compiled = CompiledModule(graph_, id);
    if (compiled != kNoObject) return {{"_orig_mod", compiled, Role::kModule}};
    std::vector<Child> children;
    if (const Items* dict = DictItems(graph_, id)) {
      AddPairs(*dict, Role::kValue, children);
    } else if (const Items* list = ListItems(graph_, id)) {
      for (size_t i = 0; i < list->size(); ++i) {
        children.push_back({std::to_string(i), (*list)[i], Role::kValue});
      }
    } else if (const Items* attributes = options_.whole_tree ? Attributes(graph_, id) : nullptr) {
      AddPairs(*attributes, Role::kValue, children);
    }
    return children;
  }

  // A module's own dict of that name; nothing if it has none.
  void AddAttributePairs(ObjectId id, std::string_view name, Role role,
                         const std::unordered_set<std::string_view>& left_out,
                         std::vector<Child>& children) {
    const ObjectId dict = Attribute(graph_, id, name);
    const Items* pairs = dict == kNoObject ? nullptr : DictItems(graph_, dict);
    if (pairs == nullptr) return;
    AddPairs(*pairs, role, children, &left_out);
  }

  void AddPairs(const Items& pairs, Role role, std::vector<Child>& children,
                const std::unordered_set<std::string_view>* left_out = nullptr) {
    Charge(32 * uint64_t{pairs.size()});
    if (fault_) return;
    for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
      std::optional<std::string> key = KeyText(graph_, pairs[i]);
      const bool absent = role != Role::kValue && graph_[pairs[i + 1]].kind == Kind::kNone;
      if (absent || (key && left_out != nullptr && left_out->count(*key) > 0)) continue;
      if (key) {
        children.push_back({std::move(*key), pairs[i + 1], role});
      } else {
        AddNameless(pairs[i], pairs[i + 1]);
      }
    }
  }

  // An entry whose key is no text: a tuple, bytes, an object.
  void AddNameless(ObjectId key, ObjectId value) {
    if (options_.whole_tree && !IsTensor(graph_, value, tensors_)) return;
    const bool is_bytes = graph_[key].kind == Kind::kBytes;
    if (is_bytes && IsTensor(graph_, value, tensors_)) {
      Fail(Error("key-not-utf8", "a key in " + Quote(file_) + " is not UTF-8: `" + prefix_ +
                                     EscapeBytes(graph_[key].text) + "`"));
      return;
    }
    state_.not_tensors.push_back("an entry of " + (prefix_.empty() ? "the root" : Quote(prefix_)) +
                                 " whose key is no text");
  }

  std::unordered_set<std::string_view> NonPersistent(ObjectId id) {
    std::unordered_set<std::string_view> names;
    const ObjectId set = Attribute(graph_, id, "_non_persistent_buffers_set");
    const Items* items = set == kNoObject ? nullptr : SetItems(graph_, set);
    if (items == nullptr) return names;
    Charge(32 * uint64_t{items->size()});
    if (fault_) return names;
    for (const ObjectId item : *items) {
      if (graph_[item].kind == Kind::kText) names.insert(graph_[item].text);
    }
    return names;
  }

  std::vector<Child> ModuleChildren(ObjectId id) {
    std::vector<Child> children;
    AddAttributePairs(id, "_parameters", Role::kTensor, {}, children);
    AddAttributePairs(id, "_buffers", Role::kTensor, NonPersistent(id), children);
    const size_t own = children.size();
    AddAttributePairs(id, "_modules", Role::kModule, {}, children);
    // Activation checkpointing takes its own name out of the keys, in a hook of state_dict().
    if (ClassName(graph_, id).starts_with(kCheckpointWrapper)) {
      for (size_t i = own; i < children.size(); ++i) {
        children[i].unnamed = children[i].name == kWrappedByCheckpoint;
      }
    }
    return children;
  }

  std::vector<Child> ScriptChildren(ObjectId id) {
    std::vector<Child> all;
    AddPairs(*Attributes(graph_, id), Role::kTensor, all);
    std::vector<Child> children;
    const auto take = [&](auto&& wanted, Role role) {
      for (Child& child : all) {
        if (child.id == kNoObject || !wanted(child)) continue;
        children.push_back({std::move(child.name), child.id, role});
        child.id = kNoObject;
      }
    };
    const auto listed = [&](const std::vector<std::string>& names) {
      return [set = std::unordered_set<std::string_view>(names.begin(), names.end())](
                 const Child& child) { return set.count(child.name) > 0; };
    };
    if (const ScriptClass* script_class = ScriptClassOf(id)) {
      Charge(32 * uint64_t{script_class->parameters.size() + script_class->buffers.size()});
      take(listed(script_class->parameters), Role::kTensor);
      take(listed(script_class->buffers), Role::kTensor);
    } else {  // the code is gone: every tensor may be meant
      take([&](const Child& child) { return IsTensor(graph_, child.id, tensors_); }, Role::kTensor);
    }
    take([&](const Child& child) { return IsScript(child.id); }, Role::kModule);
    return children;
  }

  // --- The walk.

  bool IsOnPath(ObjectId id) const {
    for (const Frame& frame : frames_) {
      if (frame.object == id) return true;
    }
    return false;
  }

  // Goes into an object whose keys begin with the first `prefix` characters of prefix_.
  void Enter(ObjectId id, size_t prefix) {
    if (IsOnPath(id)) return;
    if (frames_.size() >= kMaxDepth) {
      return Fail(Error("nested-too-deep", Quote(file_) + ": its objects are nested deeper than " +
                                               std::to_string(kMaxDepth)));
    }
    std::vector<Child> children = Children(id);
    frames_.push_back({.object = id, .children = std::move(children), .prefix = prefix});
  }

  void Visit(const Child& child) {
    const size_t base = prefix_.size();
    if (!child.unnamed) prefix_ += child.name;
    Charge(32 + prefix_.size() + frames_.size());
    if (fault_) return;
    if (graph_[child.id].kind == Kind::kTensor) return Add(child.id);
    if (const auto it = tensors_.others.find(child.id); it != tensors_.others.end()) {
      state_.other_tensors.push_back(Quote(prefix_) + " (" + it->second + ")");
      return;
    }
    if (!MayEnter(child)) return LeaveOut(child);
    if (!child.unnamed) prefix_ += '.';
    Enter(child.id, child.unnamed ? base : prefix_.size());
  }

  bool MayEnter(const Child& child) const {
    switch (child.role) {
      case Role::kTensor:
        return false;
      case Role::kModule:
        return IsModuleLike(child.id);
      case Role::kValue:
        break;
    }
    if (options_.whole_tree) return true;
    if (!options_.nested) return false;
    return IsModuleLike(child.id) || DictItems(graph_, child.id) || ListItems(graph_, child.id);
  }

  void LeaveOut(const Child& child) {
    if (child.role == Role::kModule) {
      const std::string_view name = ClassName(graph_, child.id);
      state_.hidden.push_back(Quote(prefix_) +
                              (name.empty() ? "" : " (" + std::string(name) + ")"));
    } else if (HoldsTensorsCharged(child.id)) {
      state_.hidden.push_back(Quote(prefix_));
    } else {
      state_.not_tensors.push_back(Quote(prefix_));
    }
  }

  bool HoldsTensorsCharged(ObjectId id);

  void Add(ObjectId id) {
    if (!IsUtf8(prefix_)) {
      return Fail(Error("key-not-utf8", "a key in " + Quote(file_) + " is not UTF-8: `" +
                                            EscapeBytes(prefix_) + "`"));
    }
    state_.items.push_back({text_.Add(prefix_), static_cast<uint32_t>(graph_[id].integer)});
  }

  // OrderedDict's attribute `_metadata`: {module path: {'version': 2}}.
  void ReadMetadata(ObjectId root) {
    if (DictItems(graph_, root) == nullptr) return;
    const ObjectId metadata = Attribute(graph_, root, "_metadata");
    const Items* pairs = metadata == kNoObject ? nullptr : DictItems(graph_, metadata);
    if (pairs == nullptr) return;
    for (size_t i = 0; i + 1 < pairs->size(); i += 2) {
      const Object& key = graph_[(*pairs)[i]];
      if (key.kind != Kind::kText) continue;
      state_.module_metadata.push_back({.module = key.text, .value = (*pairs)[i + 1]});
    }
  }

  const ObjectGraph& graph_;
  const TorchTensors& tensors_;
  const WalkOptions& options_;
  const std::string_view file_;
  TextArena& text_;
  TorchState state_;
  std::vector<Frame> frames_;
  std::string prefix_;
  uint64_t budget_ = 0;
  std::optional<Diagnostic> fault_;
};

// Objects to look into for tensors, below one object.
void AddParts(const ObjectGraph& graph, ObjectId id, std::vector<ObjectId>& parts) {
  if (const Items* dict = DictItems(graph, id)) {
    for (size_t i = 1; i < dict->size(); i += 2) parts.push_back((*dict)[i]);
  } else if (const Items* list = ListItems(graph, id)) {
    parts.insert(parts.end(), list->begin(), list->end());
  } else if (IsModule(graph, id)) {
    for (std::string_view name : {"_parameters", "_buffers", "_modules"}) {
      const ObjectId part = Attribute(graph, id, name);
      if (part != kNoObject) parts.push_back(part);
    }
  } else if (const ObjectId module = CompiledModule(graph, id); module != kNoObject) {
    parts.push_back(module);
  }
}

// The same as HoldsTensors; adds the number of objects looked at to `looked`.
bool FindTensor(const ObjectGraph& graph, ObjectId root, const TorchTensors& tensors,
                uint64_t& looked) {
  std::unordered_set<ObjectId> seen;
  std::vector<ObjectId> to_do = {root};
  while (!to_do.empty()) {
    const ObjectId id = to_do.back();
    to_do.pop_back();
    ++looked;
    if (IsTensor(graph, id, tensors)) return true;
    if (seen.insert(id).second) AddParts(graph, id, to_do);
  }
  return false;
}

bool Walker::HoldsTensorsCharged(ObjectId id) {
  uint64_t looked = 0;
  const bool holds = FindTensor(graph_, id, tensors_, looked);
  Charge(32 * looked);
  return holds;
}

}  // namespace

Result<TorchState> WalkTorchState(const ObjectGraph& graph, ObjectId root,
                                  const TorchTensors& tensors, const WalkOptions& options,
                                  std::string_view file, TextArena& text) {
  return Walker(graph, tensors, options, file, text).Run(root);
}

bool HoldsTensors(const ObjectGraph& graph, ObjectId root, const TorchTensors& tensors) {
  uint64_t looked = 0;
  return FindTensor(graph, root, tensors, looked);
}

bool IsStateDict(const ObjectGraph& graph, ObjectId id, const TorchTensors& tensors) {
  const Items* dict = DictItems(graph, id);
  if (dict == nullptr) return false;
  for (size_t i = 1; i < dict->size(); i += 2) {
    if (IsTensor(graph, (*dict)[i], tensors)) return true;
  }
  return false;
}

}  // namespace rekey
