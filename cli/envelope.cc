#include <charconv>

#include "cli/key_views.h"
#include "grammar/printable.h"

namespace rekey::cli {
namespace {

constexpr int kUsualDepth = 4;
constexpr size_t kChildren = 24;   // shown of a node
constexpr size_t kLines = 5000;    // in all
constexpr size_t kTextShown = 60;  // bytes of a text

std::string ShortText(const std::string& text) {
  if (text.size() <= kTextShown) return "\"" + Printable(text) + "\"";
  return "\"" + Printable(text.substr(0, ValidUtf8(text.substr(0, kTextShown)))) + "…\" (" +
         std::to_string(text.size()) + " bytes)";
}

std::string RealText(double real) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, real).ptr;
  return std::string(text, end);
}

std::string Items(const char* what, size_t count) {
  return std::string(what) + " of " + std::to_string(count);
}

// What a call names: "collections.OrderedDict".
std::string Callee(const ObjectGraph& objects, const Object& call) {
  if (call.items.empty()) return "?";
  const Object& callee = objects[call.items[0]];
  return callee.kind == Object::Kind::kGlobal ? Printable(callee.text) : "?";
}

// A call as what it makes, where the reader knows that, else as a call that was not made.
std::string DescribeCall(const ObjectGraph& objects, ObjectId id) {
  const Object& call = objects[id];
  const std::string callee = Callee(objects, call);
  if (call.is_new) return callee + " object";
  if (const ObjectId entries = objects.Entries(id); entries != kNoObject) {
    return Items(callee.c_str(), objects[entries].items.size() / 2);
  }
  return callee + "(…), not called";
}

std::string Describe(const ObjectGraph& objects, ObjectId id) {
  using Kind = Object::Kind;
  const Object& object = objects[id];
  switch (object.kind) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return object.integer != 0 ? "True" : "False";
    case Kind::kInt:
      return std::to_string(object.integer);
    case Kind::kBigInt:
      return Printable(object.text);
    case Kind::kFloat:
      return RealText(object.real);
    case Kind::kText:
      return ShortText(object.text);
    case Kind::kBytes:
      return std::to_string(object.text.size()) + " bytes";
    case Kind::kList:
      return Items("list", object.items.size());
    case Kind::kTuple:
      return Items("tuple", object.items.size());
    case Kind::kSet:
      return Items("set", object.items.size());
    case Kind::kDict:
      return Items("dict", object.items.size() / 2);
    case Kind::kGlobal:
      return Printable(object.text);
    case Kind::kCall:
      return DescribeCall(objects, id);
    case Kind::kPersistent:
      return "storage";
    case Kind::kTensor:
      return "tensor";
  }
  return "";
}

struct Child {
  std::string name;
  ObjectId id;
};

// The entries of an object under their names: a dict's values, a list's items, an instance's
// attributes, a call's arguments.
std::vector<Child> Children(const ObjectGraph& objects, ObjectId id, size_t* left_out) {
  std::vector<Child> children;
  const Object* object = &objects[id];
  *left_out = 0;
  if (const ObjectId entries = objects.Entries(id); entries != kNoObject) {
    object = &objects[entries];
  } else if (object->kind == Object::Kind::kCall && object->items.size() > 1) {
    object = &objects[object->items[1]];  // the arguments of a call that was not made
  }
  if (object->kind == Object::Kind::kDict) {
    for (size_t i = 0; i + 1 < object->items.size(); i += 2) {
      if (children.size() == kChildren) {
        *left_out = (object->items.size() - i) / 2;
        break;
      }
      const Object& key = objects[object->items[i]];
      children.push_back({key.kind == Object::Kind::kText ? Printable(key.text)
                                                          : Describe(objects, object->items[i]),
                          object->items[i + 1]});
    }
  } else if (object->kind == Object::Kind::kList || object->kind == Object::Kind::kTuple) {
    for (size_t i = 0; i < object->items.size(); ++i) {
      if (children.size() == kChildren) {
        *left_out = object->items.size() - i;
        break;
      }
      children.push_back({std::to_string(i), object->items[i]});
    }
  }
  return children;
}

std::string ObjectTree(const ObjectGraph& objects, ObjectId root, int depth) {
  struct Visit {
    std::string name;
    ObjectId id;  // kNoObject: `name` is a line by itself
    int level;
  };
  std::string text;
  size_t lines = 0;
  std::vector<Visit> stack = {{"", root, 0}};
  while (!stack.empty()) {
    const Visit visit = std::move(stack.back());
    stack.pop_back();
    if (++lines > kLines) return text + "…\n";
    text += std::string(static_cast<size_t>(visit.level) * 2, ' ') + visit.name;
    if (visit.id == kNoObject) {
      text += "\n";
      continue;
    }
    text += (visit.name.empty() ? "" : ": ") + Describe(objects, visit.id) + "\n";
    if (visit.level >= depth) continue;
    size_t left_out = 0;
    const std::vector<Child> children = Children(objects, visit.id, &left_out);
    if (left_out > 0) {
      stack.push_back({"… " + std::to_string(left_out) + " more", kNoObject, visit.level + 1});
    }
    for (size_t i = children.size(); i-- > 0;) {
      stack.push_back({children[i].name, children[i].id, visit.level + 1});
    }
  }
  return text;
}

}  // namespace

std::string EnvelopeText(const Catalog& catalog, int depth) {
  std::string text;
  for (const MetaRoot& root : catalog.meta) {
    if (root.object == kNoObject) continue;
    if (catalog.files.size() > 1 && root.file < catalog.files.size()) {
      text += Printable(catalog.files[root.file].name) + "\n";
    }
    if (!root.prefix.empty()) text += Printable(root.prefix) + ": ";
    text += ObjectTree(*catalog.objects, root.object, depth > 0 ? depth : kUsualDepth);
  }
  if (text.empty()) text = "no objects around the tensors\n";
  if (!catalog.callables.empty()) {
    text += "named by the pickle, and not called:\n";
    for (const std::string& callable : catalog.callables) text += "  " + Printable(callable) + "\n";
  }
  return text;
}

}  // namespace rekey::cli
