#include "engine/object.h"

#include <charconv>
#include <system_error>
#include <utility>

namespace rekey {
namespace {

// The decimal number that is all of the text.
std::optional<int64_t> ParseIndex(std::string_view text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

}  // namespace

ObjectId ObjectGraph::Add(Object object) {
  nodes_.push_back(std::move(object));
  return static_cast<ObjectId>(nodes_.size() - 1);
}

ObjectId ObjectGraph::Entries(ObjectId id) const {
  const Object& object = nodes_[id];
  if (object.kind == Object::Kind::kDict) return id;
  if (object.kind == Object::Kind::kCall && object.items.size() > 2) {
    const ObjectId filled = object.items[2];
    if (nodes_[filled].kind == Object::Kind::kDict) return filled;
  }
  if (object.state == kNoObject) return kNoObject;
  const Object& state = nodes_[object.state];
  if (state.kind == Object::Kind::kDict) return object.state;
  // A class with __slots__: (None, {slot: value}).
  if (state.kind == Object::Kind::kTuple && state.items.size() == 2 &&
      nodes_[state.items[1]].kind == Object::Kind::kDict) {
    return state.items[1];
  }
  return kNoObject;
}

ObjectId ObjectGraph::Child(ObjectId id, std::string_view key) const {
  const Object& object = nodes_[id];
  if (object.kind == Object::Kind::kList || object.kind == Object::Kind::kTuple) {
    const std::optional<int64_t> index = ParseIndex(key);
    const bool inside = index && *index >= 0 && static_cast<size_t>(*index) < object.items.size();
    return inside ? object.items[static_cast<size_t>(*index)] : kNoObject;
  }
  const ObjectId entries = Entries(id);
  if (entries == kNoObject) return kNoObject;
  const std::optional<int64_t> number = ParseIndex(key);
  const std::vector<ObjectId>& items = nodes_[entries].items;
  for (size_t i = items.size() / 2; i-- > 0;) {
    const Object& name = nodes_[items[2 * i]];
    const bool is_text = name.kind == Object::Kind::kText || name.kind == Object::Kind::kBytes;
    if ((is_text && name.text == key) ||
        (name.kind == Object::Kind::kInt && number == name.integer)) {
      return items[2 * i + 1];
    }
  }
  return kNoObject;
}

ObjectId ObjectGraph::Find(ObjectId root, std::string_view dotted_path) const {
  const ObjectId whole = Child(root, dotted_path);
  if (whole != kNoObject) return whole;
  for (size_t dot = dotted_path.rfind('.'); dot != std::string_view::npos && dot > 0;
       dot = dotted_path.rfind('.', dot - 1)) {
    const ObjectId child = Child(root, dotted_path.substr(0, dot));
    if (child == kNoObject) continue;
    const ObjectId found = Find(child, dotted_path.substr(dot + 1));
    if (found != kNoObject) return found;
  }
  return kNoObject;
}

std::optional<Scalar> ObjectGraph::ToScalar(ObjectId id) const {
  const Object& object = nodes_[id];
  switch (object.kind) {
    case Object::Kind::kBool:
      return Scalar(object.integer != 0);
    case Object::Kind::kInt:
      return Scalar(object.integer);
    case Object::Kind::kFloat:
      return Scalar(object.real);
    case Object::Kind::kText:
      return Scalar(object.text);
    default:
      return std::nullopt;
  }
}

}  // namespace rekey
