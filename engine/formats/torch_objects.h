// What the objects of a torch pickle are: dicts under their many names, instances, modules.
//
// Views over an ObjectGraph; nothing here changes it. An object of class nn.Module is told by its
// attributes (`_modules`, `_parameters`), never by its class, which may be importable nowhere.
//
//   DictItems(graph, id)        // of {…}, OrderedDict(…), defaultdict(…): key, value, key, value …
//   IsModule(graph, id)         // true for what torch.save(model) wrote
#ifndef REKEY_ENGINE_FORMATS_TORCH_OBJECTS_H_
#define REKEY_ENGINE_FORMATS_TORCH_OBJECTS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/object.h"

namespace rekey {

// Keys and values in turn; nullptr if the object is no dict. Attributes of an instance do not
// count.
const std::vector<ObjectId>* DictItems(const ObjectGraph& graph, ObjectId id);

// Items of a list or tuple, or of a class derived from list; nullptr for others and for torch.Size.
const std::vector<ObjectId>* ListItems(const ObjectGraph& graph, ObjectId id);

// Items of a set in any of its pickled forms; nullptr for others.
const std::vector<ObjectId>* SetItems(const ObjectGraph& graph, ObjectId id);

// Names and values of an instance's attributes in turn; nullptr if it has none.
const std::vector<ObjectId>* Attributes(const ObjectGraph& graph, ObjectId id);

// An instance's attribute; kNoObject if there is none.
ObjectId Attribute(const ObjectGraph& graph, ObjectId id, std::string_view name);

// A key as text: a text as it is, an integer as its digits; nothing for other objects.
std::optional<std::string> KeyText(const ObjectGraph& graph, ObjectId id);

// "torch.nn.modules.linear.Linear"; empty if the object is no call or instance of a named class.
std::string_view ClassName(const ObjectGraph& graph, ObjectId id);

// An instance with dicts `_modules` and `_parameters`.
bool IsModule(const ObjectGraph& graph, ObjectId id);

// The module that torch.compile wrapped: argument 0 of OptimizedModule(module, context); kNoObject
// if the object is no such call.
ObjectId CompiledModule(const ObjectGraph& graph, ObjectId id);

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_TORCH_OBJECTS_H_
