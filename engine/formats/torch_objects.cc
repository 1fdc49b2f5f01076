#include "engine/formats/torch_objects.h"

#include <algorithm>

namespace rekey {
namespace {

using Kind = Object::Kind;
using Items = std::vector<ObjectId>;

constexpr std::string_view kDicts[] = {
    "collections.OrderedDict", "collections.defaultdict", "collections.Counter",
    "builtins.dict",           "__builtin__.dict",
};
constexpr std::string_view kSets[] = {
    "builtins.set",
    "builtins.frozenset",
    "__builtin__.set",
    "__builtin__.frozenset",
};

template <size_t N>
bool IsOneOf(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

const Items* Empty() {
  static const Items empty;
  return &empty;
}

// The container that a call's result was filled with; nullptr if it is none of that kind.
const Items* Filled(const ObjectGraph& graph, const Object& call, Kind kind) {
  if (call.items.size() < 3) return nullptr;
  const Object& filled = graph[call.items[2]];
  return filled.kind == kind ? &filled.items : nullptr;
}

}  // namespace

const Items* DictItems(const ObjectGraph& graph, ObjectId id) {
  const Object& object = graph[id];
  if (object.kind == Kind::kDict) return &object.items;
  if (object.kind != Kind::kCall) return nullptr;
  if (const Items* filled = Filled(graph, object, Kind::kDict)) return filled;
  return IsOneOf(ClassName(graph, id), kDicts) ? Empty() : nullptr;
}

const Items* ListItems(const ObjectGraph& graph, ObjectId id) {
  const Object& object = graph[id];
  if (object.kind == Kind::kList || object.kind == Kind::kTuple) return &object.items;
  return object.kind == Kind::kCall ? Filled(graph, object, Kind::kList) : nullptr;
}

const Items* SetItems(const ObjectGraph& graph, ObjectId id) {
  const Object& object = graph[id];
  if (object.kind == Kind::kSet) return &object.items;
  if (object.kind != Kind::kCall || !IsOneOf(ClassName(graph, id), kSets)) return nullptr;
  if (const Items* filled = Filled(graph, object, Kind::kSet)) return filled;
  const Items& arguments = graph[object.items[1]].items;
  return arguments.empty() ? Empty() : &graph[arguments[0]].items;
}

const Items* Attributes(const ObjectGraph& graph, ObjectId id) {
  const Object& object = graph[id];
  if (object.kind != Kind::kCall || object.state == kNoObject) return nullptr;
  const Object& state = graph[object.state];
  if (state.kind == Kind::kDict) return &state.items;
  const bool is_pair = state.kind == Kind::kTuple && state.items.size() == 2;
  if (!is_pair || graph[state.items[1]].kind != Kind::kDict) return nullptr;
  return &graph[state.items[1]].items;
}

ObjectId Attribute(const ObjectGraph& graph, ObjectId id, std::string_view name) {
  const Items* attributes = Attributes(graph, id);
  if (attributes == nullptr) return kNoObject;
  for (size_t i = attributes->size() / 2; i-- > 0;) {
    const Object& key = graph[(*attributes)[2 * i]];
    if (key.kind == Kind::kText && key.text == name) return (*attributes)[2 * i + 1];
  }
  return kNoObject;
}

std::optional<std::string> KeyText(const ObjectGraph& graph, ObjectId id) {
  const Object& key = graph[id];
  if (key.kind == Kind::kText) return key.text;
  if (key.kind == Kind::kInt) return std::to_string(key.integer);
  return std::nullopt;
}

std::string_view ClassName(const ObjectGraph& graph, ObjectId id) {
  const Object& object = graph[id];
  if (object.kind != Kind::kCall) return {};
  const Object* callee = &graph[object.items[0]];
  // Protocols 0 and 1: _reconstructor(class, object, None).
  const bool reconstructed =
      callee->kind == Kind::kGlobal &&
      (callee->text == "copyreg._reconstructor" || callee->text == "copy_reg._reconstructor");
  const Items& arguments = graph[object.items[1]].items;
  if (reconstructed && !arguments.empty()) callee = &graph[arguments[0]];
  if (callee->kind != Kind::kGlobal) return {};
  return callee->text;
}

bool IsModule(const ObjectGraph& graph, ObjectId id) {
  const ObjectId modules = Attribute(graph, id, "_modules");
  const ObjectId parameters = Attribute(graph, id, "_parameters");
  return modules != kNoObject && parameters != kNoObject && DictItems(graph, modules) != nullptr &&
         DictItems(graph, parameters) != nullptr;
}

ObjectId CompiledModule(const ObjectGraph& graph, ObjectId id) {
  const Object& object = graph[id];
  if (object.kind != Kind::kCall || object.state != kNoObject) return kNoObject;
  if (!ClassName(graph, id).ends_with(".OptimizedModule")) return kNoObject;
  const Items& arguments = graph[object.items[1]].items;
  return arguments.empty() ? kNoObject : arguments[0];
}

}  // namespace rekey
